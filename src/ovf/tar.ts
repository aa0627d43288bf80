// Reads the headers of tar archives (ustar, GNU, older ones, extensions), and writes ustar archives.

export const BLOCK = 512;

export interface TarHeader {
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
export function parseTarHeader(block: Buffer): TarHeader | null {
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

export function paddedSize(size: number): number {
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
export interface TarExtension {
  readonly name?: string;
  readonly size?: number;
}

export const MAX_EXTENSION_BYTES = 32 * 1024;

const PAX = 'x';
const PAX_GLOBAL = 'g';
const GNU_LONG_NAME = 'L';
const GNU_LONG_LINK = 'K';

/** True if a header of this type describes the next member. */
export function isExtension(type: string): boolean {
  return [PAX, PAX_GLOBAL, GNU_LONG_NAME, GNU_LONG_LINK].includes(type);
}

export function isPax(type: string): boolean {
  return type === PAX || type === PAX_GLOBAL;
}

/** Parses the content of an extension; null if it is invalid. */
export function parseExtension(type: string, content: Buffer): TarExtension | null {
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

export interface TarMember {
  /** At most 100 bytes. */
  readonly name: string;
  readonly content: Uint8Array;
  /** The type flag (`0`, a regular file). */
  readonly type?: string;
}

/** Writes ustar, the format that the standard demands of an OVA; equal files give equal bytes. */
export function packTar(members: readonly TarMember[]): Buffer {
  const blocks = members.flatMap((member) => {
    const padding = Buffer.alloc(paddedSize(member.content.length) - member.content.length);
    return [tarHeader(member), member.content, padding];
  });
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]);
}

function tarHeader({ name, content, type = '0' }: TarMember): Buffer {
  const header = Buffer.alloc(BLOCK);
  if (header.write(name, 0) > 100) throw new RangeError(`name too long for ustar: ${name}`);
  header.write('0000644\0', 100);
  header.write('0000000\0', 108);
  header.write('0000000\0', 116);
  header.write(`${octal(content.length, 11)}\0`, SIZE.start);
  header.write(`${octal(0, 11)}\0`, 136);
  header.write(type, 156);
  header.write(USTAR, MAGIC);
  return withChecksum(header);
}

export function withChecksum(header: Buffer): Buffer {
  header.fill(' ', CHECKSUM.start, CHECKSUM.end);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 6)}\0 `, CHECKSUM.start);
  return header;
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0');
}
