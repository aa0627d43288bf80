// Opens a package: a descriptor and the files beside it, or a tar archive (ustar, GNU, older ones) with what is wrong in it.

import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';
import { byteCount, type FindingCode, type FindingList } from './findings.ts';
import {
  isSafeName,
  type PackageFile,
  type ReadWindow,
  readRegion,
  stripDotSlash,
  WINDOW_SIZE,
  withWindow,
} from './region.ts';
import type { PackageSummary } from './summary.ts';
import { mayBeXml } from './xml.ts';

export interface PackageSource {
  readonly kind: PackageSummary['kind'];
  readonly descriptor: PackageFile | null;
  /** Files of an archive in order, each name once; for a folder only the descriptor. */
  readonly members: readonly PackageFile[];
  /** Returns the file with a safe name, or null if it is missing or unreadable. */
  find(name: string): Promise<PackageFile | null>;
  /** Returns the descriptor's companion with another extension, such as `.mf`. */
  findSibling(extension: string): Promise<PackageFile | null>;
}

/** Decides between archive and descriptor by the extension, else by the first bytes. */
export async function openSource(
  path: string,
  findings: FindingList,
  signal?: AbortSignal,
): Promise<PackageSource> {
  const stats = await stat(path);
  if (!stats.isFile()) {
    findings.add('not-a-file', basename(path), 'not a regular file');
    const nothing = async () => null;
    return { kind: 'ova', descriptor: null, members: [], find: nothing, findSibling: nothing };
  }
  const region = { path, offset: 0, size: stats.size };
  const start = await readRegion(region, 0, 64);
  const isDescriptor = /\.ovf$/i.test(path) || (!/\.ova$/i.test(path) && mayBeXml(start));
  if (isDescriptor) return folderSource(path, stats.size, findings);
  const members = await withWindow(region, signal, (read) =>
    readArchive(path, stats.size, read, findings),
  );
  return archiveSource(path, members, findings);
}

function folderSource(path: string, size: number, findings: FindingList): PackageSource {
  const name = basename(path);
  const folder = dirname(path);
  const descriptor = { name, path: join(folder, name), offset: 0, size, complete: true };
  const outside = new Set<string>();
  const find = async (other: string) => {
    const file = join(folder, other);
    try {
      const stats = await stat(file);
      if (!stats.isFile()) return null;
      await access(file, constants.R_OK);
      const place = relative(await realpath(folder), await realpath(file));
      const isOutside = isAbsolute(place) || place.split(sep)[0] === '..';
      if (isOutside && !outside.has(other)) {
        outside.add(other);
        findings.add('outside-folder', other, 'a link to a file outside of the folder');
      }
      return { name: other, path: file, offset: 0, size: stats.size, complete: true };
    } catch {
      return null;
    }
  };
  const findSibling = (extension: string) => find(withoutExtension(name) + extension);
  return { kind: 'ovf', descriptor, members: [descriptor], find, findSibling };
}

function archiveSource(
  path: string,
  found: readonly PackageFile[],
  findings: FindingList,
): PackageSource {
  const byName = new Map<string, PackageFile>();
  for (const member of found) {
    if (byName.has(member.name)) {
      findings.add('duplicate-member', member.name, 'another member has the same name');
    } else {
      byName.set(member.name, member);
    }
  }
  const members = [...byName.values()];
  const descriptors = withExtension(members, '.ovf');
  const [descriptor = null, ...others] = descriptors;
  if (descriptor === null && !findings.has('not-a-tar')) {
    findings.add('no-descriptor', basename(path), 'contains no .ovf file');
  }
  for (const other of others) {
    findings.add('several-descriptors', other.name, `the package already has ${descriptor?.name}`);
  }
  return {
    kind: 'ova',
    descriptor,
    members,
    find: async (name) => byName.get(name) ?? null,
    async findSibling(extension) {
      if (descriptor === null) return null;
      const candidates = withExtension(members, extension);
      const name = withoutExtension(descriptor.name) + extension;
      const own = candidates.find((candidate) => candidate.name === name);
      const other = candidates[0];
      if (own !== undefined || other === undefined) return own ?? null;
      findings.add('manifest-name', other.name, `should be named ${name}`);
      return other;
    },
  };
}

function withExtension(members: readonly PackageFile[], extension: string): PackageFile[] {
  return members.filter(({ name }) => name.toLowerCase().endsWith(extension));
}

function withoutExtension(name: string): string {
  return name.replace(/\.[^./]*$/, '');
}

