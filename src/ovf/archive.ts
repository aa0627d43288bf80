// Reads a tar archive (ustar, GNU, older ones) header by header: locates its members and reports what is wrong.

import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { byteCount, type FindingCode, type FindingList } from './findings.ts';
import { FileWindow, isSafeName, type PackageFile, stripDotSlash, WINDOW_SIZE } from './region.ts';
import { mayBeXml } from './xml.ts';

const BLOCK = 512;
const MAX_HEADERS = 10_000;
const ZEROS = Buffer.alloc(WINDOW_SIZE);

/** Returns the regular files of an archive in order, including a truncated one. */
export async function readArchive(
  path: string,
  findings: FindingList,
  signal?: AbortSignal,
): Promise<PackageFile[]> {
  const handle = await open(path);
  try {
    const file = new FileWindow(handle, (await handle.stat()).size);
    return await new ArchiveWalk(path, file, findings).members(signal);
  } finally {
    await handle.close();
  }
}

class ArchiveWalk {
  readonly #path: string;
  readonly #file: FileWindow;
  readonly #findings: FindingList;

  constructor(path: string, file: FileWindow, findings: FindingList) {
    this.#path = path;
    this.#file = file;
    this.#findings = findings;
  }

  async members(signal: AbortSignal | undefined): Promise<PackageFile[]> {
    const members: PackageFile[] = [];
    let extension: TarExtension = {};
    let offset = 0;
    for (let headers = 0; ; headers += 1) {
      signal?.throwIfAborted();
      const header = await this.#header(offset, headers, signal);
      if (header === null) return members;
      const content = offset + BLOCK;
      const extendsNext = isExtension(header.type);
      const size = extendsNext ? header.size : (extension.size ?? header.size);
      const name = extendsNext ? header.name : this.#memberName(extension.name ?? header.name);
      const available = Math.min(size, this.#file.size - content);
      const complete = available === size;
      if (!extendsNext && this.#isRegularFile(name, header.type)) {
        members.push({ name, path: this.#path, offset: content, size: available, complete });
      }
      if (!complete) {
        const message = `the archive ends after ${available} of ${byteCount(size)}`;
        this.#findings.add('truncated-member', name, message);
        return members;
      }
      const more = extendsNext ? await this.#extension(header, content) : {};
      if (more === null) return members;
      extension = extendsNext ? { ...extension, ...more } : {};
      offset = content + paddedSize(size);
    }
  }

  /** Returns the header at an offset, or null at the end of what can be read. */
  async #header(
    offset: number,
    count: number,
    signal: AbortSignal | undefined,
  ): Promise<TarHeader | null> {
    const block = await this.#file.read(offset, BLOCK);
    if (block.length === 0 && offset > 0) {
      this.#add('no-end-of-archive', offset, 'the two zero blocks at the end are missing');
    } else if (block.length === 0) {
      this.#add('not-a-tar', offset, 'the file is empty');
    } else if (block.length < BLOCK) {
      this.#add('truncated-header', offset, 'the archive ends inside a header');
    } else if (isZero(block)) {
      await this.#checkEnd(offset, signal);
    } else if (count === MAX_HEADERS) {
      this.#add('too-many-members', offset, `more than ${MAX_HEADERS} headers`);
    } else {
      const header = parseTarHeader(block);
      if (header === null && offset === 0) this.#add('not-a-tar', offset, describeFormat(block));
      if (header === null && offset > 0) {
        this.#add('bad-header', offset, 'damaged header; the rest of the archive is unreadable');
      }
      if (header !== null) this.#checkDialect(header, offset);
      return header;
    }
    return null;
  }

  /** Reports each code once per archive. */
  #checkDialect(header: TarHeader, offset: number): void {
    const ustar = 'create the archive with --format=ustar';
    if (isPax(header.type)) {
      if (this.#findings.has('pax-header')) return;
      this.#add('pax-header', offset, `pax extended header; ${ustar}`);
    } else if (!header.ustar && !this.#findings.has('not-ustar')) {
      this.#add('not-ustar', offset, `not in ustar format; ${ustar}`);
    }
  }

  async #extension(header: TarHeader, content: number): Promise<TarExtension | null> {
    if (header.size <= MAX_EXTENSION_BYTES) {
      const bytes = await this.#file.read(content, header.size);
      const extension = parseExtension(header.type, bytes);
      if (extension !== null) return extension;
    }
    this.#add('bad-header', content - BLOCK, 'invalid extended header');
    return null;
  }

  #memberName(name: string): string {
    const bare = stripDotSlash(name);
    if (bare !== name) this.#findings.add('dot-slash-name', name, `read as ${bare}`);
    return bare;
  }

