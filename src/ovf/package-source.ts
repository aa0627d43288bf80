// Opens a package, a descriptor with the files beside it or a tar archive (ustar, GNU, older ones), and reads its files.

import { constants } from 'node:fs';
import { access, open, readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, posix, relative, sep } from 'node:path';
import { counted } from '../words.ts';
import { mayBeXml } from '../xml.ts';
import { type FindingCode, FindingList, shortRead } from './findings.ts';

export const WINDOW_SIZE = 64 * 1024;

export interface PackageFile {
  readonly path: string;
  readonly offset: number;
  readonly size: number;
  readonly name: string;
  /** False for the last member of a truncated archive. */
  readonly complete: boolean;
}

export interface PackageSource {
  readonly kind: 'ova' | 'ovf';
  readonly findings: FindingList;
  readonly descriptor: PackageFile | null;
  /** Files of an archive in order, each name once; for a folder only the descriptor. */
  readonly members: readonly PackageFile[];
  /** Returns the file with a safe name, or null if it is missing or unreadable. */
  find(name: string): Promise<PackageFile | null>;
  /** Returns how a file has this name, if it only looks the same: `in another Unicode form`. */
  findSimilar(name: string): Promise<string | null>;
  /** Returns the descriptor's companion with another extension, such as `.mf`. */
  findSibling(extension: string): Promise<PackageFile | null>;
}

/** Decides between archive and descriptor by the extension, else by the first bytes. */
export async function openPackage(path: string, signal?: AbortSignal): Promise<PackageSource> {
  const findings = new FindingList();
  const stats = await stat(path);
  if (!stats.isFile()) {
    findings.add('not-a-file', basename(path), 'not a regular file');
    const nothing = async () => null;
    const finders = { find: nothing, findSimilar: nothing, findSibling: nothing };
    return { kind: 'ova', findings, descriptor: null, members: [], ...finders };
  }
  const region = { path, offset: 0, size: stats.size };
  const start = await readRegion(region, 0, BLOCK);
  const isArchive = start.length === BLOCK && parseTarHeader(start) !== null;
  const isNamedOvf = /\.ovf$/i.test(path);
  if (isNamedOvf && isArchive)
    findings.add('archive-named-ovf', basename(path), 'is an archive: rename it to .ova');
  const isDescriptor = isNamedOvf || (!/\.ova$/i.test(path) && mayBeXml(start));
  if (isDescriptor && !isArchive) return folderSource(path, stats.size, findings);
  const members: PackageFile[] = [];
  await withWindow(region, signal, async (read) => {
    for await (const member of readArchive(region, read, findings)) members.push(member);
  });
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
        findings.add('outside-folder', other, 'a link to a file outside the folder');
      }
      return { name: other, path: file, offset: 0, size: stats.size, complete: true };
    } catch {
      return null;
    }
  };
  const listed = new Map<string, SimilarName>();
  const findSimilar = async (other: string) => {
    const path = posix.join(other);
    const parent = posix.dirname(path);
    const names = listed.get(parent) ?? similarTo(await listFolder(folder, parent));
    listed.set(parent, names);
    return names(path);
  };
  const findSibling = async (extension: string) => {
    const own = withoutExtension(name) + extension;
    const lower = await find(own);
    const upper = lower ? null : await find(withoutExtension(name) + extension.toUpperCase());
    if (upper) findings.add('manifest-name', upper.name, `should be named ${own}`);
    return lower ?? upper;
  };
  const finders = { find, findSimilar, findSibling };
  return { kind: 'ovf', findings, descriptor, members: [descriptor], ...finders };
}

async function listFolder(folder: string, parent: string): Promise<string[]> {
  const names = await readdir(join(folder, parent)).catch(() => []);
  return names.map((name) => posix.join(parent, name));
}

