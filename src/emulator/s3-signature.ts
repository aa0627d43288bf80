// Verifies the signature of a request to the embedded S3 storage (AWS Signature Version 4, in the header).

import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { ApiRequest } from './http.ts';
import { S3Error } from './s3-xml.ts';

const MAX_SKEW = 15 * 60_000;

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/,]+)\/(\d{8})\/([\w-]+)\/s3\/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/;

/** Returns the access key, which is the name of a user, whose password is the secret. @throws S3Error */
export function verifySignature(
  { method, path, query, authorization = '' }: ApiRequest,
  { headers }: IncomingMessage,
  passwords: ReadonlyMap<string, string>,
  now: number,
): string {
  const [, key = '', day = '', region = '', signed = '', signature = ''] =
    AUTHORIZATION.exec(authorization) ?? [];
  if (key === '') throw new S3Error(403, 'AccessDenied', 'The request is not signed.');
  const secret = passwords.get(key);
  if (secret === undefined) {
    throw new S3Error(403, 'InvalidAccessKeyId', 'The access key does not exist.');
  }
  const headerOf = (name: string) => String(headers[name] ?? '');
  const date = headerOf('x-amz-date');
  const time = Date.parse(date.replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5'));
  if (!date.startsWith(day) || !(Math.abs(time - now) < MAX_SKEW)) {
    throw new S3Error(403, 'RequestTimeTooSkewed', 'The clocks differ too much.');
  }
  const names = signed.split(';');
  if (!names.includes('host')) throw new S3Error(403, 'AccessDenied', 'The host is not signed.');
  const canonical = [
    method,
    path
      .split('/')
      .map((part) => encode(decodeURIComponent(part)))
      .join('/'),
    [...query]
      .map((pair) => pair.map(encode).join('='))
      .sort()
      .join('&'),
    ...names.map((name) => `${name}:${headerOf(name).trim().replace(/\s+/g, ' ')}`),
    '',
    signed,
    headerOf('x-amz-content-sha256'),
  ].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const digest = createHash('sha256').update(canonical).digest('hex');
  const text = ['AWS4-HMAC-SHA256', date, scope, digest].join('\n');
  const signingKey = [day, region, 's3', 'aws4_request'].reduce<Buffer | string>(
    hmac,
    `AWS4${secret}`,
  );
  if (!timingSafeEqual(hmac(signingKey, text), Buffer.from(signature, 'hex'))) {
    throw new S3Error(403, 'SignatureDoesNotMatch', 'The signature is wrong.');
  }
  return key;
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function encode(text: string): string {
  const code = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(text).replace(/[!'()*]/g, code);
}