  #isRegularFile(name: string, type: string): boolean {
    const safe = isSafeName(name);
    if (!safe)
      this.#findings.add('unsafe-name', name, 'must be relative and stay inside the folder');
    if (type === '5' || name.endsWith('/')) {
      this.#findings.add('directory-member', name, 'a directory; a package may contain only files');
    } else if (type === '1' || type === '2') {
      this.#findings.add('link-member', name, 'a link, not a regular file');
    } else if (type !== '0' && type !== '7') {
      this.#findings.add('special-member', name, `type ${type}, not a regular file`);
    } else {
      return safe;
    }
    return false;
  }

  /** Checks that a second zero block follows the first, and then only zeros. */
  async #checkEnd(offset: number, signal: AbortSignal | undefined): Promise<void> {
    if (offset + 2 * BLOCK > this.#file.size) {
      this.#add('short-end-of-archive', offset, 'only one zero block at the end');
    }
    for (let position = offset + BLOCK; position < this.#file.size; position += WINDOW_SIZE) {
      signal?.throwIfAborted();
      const bytes = await this.#file.read(position, WINDOW_SIZE);
      if (isZero(bytes)) continue;
      const first = position + bytes.findIndex((byte) => byte !== 0);
      const length = this.#file.size - first;
      this.#add('trailing-data', first, `${byteCount(length)} after the end of the archive`);
      return;
    }
  }

  #add(code: FindingCode, offset: number, message: string): void {
    this.#findings.add(code, `${basename(this.#path)}, byte ${offset}`, message);
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

const MAGIC = 257;
const USTAR = 'ustar\u000000';
const CHECKSUM = { start: 148, end: 156 } as const;
/** Symbolic links, devices, directories and pipes: their size field does not count. */
const WITHOUT_CONTENT = '23456';
const SIZE = { start: 124, end: 136 } as const;

/** Parses a header; null if it is damaged. */
function parseTarHeader(block: Buffer): TarHeader | null {
  if (!isChecksumValid(block)) return null;
  const size = parseNumber(block.subarray(SIZE.start, SIZE.end));
  if (size === null) return null;
  const ustar = block.toString('latin1', MAGIC, MAGIC + USTAR.length) === USTAR;
  const prefix = ustar ? parseText(block.subarray(345, 500)) : '';
  const name = parseText(block.subarray(0, 100));
  const type = block.toString('latin1', 156, 157);
  return {
    name: prefix === '' ? name : `${prefix}/${name}`,
    size: WITHOUT_CONTENT.includes(type) ? 0 : size,
    type: type === '\0' ? '0' : type,
    // Sizes in base 256, for files over 8 GiB, are a GNU extension.
    ustar: ustar && !isBase256(block.subarray(SIZE.start, SIZE.end)),
  };
}

function paddedSize(size: number): number {
  return Math.ceil(size / BLOCK) * BLOCK;
}

function isChecksumValid(block: Buffer): boolean {
  const written = parseNumber(block.subarray(CHECKSUM.start, CHECKSUM.end));
  let unsigned = 0;
  let signed = 0;
  for (const [index, byte] of block.entries()) {
    const inChecksum = index >= CHECKSUM.start && index < CHECKSUM.end;
    const counted = inChecksum ? 0x20 : byte;
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
interface TarExtension {
  readonly name?: string;
  readonly size?: number;
}

const MAX_EXTENSION_BYTES = 32 * 1024;

const PAX = 'x';
const PAX_GLOBAL = 'g';
const GNU_LONG_NAME = 'L';
const GNU_LONG_LINK = 'K';

/** True if a header of this type describes the next member. */
function isExtension(type: string): boolean {
  return [PAX, PAX_GLOBAL, GNU_LONG_NAME, GNU_LONG_LINK].includes(type);
}

function isPax(type: string): boolean {
  return type === PAX || type === PAX_GLOBAL;
}

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
