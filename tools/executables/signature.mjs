// Removes the signature of a Windows program, which becomes invalid when the program is changed.

/** Offsets in 64-bit programs, from Microsoft's "PE Format". */
const HEADER_POSITION = 0x3c;
const OPTIONAL_HEADER = 24;
const KIND_64 = 0x20b;
const CERTIFICATE_TABLE = OPTIONAL_HEADER + 144;

/** Returns the program without its signature. @throws Error for other programs and formats */
export function withoutSignature(program) {
  const header = program.readUInt32LE(HEADER_POSITION);
  if (program.readUInt16LE(header + OPTIONAL_HEADER) !== KIND_64) {
    throw new Error('not a program for 64-bit Windows');
  }
  const start = program.readUInt32LE(header + CERTIFICATE_TABLE);
  const size = program.readUInt32LE(header + CERTIFICATE_TABLE + 4);
  if (size === 0) return program;
  if (start + size !== program.length) throw new Error('the signature is not at the end');
  const unsigned = Buffer.from(program.subarray(0, start));
  unsigned.fill(0, header + CERTIFICATE_TABLE, header + CERTIFICATE_TABLE + 8);
  return unsigned;
}