function archiveSource(
  path: string,
  found: readonly PackageFile[],
  findings: FindingList,
): PackageSource {
  const byName = new Map<string, PackageFile>();
  for (const member of found) {
    const { name } = member;
    if (posix.basename(name).startsWith('._'))
      findings.add('macos-file', name, 'ignored; pack with COPYFILE_DISABLE=1');
    else if (!byName.has(name)) byName.set(name, member);
    else findings.add('duplicate-member', name, 'another member has the same name');
  }
  const members = [...byName.values()];
  const [descriptor = null, ...others] = withExtension(members, '.ovf');
  const folder = descriptor?.name.slice(0, descriptor.name.lastIndexOf('/') + 1) ?? '';
  if (descriptor === null && !findings.has('not-a-tar')) {
    findings.add('no-descriptor', basename(path), 'contains no .ovf file');
  }
  for (const other of others) {
    findings.add('several-descriptors', other.name, `the package already has ${descriptor?.name}`);
  }
  const similar = similarTo(byName.keys());
  return {
    kind: 'ova',
    findings,
    descriptor,
    members,
    // Names are relative to the descriptor.
    find: async (name) => byName.get(`${folder}${name}`) ?? null,
    findSimilar: async (name) => similar(`${folder}${name}`),
    findSibling: async (extension) => {
      if (descriptor === null) return null;
      const name = withoutExtension(descriptor.name) + extension;
      const [other = null] = withExtension(members, extension);
      const own = byName.get(name);
      if (!own && other) findings.add('manifest-name', other.name, `should be named ${name}`);
      return own ?? other;
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
/** Bytes after the end: tar fills up a record, usually of 10 KiB. */
const MAX_PADDING = 2 ** 20;
const ZEROS = Buffer.alloc(WINDOW_SIZE);

type ReportByte = (code: FindingCode, offset: number, message: string) => void;

/** Archives in other formats than ustar, whose sizes end at 8 GiB. Each is reported once. */
const DIALECTS = {
  'pax-header': 'pax extended header; use --format=ustar, or gnu for large files and long names',
  'not-ustar': 'not in ustar format, which only large files and long names need',
} as const;

/** Yields the regular files of an archive in order, also a truncated one. */
async function* readArchive(
  { path, size: archiveSize }: Region,
  read: ReadWindow,
  findings: FindingList,
): AsyncGenerator<PackageFile, void> {
  const report: ReportByte = (code, offset, message) =>
    findings.add(code, `${basename(path)}, byte ${offset}`, message);
  let extension: TarExtension = {};
  let offset = 0;
  for (let headers = 0; ; headers += 1) {
    const block = await read(offset, BLOCK);
    if (offset === 0 && block.length < BLOCK) {
      const what = block.length === 0 ? 'the file is empty' : describeFormat(block);
      return report('not-a-tar', offset, what);
    }
    if (block.length > 0 && block.length < BLOCK) {
      return report('truncated-header', offset, 'the archive ends inside a header');
    }
    if (block.length === 0) {
      return report('no-end-of-archive', offset, 'the two zero blocks at the end are missing');
    }
    if (isZero(block)) return checkEnd(archiveSize, offset, read, report);
    if (headers === MAX_HEADERS) {
      return report('too-many-members', offset, `more than ${MAX_HEADERS} headers`);
    }
    const header = parseTarHeader(block);
    if (header === null) {
      if (offset === 0) return report('not-a-tar', offset, describeFormat(block));
      return report('bad-header', offset, 'damaged header; the rest of the archive is unreadable');
    }
    const { type } = header;
    const isPax = type === PAX || type === PAX_GLOBAL;
    const dialect = isPax ? 'pax-header' : header.ustar ? null : 'not-ustar';
    if (dialect && !findings.has(dialect)) report(dialect, offset, DIALECTS[dialect]);
    const isExtension = [PAX, PAX_GLOBAL, GNU_LONG_NAME, GNU_LONG_LINK].includes(type);
    const content = offset + BLOCK;
    const size = isExtension ? header.size : (extension.size ?? header.size);
    const written = isExtension ? header.name : (extension.name ?? header.name);
    const name = isExtension ? written : stripDotSlash(written);
    if (name !== written) findings.add('dot-slash-name', written, `read as ${name}`);
    const available = Math.min(size, archiveSize - content);
    const complete = available === size;
    const kind = extension.isSparse ? SPARSE : type;
    if (!isExtension && isRegularFile(name, kind, findings)) {
      yield { name, path, offset: content, size: available, complete };
    }
    if (!complete) {
      const message = `the archive ends after ${available} of ${counted(size, 'byte')}`;
      return findings.add('truncated-member', name, message);
    }
    if (isExtension) {
      const isSmall = size <= MAX_EXTENSION_BYTES;
      const more = isSmall ? parseExtension(type, await read(content, size)) : null;
      if (more === null) return report('bad-header', offset, 'invalid extended header');
      extension = { ...extension, ...more };
    } else extension = {};
    offset = content + Math.ceil(size / BLOCK) * BLOCK;
  }
}

function isRegularFile(name: string, type: string, findings: FindingList): boolean {
  const safe = isSafeName(name);
  if (!safe) findings.add('unsafe-name', name, 'must be relative and stay inside the folder');
  if (type === '5' || name.endsWith('/')) {
    findings.add('directory-member', name, 'a directory; a package may contain only files');
  } else if (type === '1' || type === '2') {
    findings.add('link-member', name, 'a link, not a regular file');
  } else if (type === SPARSE) {
    findings.add('special-member', name, 'sparse; pack it with tar, but without -S (--sparse)');
  } else if (type !== '0' && type !== '7') {
    findings.add('special-member', name, `type ${type}, not a regular file`);
  } else {
    return safe;
  }
  return false;
}

/** Checks that a second zero block follows the first, and then only some zeros. */
async function checkEnd(archiveSize: number, offset: number, read: ReadWindow, report: ReportByte) {
  if (offset + 2 * BLOCK > archiveSize) {
    report('short-end-of-archive', offset, 'only one zero block at the end');
  }
  const after = archiveSize - offset - 2 * BLOCK;
  const last = Math.min(archiveSize, archiveSize - after + MAX_PADDING);
  for (let position = offset + BLOCK; position < last; position += WINDOW_SIZE) {
    const bytes = await read(position, WINDOW_SIZE);
    if (isZero(bytes)) continue;
    const first = position + bytes.findIndex((byte) => byte !== 0);
    const rest = counted(archiveSize - first, 'byte');
    return report('trailing-data', first, `${rest} after the end of the archive`);
  }
  if (after > MAX_PADDING) {
    const message = `${counted(after, 'byte')} after the end of the archive, starting with 1 MiB of zeros`;
    report('trailing-data', offset, message);
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
  if (mayBeXml(block)) return 'XML, not a tar archive; the name of a descriptor must end in .ovf';
  return 'not a tar archive';
}

/** Symbolic links, devices, directories and pipes: their size field does not count. */
const WITHOUT_CONTENT = '23456';

function parseTarHeader(block: Buffer) {
  const sizeField = block.subarray(124, 136);
  const size = parseNumber(sizeField);
  if (!isChecksumValid(block) || size === null) return null;
  const ustar = block.toString('latin1', 257, 265) === 'ustar\u000000';
  const prefix = ustar ? parseText(block.subarray(345, 500)) : '';
  const name = parseText(block.subarray(0, 100));
  const type = block.toString('latin1', 156, 157);
  return {
    name: prefix === '' ? name : `${prefix}/${name}`,
    /** Bytes of content, without padding. */
    size: WITHOUT_CONTENT.includes(type) ? 0 : size,
    // NUL is its older form.
    type: type === '\0' ? '0' : type,
    // Sizes in base 256, for files above 8 GiB, are a GNU extension.
    ustar: ustar && !isBase256(sizeField),
  };
}

function isChecksumValid(block: Buffer): boolean {
  const written = parseNumber(block.subarray(148, 156));
  // The checksum itself counts as spaces.
  const counted = Buffer.from(block).fill(' ', 148, 156);
  return written === counted.reduce((sum, byte) => sum + byte, 0);
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

type TarExtension = { name?: string; size?: number; isSparse?: boolean };

const PAX = 'x';
const PAX_GLOBAL = 'g';
const GNU_LONG_NAME = 'L';
const GNU_LONG_LINK = 'K';
const SPARSE = 'S';

/** Null if it is invalid. pax has records `<length> <key>=<value>\n`; the length counts the whole record. */
function parseExtension(type: string, content: Buffer): TarExtension | null {
  if (type === GNU_LONG_NAME) return { name: parseText(content) };
  if (type !== PAX) return {};
  const found: TarExtension = {};
  let position = 0;
  while (position < content.length) {
    const length = /^([1-9]\d{0,6}) /.exec(content.toString('latin1', position, position + 8))?.[1];
    if (length === undefined) return null;
    const end = position + Number(length);
    const record = content.toString('utf8', position + length.length + 1, end);
    const [, key, value] = /^([^=]*)=(.*)\n$/s.exec(record) ?? [];
    if (end > content.length || key === undefined || value === undefined) return null;
    if (key === 'path') found.name = value;
    if (key.startsWith('GNU.sparse.')) found.isSparse = true;
    if (key === 'size') {
      if (!/^\d{1,16}$/.test(value) || !Number.isSafeInteger(Number(value))) return null;
      found.size = Number(value);
    }
    position = end;
  }
  return found;
}

/** True if a name is relative and stays inside its folder, on any system. */
export function isSafeName(name: string): boolean {
  if (name === '' || /^\/|^[a-z]:|[\\\0]/i.test(name)) return false;
  return !name.split('/').includes('..');
}

/** Characters. Longer ones are only compared as they are: Unicode normalization takes quadratic time. */
const MAX_SIMILAR_NAME = 255;

type SimilarName = (name: string) => string | null;

/** Returns a function that finds a name among others if it only looks the same, and says how it differs. */
export function similarTo(names: Iterable<string>): SimilarName {
  const look = (name: string) =>
    name.length > MAX_SIMILAR_NAME ? name : name.normalize().toLowerCase();
  const byLook = new Map([...names].map((name) => [look(name), name]));
  return (name) => {
    const other = byLook.get(look(name));
    if (other === undefined || other === name) return null;
    return other.normalize() === name.normalize() ? 'in another Unicode form' : `as ${other}`;
  };
}

export function stripDotSlash(name: string): string {
  return name.replace(/^(?:\.\/+)+/, '') || name;
}

type Region = Pick<PackageFile, 'path' | 'offset' | 'size'>;

/** Returns at most the window's bytes, fewer at the end of the region; valid until the next call. */
export type ReadWindow = (start: number, length: number) => Promise<Buffer>;

/** Serves many short reads that lie close together from one small buffer. */
export async function withWindow<Result>(
  { path, offset, size }: Region,
  signal: AbortSignal | undefined,
  action: (read: ReadWindow) => Promise<Result>,
  windowSize = WINDOW_SIZE,
): Promise<Result> {
  const buffer = Buffer.allocUnsafe(windowSize);
  const handle = await open(path);
  let first = 0;
  let filled = 0;
  const read: ReadWindow = async (start, length) => {
    signal?.throwIfAborted();
    const wanted = Math.max(0, Math.min(length, size - start));
    if (start < first || start + wanted > first + filled) {
      first = start;
      filled = 0;
      let bytesRead = -1;
      while (filled < windowSize && bytesRead !== 0) {
        const place = offset + start + filled;
        ({ bytesRead } = await handle.read(buffer, filled, windowSize - filled, place));
        filled += bytesRead;
      }
    }
    const from = start - first;
    return buffer.subarray(from, Math.min(from + wanted, filled));
  };
  return action(read).finally(() => handle.close());
}

/** Reads up to `length` bytes from `start`, relative to the region; fewer at its end. */
export function readRegion(region: Region, start: number, length: number): Promise<Buffer> {
  const available = Math.max(0, Math.min(length, region.size - start));
  return withWindow(region, undefined, (read) => read(start, available), available);
}

/** Reads a file into memory. Returns null and reports it if it ends before its size: another program shortened it. */
export async function readWhole(
  file: PackageFile,
  findings: FindingList,
  limit: number,
): Promise<Buffer | null> {
  const wanted = Math.min(file.size, limit);
  const bytes = await readRegion(file, 0, wanted);
  const problem = shortRead(bytes.length, wanted);
  if (problem !== null) findings.add('size-mismatch', file.name, problem);
  return problem === null ? bytes : null;
}
