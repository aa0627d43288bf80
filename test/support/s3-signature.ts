// Verifies the signature of a request to the S3 server for tests (AWS Signature Version 4, in the header).

import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const MAX_SKEW = 15 * 60_000;

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/,]+)\/(\d{8})\/([\w-]+)\/s3\/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/;

/** The error record that the storage sends. */
export class S3Error extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** @throws S3Error */
export function verifySignature(
  { method = '', url = '', headers }: IncomingMessage,
  { accessKey, secret }: { readonly accessKey: string; readonly secret: string },
): void {
  const [, key = '', day = '', region = '', signed = '', signature = ''] =
    AUTHORIZATION.exec(headers.authorization ?? '') ?? [];
  if (key === '') throw new S3Error(403, 'AccessDenied', 'The request is not signed.');
  if (key !== accessKey) {
    throw new S3Error(403, 'InvalidAccessKeyId', 'The access key does not exist.');
  }
  const headerOf = (name: string) => String(headers[name] ?? '');
  const date = headerOf('x-amz-date');
  const time = Date.parse(date.replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5'));
  if (!date.startsWith(day) || !(Math.abs(time - Date.now()) < MAX_SKEW)) {
    throw new S3Error(403, 'RequestTimeTooSkewed', 'The clocks differ too much.');
  }
  const names = signed.split(';');
  if (!names.includes('host')) throw new S3Error(403, 'AccessDenied', 'The host is not signed.');
  const [path = '', search = ''] = url.split('?');
  const canonical = [
    method,
    path
      .split('/')
      .map((part) => encode(decodeURIComponent(part)))
      .join('/'),
    [...new URLSearchParams(search)]
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
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function encode(text: string): string {
  const code = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(text).replace(/[!'()*]/g, code);
}
