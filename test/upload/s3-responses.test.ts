// What the responses of an S3 storage mean.

import { expect, it } from 'vitest';
import { plainTag } from '../../src/upload/s3-responses.ts';

it.each([
  ['"0123abcd-2"', '0123abcd-2'],
  ['0123ABCD', '0123abcd'],
  ['W/"0123abcd"', '0123abcd'],
  [undefined, ''],
])('the ETag %s is compared as %j', (etag, plain) => {
  expect(plainTag(etag)).toBe(plain);
});
