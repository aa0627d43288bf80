// Reads the headers of a tar archive: ustar, GNU and older ones, and pax and GNU extensions.

/** Archives are made of blocks of so many bytes. */
export const BLOCK = 512;

export interface TarHeader {
  readonly name: string;
  /** Bytes of content that follow, before padding. */
  readonly size: number;
  /** The type flag, one character; `0` also for the older NUL. */
  readonly type: string;
  readonly ustar: boolean;
}

const MAGIC = 257;
const CHECKSUM = { start: 148, end: 156 } as const;
/** Symbolic links, devices, directories and pipes: a size of theirs is no content. */
const WITHOUT_CONTENT = '23456';
const SIZE = { start: 124, end: 136 } as const;

/** The header in a block, or null where it is damaged or makes no sense. */
export function parseTarHeader(block: Buffer): TarHeader | null {
  if (!isChecksumValid(block)) return null;
  const size = parseNumber(block.subarray(SIZE.start, SIZE.end));
  if (size === null) return null;
  const magic = block.toString('latin1', MAGIC, MAGIC + 8);
  const ustar = magic === 'ustar\u000000';
  const prefix = ustar ? parseText(block.subarray(345, 500)) : '';
  const name = parseText(block.subarray(0, 100));
  const type = block.toString('latin1', 156, 157);
  return {
    name: prefix === '' ? name : `${prefix}/${name}`,
    size: WITHOUT_CONTENT.includes(type) ? 0 : size,
    type: type === '\0' ? '0' : type,
    // A size in base 256, for files over 8 GiB, is GNU's own.
    ustar: ustar && !isBase256(block.subarray(SIZE.start, SIZE.end)),
  };
}

/** Length of a content with the padding to whole blocks. */
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
    // Old tars on machines with signed characters summed up signed bytes.
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
    // The first byte is 0x80 for what fits; 0xff begins a negative number.
    if (field[0] !== 0x80) return null;
    value = field.subarray(1).reduce((sum, byte) => sum * 256 + byte, 0);
  } else {
    const octal = /^ *([0-7]*)(?:[ \0]|$)/.exec(field.toString('latin1'))?.[1];
    if (octal === undefined) return null;
    value = octal === '' ? 0 : Number.parseInt(octal, 8);
  }
  return Number.isSafeInteger(value) ? value : null;
}

/** The text of a field, up to its first NUL. */
export function parseText(field: Buffer): string {
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end === -1 ? field.length : end);
}

/** What replaces fields of the next member's own header. */
export interface TarExtension {
  readonly name?: string;
  readonly size?: number;
}

/** How many bytes of such a header are read at most. */
export const MAX_EXTENSION_BYTES = 32 * 1024;

const PAX = 'x';
const PAX_GLOBAL = 'g';
const GNU_LONG_NAME = 'L';
const GNU_LONG_LINK = 'K';

/** Whether a header of this type tells about the next member instead of being one. */
export function isExtension(type: string): boolean {
  return [PAX, PAX_GLOBAL, GNU_LONG_NAME, GNU_LONG_LINK].includes(type);
}

export function isPax(type: string): boolean {
  return type === PAX || type === PAX_GLOBAL;
}

/** What the content of such a header says, or null where it can't be understood. */
export function parseExtension(type: string, content: Buffer): TarExtension | null {
  if (type === GNU_LONG_NAME) return { name: parseText(content) };
  if (type === PAX) return parsePax(content);
  return {};
}

/** Records of the form `<length> <key>=<value>\n`, the length being that of the whole record. */
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
