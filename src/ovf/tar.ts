// Reads a tar archive (ustar, GNU, older ones): its regular files, and what is wrong with it.

import { basename } from 'node:path';
import { counted, isDigits } from '../words.ts';
import { mayBeXml } from '../xml.ts';
import type { FindingCode, FindingList, Problem } from './findings.ts';
import { isSafeName, stripDotSlash, UNSAFE_NAME } from './names.ts';
import { type PackageFile, type ReadWindow, type Region, WINDOW_SIZE } from './package-file.ts';

/** Bytes of a header; contents are padded to it. */
export const BLOCK = 512;
const MAX_HEADERS = 10_000;
const MAX_EXTENSION_BYTES = 32 * 1024;
/** Bytes after the end: tar fills up a record, usually of 10 KiB. */
const MAX_PADDING = 2 ** 20;
const ZEROS = Buffer.alloc(WINDOW_SIZE);

const PAX = 'x';
const PAX_GLOBAL = 'g';
const GNU_LONG_NAME = 'L';
const GNU_LONG_LINK = 'K';
const EXTENSIONS = [PAX, PAX_GLOBAL, GNU_LONG_NAME, GNU_LONG_LINK];
const REGULAR = '0';
const HARD_LINK = '1';
const SYMBOLIC_LINK = '2';
const DIRECTORY = '5';
/** A regular file that may be stored without gaps. */
const CONTIGUOUS = '7';
const SPARSE = 'S';
/** Symbolic links, devices, directories and pipes: their sizes do not count. */
const WITHOUT_CONTENT = '23456';

type ReportByte = (code: FindingCode, offset: number, message: string) => void;

/** Archives in other formats than ustar, whose sizes end at 8 GiB. Each is reported once. */
const DIALECTS = {
  'pax-header': 'pax extended header; use --format=ustar, or gnu for large files and long names',
  'not-ustar': 'not in ustar format; only large files and long names need another format',
} as const;

/**
 * Yields the regular files of an archive in order, also a truncated one. Each header is followed by
 * its content; those of pax and GNU extensions say more of the next member:
 *
 *     x "14 size=12345", 0 a.vmdk, 0 b.vmdk, two blocks of zeros
 */
export async function* readArchive(
  { path, size: archiveSize }: Region,
  read: ReadWindow,
  findings: FindingList,
): AsyncGenerator<PackageFile, void> {
  const report: ReportByte = (code, offset, message) =>
    findings.add(code, `${basename(path)}, byte ${offset}`, message);
  const reportTruncated = (name: string, size: number, available: number) => {
    const message = `the archive ends after ${available} of ${counted(size, 'byte')}`;
    findings.add('truncated-member', name, message);
  };
  let extension: TarExtension = {};
  let offset = 0;
  for (let headers = 0; ; headers += 1) {
    const block = await read(offset, BLOCK);
    if (block.length === BLOCK && isZero(block)) return checkEnd(archiveSize, offset, read, report);
    const header = headers < MAX_HEADERS ? parseTarHeader(block) : null;
    if (header === null) {
      const { code, message } = blockProblem(block, headers);
      return report(code, offset, message);
    }
    const dialect = dialectOf(header);
    if (dialect !== null && !findings.has(dialect)) report(dialect, offset, DIALECTS[dialect]);
    const content = offset + BLOCK;

    if (EXTENSIONS.includes(header.type)) {
      const { name, type, size } = header;
      if (content + size > archiveSize) return reportTruncated(name, size, archiveSize - content);
      const isSmall = size <= MAX_EXTENSION_BYTES;
      const more = isSmall ? parseExtension(type, await read(content, size)) : null;
      if (more === null) return report('bad-header', offset, 'invalid extended header');
      extension = { ...extension, ...more };
      offset = content + padded(size);
      continue;
    }

    const { name: written, type, size: announced } = { ...header, ...extension };
    extension = {};
    const name = stripDotSlash(written);
    if (name !== written) findings.add('dot-slash-name', written, `read as ${name}`);
    const size = WITHOUT_CONTENT.includes(type) ? 0 : announced;
    const available = Math.min(size, archiveSize - content);
    const complete = available === size;
    if (checkMember(name, type, findings)) {
      yield { name, path, offset: content, size: available, complete };
    }
    if (!complete) return reportTruncated(name, size, available);
    offset = content + padded(size);
  }
}

function padded(size: number): number {
  return Math.ceil(size / BLOCK) * BLOCK;
}

function dialectOf({ type, ustar }: TarHeader): keyof typeof DIALECTS | null {
  if (type === PAX || type === PAX_GLOBAL) return 'pax-header';
  return ustar ? null : 'not-ustar';
}