/** Bytes of a header; contents are padded to it. */
const BLOCK = 512;
const MAX_HEADERS = 10_000;
const MAX_EXTENSION_BYTES = 32 * 1024;
const ZEROS = Buffer.alloc(WINDOW_SIZE);
const USE_USTAR = 'create the archive with --format=ustar';

/** Receives a finding about a byte of the archive. */
type ReportByte = (code: FindingCode, offset: number, message: string) => void;

/** Returns the regular files of an archive in order, including a truncated one. */
async function readArchive(
  path: string,
  archiveSize: number,
  read: ReadWindow,
  findings: FindingList,
): Promise<PackageFile[]> {
  const members: PackageFile[] = [];
  const report: ReportByte = (code, offset, message) =>
    findings.add(code, `${basename(path)}, byte ${offset}`, message);
  let extension: TarExtension = {};
  let offset = 0;
  for (let headers = 0; ; headers += 1) {
    const block = await read(offset, BLOCK);
    if (block.length < BLOCK) {
      if (block.length > 0) {
        report('truncated-header', offset, 'the archive ends inside a header');
      } else if (offset > 0) {
        report('no-end-of-archive', offset, 'the two zero blocks at the end are missing');
      } else {
        report('not-a-tar', offset, 'the file is empty');
      }
      return members;
    }
    if (isZero(block)) {
      await checkEnd(archiveSize, offset, read, report);
      return members;
    }
    if (headers === MAX_HEADERS) {
      report('too-many-members', offset, `more than ${MAX_HEADERS} headers`);
      return members;
    }
    const header = parseTarHeader(block);
    if (header === null) {
      if (offset === 0) report('not-a-tar', offset, describeFormat(block));
      else report('bad-header', offset, 'damaged header; the rest of the archive is unreadable');
      return members;
    }
    const { type } = header;
    // Each dialect is reported once per archive.
    if (type === PAX || type === PAX_GLOBAL) {
      if (!findings.has('pax-header')) {
        report('pax-header', offset, `pax extended header; ${USE_USTAR}`);
      }
    } else if (!header.ustar && !findings.has('not-ustar')) {
      report('not-ustar', offset, `not in ustar format; ${USE_USTAR}`);
    }
    const isExtension = [PAX, PAX_GLOBAL, GNU_LONG_NAME, GNU_LONG_LINK].includes(type);
    const content = offset + BLOCK;
    const size = isExtension ? header.size : (extension.size ?? header.size);
    const name = isExtension ? header.name : memberName(extension.name ?? header.name, findings);
    const available = Math.min(size, archiveSize - content);
    const complete = available === size;
    if (!isExtension && isRegularFile(name, type, findings)) {
      members.push({ name, path, offset: content, size: available, complete });
    }
    if (!complete) {
      const message = `the archive ends after ${available} of ${byteCount(size)}`;
      findings.add('truncated-member', name, message);
      return members;
    }
    if (isExtension) {
      const isSmall = size <= MAX_EXTENSION_BYTES;
      const more = isSmall ? parseExtension(type, await read(content, size)) : null;
      if (more === null) {
        report('bad-header', offset, 'invalid extended header');
        return members;
      }
      extension = { ...extension, ...more };
    } else {
      extension = {};
    }
    offset = content + Math.ceil(size / BLOCK) * BLOCK;
  }
}

function memberName(name: string, findings: FindingList): string {
  const stripped = stripDotSlash(name);
  if (stripped !== name) findings.add('dot-slash-name', name, `read as ${stripped}`);
  return stripped;
}

function isRegularFile(name: string, type: string, findings: FindingList): boolean {
  const safe = isSafeName(name);
  if (!safe) findings.add('unsafe-name', name, 'must be relative and stay inside the folder');
  if (type === '5' || name.endsWith('/')) {
    findings.add('directory-member', name, 'a directory; a package may contain only files');
  } else if (type === '1' || type === '2') {
    findings.add('link-member', name, 'a link, not a regular file');
  } else if (type !== '0' && type !== '7') {
    findings.add('special-member', name, `type ${type}, not a regular file`);
  } else {
    return safe;
  }
  return false;
}

/** Checks that a second zero block follows the first, and then only zeros. */
async function checkEnd(
  archiveSize: number,
  offset: number,
  read: ReadWindow,
  report: ReportByte,
): Promise<void> {
  if (offset + 2 * BLOCK > archiveSize) {
    report('short-end-of-archive', offset, 'only one zero block at the end');
  }
  for (let position = offset + BLOCK; position < archiveSize; position += WINDOW_SIZE) {
    const bytes = await read(position, WINDOW_SIZE);
    if (isZero(bytes)) continue;
    const first = position + bytes.findIndex((byte) => byte !== 0);
    const rest = byteCount(archiveSize - first);
    return report('trailing-data', first, `${rest} after the end of the archive`);
  }
}

