// The digests of the parts of an upload to S3, and the ETag that follows from them.

import { createHash } from 'node:crypto';

/** Returns the ETag of an object whose parts have these digests. */
export function multipartTag(parts: readonly string[]): string {
  const bytes = Buffer.from(parts.join(''), 'hex');
  return `${createHash('md5').update(bytes).digest('hex')}-${parts.length}`;
}

/** Yields the MD5 of each part in hexadecimal; empty content is one part. */
export async function* digestsOf(
  chunks: AsyncIterable<Buffer>,
  partSize = Number.POSITIVE_INFINITY,
): AsyncGenerator<string> {
  let hash = createHash('md5');
  let position = 0;
  let count = 0;
  for await (const chunk of chunks) {
    hash.update(chunk);
    position += chunk.length;
    if (position < partSize) continue;
    yield hash.digest('hex');
    hash = createHash('md5');
    position = 0;
    count += 1;
  }
  if (position > 0 || count === 0) yield hash.digest('hex');
}