/** Returns why a block, before which there were that many headers, is no header. */
function blockProblem(block: Buffer, headers: number): Problem {
  const isFirst = headers === 0;
  if (isFirst && block.length === 0) return { code: 'not-a-tar', message: 'the file is empty' };
  if (isFirst) return { code: 'not-a-tar', message: describeFormat(block) };
  if (block.length === 0) {
    const message = 'the two zero blocks at the end are missing';
    return { code: 'no-end-of-archive', message };
  }
  if (block.length < BLOCK)
    return { code: 'truncated-header', message: 'the archive ends inside a header' };
  if (headers === MAX_HEADERS)
    return { code: 'too-many-members', message: `more than ${MAX_HEADERS} headers` };
  const message = 'damaged header; the rest of the archive is unreadable';
  return { code: 'bad-header', message };
}

/** Returns true for a regular file with a safe name; reports all else. */
function checkMember(name: string, type: string, findings: FindingList): boolean {
  const safe = isSafeName(name);
  if (!safe) findings.add('unsafe-name', name, UNSAFE_NAME);
  if (type === DIRECTORY || name.endsWith('/')) {
    findings.add('directory-member', name, 'a directory; a package may contain only files');
  } else if (type === HARD_LINK || type === SYMBOLIC_LINK) {
    findings.add('link-member', name, 'a link, not a regular file');
  } else if (type === SPARSE) {
    findings.add(
      'special-member',
      name,
      'sparse; pack it without -S (bsdtar: with --no-read-sparse)',
    );
  } else if (type !== REGULAR && type !== CONTIGUOUS) {
    findings.add('special-member', name, `type ${type}, not a regular file`);
  } else {
    return safe;
  }
  return false;
}

/** Checks that a second zero block follows the first, and then only some zeros. */
async function checkEnd(archiveSize: number, offset: number, read: ReadWindow, report: ReportByte) {
  const end = offset + 2 * BLOCK;
  if (end > archiveSize) report('short-end-of-archive', offset, 'only one zero block at the end');
  if (archiveSize - end > MAX_PADDING) {
    const message = `${counted(archiveSize - end, 'byte')} after the end of the archive`;
    return report('trailing-data', offset, message);
  }
  for (let position = offset + BLOCK; position < archiveSize; position += WINDOW_SIZE) {
    const bytes = await read(position, WINDOW_SIZE);
    if (isZero(bytes)) continue;
    const first = position + bytes.findIndex((byte) => byte !== 0);
    const rest = counted(archiveSize - first, 'byte');
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
  if (mayBeXml(block)) return 'XML, not a tar archive; the name of a descriptor must end in .ovf';
  return 'not a tar archive';
}

interface TarHeader {
  readonly name: string;
  readonly size: number;
  readonly type: string;
  readonly ustar: boolean;
}

/** Returns null for other data, also for less than a block. */
export function parseTarHeader(block: Buffer): TarHeader | null {
  if (block.length < BLOCK) return null;
  const sizeField = block.subarray(124, 136);
  const size = parseNumber(sizeField);
  if (!isChecksumValid(block) || size === null) return null;
  const ustar = block.toString('latin1', 257, 265) === 'ustar\u000000';
  const prefix = ustar ? parseText(block.subarray(345, 500)) : '';
  const name = parseText(block.subarray(0, 100));
  const type = block.toString('latin1', 156, 157);
  return {
    name: prefix === '' ? name : `${prefix}/${name}`,
    size,
    // NUL is its older form.
    type: type === '\0' ? REGULAR : type,
    // Sizes in base 256, for files above 8 GiB, are a GNU extension.
    ustar: ustar && !isBase256(sizeField),
  };
}

function isChecksumValid(block: Buffer): boolean {
  const written = parseNumber(block.subarray(148, 156));
  // The checksum itself counts as spaces.
  const asSpaces = Buffer.from(block).fill(' ', 148, 156);
  return written === asSpaces.reduce((sum, byte) => sum + byte, 0);
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

/** What an extended header says of the next member, instead of the header of that member. */
type TarExtension = { name?: string; size?: number; type?: string };

/**
 * Returns what an extension says of the next member; null if it is invalid. pax has records
 * `<length> <key>=<value>\n`, whose length counts the whole record: `14 size=12345\n`.
 */
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
    if (key === 'path' || key === 'GNU.sparse.name') found.name = value;
    if (key.startsWith('GNU.sparse.')) found.type = SPARSE;
    if (key === 'size') {
      if (!isDigits(value) || !Number.isSafeInteger(Number(value))) return null;
      found.size = Number(value);
    }
    position = end;
  }
  return found;
}
