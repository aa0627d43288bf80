// Decodes a body whose encoding is unknown: error pages may be in UTF-16.

/** Bytes that tell the encoding. */
const SAMPLE = 1_000;

/** Decodes UTF-8, or UTF-16 with a byte order mark or with the zero bytes that ASCII has there. */
export function bodyText(body: Buffer): string {
  if (startsWith(body, 0xff, 0xfe)) return body.toString('utf16le', 2);
  if (startsWith(body, 0xfe, 0xff)) return bigEndian(body.subarray(2));
  const sample = body.subarray(0, SAMPLE);
  const zeros = [0, 0];
  for (const [at, byte] of sample.entries())
    if (byte === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  if (Math.max(even, odd) < sample.length / 8) return body.toString('utf8');
  return even < odd ? body.toString('utf16le') : bigEndian(body);
}

function startsWith(body: Buffer, ...bytes: readonly number[]): boolean {
  return bytes.every((byte, at) => body[at] === byte);
}

function bigEndian(body: Buffer): string {
  // A byte without its other half is no character.
  const even = Buffer.from(body.subarray(0, body.length - (body.length % 2)));
  return even.swap16().toString('utf16le');
}
