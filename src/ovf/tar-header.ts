// Reads one header of a tar archive: POSIX ustar, its GNU relative and the headers before both.

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
  if (!checksumHolds(block)) return null;
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
export function padded(size: number): number {
  return Math.ceil(size / BLOCK) * BLOCK;
}

function checksumHolds(block: Buffer): boolean {
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
