// What the responses of a storage mean.

import path from 'node:path';
import { expect, it } from 'vitest';
import type { HttpResponse } from '../../src/http/message.ts';
import { storageError, xmlOf } from '../../src/upload/responses.ts';
import { isEncrypted, plainTag, regionError, rootOf } from '../../src/upload/s3-responses.ts';
import { ENDPOINT } from '../support/client.ts';
import { hintOf, thrownBy } from '../support/errors.ts';
import { expectOutcomes } from '../support/outcomes.ts';

const DIGEST = '0123456789abcdef'.repeat(2);

it.each<readonly [string | undefined, string]>([
  [`"${DIGEST}-2"`, `${DIGEST}-2`],
  [DIGEST.toUpperCase(), DIGEST],
  [`W/"${DIGEST}"`, DIGEST],
  [`"${DIGEST.toUpperCase()}-12"`, `${DIGEST}-12`],
  ...[`A${DIGEST.toUpperCase()}`, `${DIGEST.toUpperCase()}A`, 'AW/B'].map(
    (tag) => [tag, tag] as const,
  ),
  ['"AbC="', 'AbC='],
  [undefined, ''],
])('the ETag %s is compared as %j', (etag, plain) => {
  expect(plainTag(etag)).toBe(plain);
});

it('characters that XML cannot hold are read as ?', () => {
  const body = Buffer.from('\n<Key>a&#x1;b&#1;c\u0001\u0002d&#65;&#x1F;&#X1;</Key>');
  const url = new URL('https://s3.example.com/b');
  expect(xmlOf({ body, url } as HttpResponse)?.text).toBe('a?b?c??dA??');
});

it('what a storage refuses is in refusals.txt, by protocol, status and error', async () => {
  await expectOutcomes(path.join(import.meta.dirname, 'refusals.txt'), (input) => {
    const [, protocol, status, text = ''] = /^(\w+) (\d+) ?(.*)$/s.exec(input) ?? [];
    const [, name = '', value] = /^([\w-]+): (.*)$/.exec(text) ?? [];
    const url = new URL('https://storage.example/b/web.ova');
    const response = {
      ...{ method: 'PUT', url, status: Number(status), receivedAt: 0, headers: { [name]: value } },
      body: Buffer.from(
        protocol === 'S3' ? `<Error><Code>${text}</Code></Error>` : value ? '' : text,
      ),
    } as unknown as HttpResponse;
    const error = protocol === 'S3' ? thrownBy(() => rootOf(response)) : storageError(response);
    return [`${error.code} (exit code ${error.exitCode}): ${error.message}`, hintOf(error)];
  });
});

it('a success with too much XML is an error, and a failure with it has none', () => {
  const response = (status: number) => {
    const url = new URL('https://s3.example.com/b');
    return { body: Buffer.from('<a>'.repeat(51)), url, status } as HttpResponse;
  };
  const message = 's3.example.com sent too much XML: nested more than 50 levels deep';
  const error = { code: 'bad-answer', message, status: 200 };
  expect(thrownBy(() => xmlOf(response(200)))).toMatchObject(error);
  expect(xmlOf(response(400))).toBeUndefined();
});

it.each([
  [{ 'x-amz-server-side-encryption': 'aws:kms' }, true],
  [{ 'x-amz-server-side-encryption-customer-algorithm': 'AES256' }, true],
  [{ 'x-amz-server-side-encryption': 'AES256' }, false],
  [{}, false],
])('an ETag beside %j is no digest of the bytes: %s', (headers, expected) => {
  expect(isEncrypted({ headers } as HttpResponse)).toBe(expected);
});

const SET = { kind: 'region', region: 'eu-west-2', used: undefined };

it.each<readonly [number, string, string, string, object | undefined]>([
  [301, 's3.example.com', 'us-east-1', 'eu-west-2', SET],
  [400, 's3.us-east-1.example.com', 'us-east-1', 'eu-west-2', { ...SET, used: 'us-east-1' }],
  [403, 's3.eu-west-2.example.com', 'eu-west-2', 'eu-west-2', undefined],
  ...['no region', 'eu.', '.eu'].map(
    (region) => [403, 's3.example.com', 'us-east-1', region, undefined] as const,
  ),
  [404, 's3.example.com', 'us-east-1', 'eu-west-2', undefined],
  [200, 's3.example.com', 'us-east-1', 'eu-west-2', undefined],
])(
  'a response with %i from %s, signed for %s, for a bucket in %s: %s',
  (status, host, used, region, facts) => {
    const response = {
      status,
      url: new URL(`https://${host}/b`),
      headers: { 'x-amz-bucket-region': region },
    };
    const rest = { method: 'GET', body: Buffer.alloc(0), wireBytes: 0, receivedAt: 0 };
    const full = { ...response, ...rest, endpoint: ENDPOINT };
    const error = regionError(full, used);
    expect(error?.facts).toEqual(facts);
    expect(error?.message).toBe(facts && `the bucket is in the region ${region} (${status})`);
  },
);