function isZero(bytes: Buffer): boolean {
  return bytes.equals(ZEROS.subarray(0, bytes.length));
}

function describeFormat(block: Buffer): string {
  const magic = block.toString('latin1', 0, 4);
  if (magic.startsWith('\u001f\u008b')) return 'compressed with gzip; decompress it first';
  if (magic === 'PK\u0003\u0004') return 'a zip archive, not a tar archive';
  if (magic === 'KDMV') return 'a VMDK disk, not a tar archive';
  if (mayBeXml(block)) return 'XML, not a tar archive; name a descriptor .ovf';
  return 'not a tar archive';
}

interface TarHeader {
  readonly name: string;
  /** Bytes of content, without padding. */
  readonly size: number;
  /** The type flag; NUL, its older form, becomes `0`. */
  readonly type: string;
  readonly ustar: boolean;
}

/** Symbolic links, devices, directories and pipes: their size field does not count. */
const WITHOUT_CONTENT = '23456';

/** Parses a header; null if it is damaged. */
function parseTarHeader(block: Buffer): TarHeader | null {
  const sizeField = block.subarray(124, 136);
  const size = parseNumber(sizeField);
  if (!isChecksumValid(block) || size === null) return null;
  const ustar = block.toString('latin1', 257, 265) === 'ustar\u000000';
  const prefix = ustar ? parseText(block.subarray(345, 500)) : '';
  const name = parseText(block.subarray(0, 100));
  const type = block.toString('latin1', 156, 157);
  return {
    name: prefix === '' ? name : `${prefix}/${name}`,
    size: WITHOUT_CONTENT.includes(type) ? 0 : size,
    type: type === '\0' ? '0' : type,
    // Sizes in base 256, for files over 8 GiB, are a GNU extension.
    ustar: ustar && !isBase256(sizeField),
  };
}

function isChecksumValid(block: Buffer): boolean {
  const written = parseNumber(block.subarray(148, 156));
  let unsigned = 0;
  let signed = 0;
  for (const [index, byte] of block.entries()) {
    // The checksum itself counts as spaces.
    const counted = index >= 148 && index < 156 ? 0x20 : byte;
    unsigned += counted;
    // Old tars on machines with signed characters add signed bytes.
    signed += counted > 127 ? counted - 256 : counted;
  }
  return written === unsigned || written === signed;
}

function isBase256(field: Buffer): boolean {
  return ((field[0] ?? 0) & 0x80) !== 0;
}

function parseNumber(field: Buffer): number | null {
  let value: number;
  if (isBase256(field)) {
    // 0xff starts a negative number.
    if (field[0] !== 0x80) return null;
    value = field.subarray(1).reduce((sum, byte) => sum * 256 + byte, 0);
  } else {
    const octal = /^ *([0-7]*)(?:[ \0]|$)/.exec(field.toString('latin1'))?.[1];
    if (octal === undefined) return null;
    value = octal === '' ? 0 : Number.parseInt(octal, 8);
  }
  return Number.isSafeInteger(value) ? value : null;
}

function parseText(field: Buffer): string {
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end === -1 ? field.length : end);
}

/** Replaces fields of the next member's header. */
type TarExtension = Partial<Pick<TarHeader, 'name' | 'size'>>;

const PAX = 'x';
const PAX_GLOBAL = 'g';
const GNU_LONG_NAME = 'L';
const GNU_LONG_LINK = 'K';

/** Parses the content of an extension; null if it is invalid. */
function parseExtension(type: string, content: Buffer): TarExtension | null {
  if (type === GNU_LONG_NAME) return { name: parseText(content) };
  if (type === PAX) return parsePax(content);
  return {};
}

/** Parses records of the form `<length> <key>=<value>\n`; the length counts the whole record. */
function parsePax(content: Buffer): TarExtension | null {
  const found: { name?: string; size?: number } = {};
  let position = 0;
  while (position < content.length) {
    const length = /^([1-9]\d{0,6}) /.exec(content.toString('latin1', position, position + 8))?.[1];
    if (length === undefined) return null;
    const end = position + Number(length);
    const record = content.toString('utf8', position + length.length + 1, end);
    const [, key, value] = /^([^=]*)=(.*)\n$/s.exec(record) ?? [];
    if (end > content.length || key === undefined || value === undefined) return null;
    if (key === 'path') found.name = value;
    if (key === 'size') {
      if (!/^\d{1,16}$/.test(value) || !Number.isSafeInteger(Number(value))) return null;
      found.size = Number(value);
    }
    position = end;
  }
  return found;
}
