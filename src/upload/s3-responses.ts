// What the responses of an S3 storage mean: their XML, errors and ETags.

import { ImgctlError } from '../errors.ts';
import type { Facts } from '../facts.ts';
import { type HttpResponse, isSuccess } from '../http/message.ts';
import { textOf, type XmlElement } from '../xml.ts';
import { CHECK_URL, storageError, xmlOf } from './responses.ts';

export function requireS3Success(response: HttpResponse): HttpResponse {
  if (isSuccess(response)) return response;
  throw s3Error(response);
}

/** Returns the XML of a success. @throws ImgctlError, also for an error with status 200 */
export function rootOf(response: HttpResponse): XmlElement {
  const root = xmlOf(response);
  // A request that takes long has its status before its error.
  if (!isSuccess(response) || root?.name === 'Error') throw s3Error(response);
  return root ?? notS3(response);
}

/** Returns the root of a list. @throws ImgctlError, also for a page of another server */
export function listOf(response: HttpResponse): XmlElement {
  const root = rootOf(response);
  return /^List\w*Result$/.test(root.name) ? root : notS3(response);
}

export function notS3({ url, status }: HttpResponse): never {
  const message = `${url.host} is not an S3 storage`;
  throw new ImgctlError('bad-answer', message, { facts: CHECK_URL, status });
}

/** An ETag of S3's form: an MD5, or the digest of that of each part and their number. */
export const DIGEST = /^[0-9a-f]{32}(?:-(\d+))?$/;

/** Returns an ETag as it is compared: of a digest, case says nothing. */
export function plainTag(etag = ''): string {
  const tag = etag.replace(/^W\/|"/g, '');
  const digest = tag.toLowerCase();
  return DIGEST.test(digest) ? digest : tag;
}

/** True if a key of KMS or of the customer encrypts: then ETags are not digests of the bytes. */
export function isEncrypted({ headers }: HttpResponse): boolean {
  const kind = headers['x-amz-server-side-encryption'] ?? '';
  return kind.includes('kms') || 'x-amz-server-side-encryption-customer-algorithm' in headers;
}

export function s3Code(response: HttpResponse): string {
  const root = xmlOf(response);
  return root?.name === 'Error' ? (textOf(root, 'Code') ?? '') : '';
}

/** Codes that come with 400, although a retry may succeed. */
const RETRYABLE_CODES = ['RequestTimeout', 'IncompleteBody'];
/** The status to report an error of S3 as, by its code. */
const MEANINGS = new Map([
  ['InvalidAccessKeyId', 401],
  ['SignatureDoesNotMatch', 401],
  ['ExpiredToken', 403],
  ['InvalidToken', 403],
  ['EntityTooLarge', 413],
  ['NotImplemented', 400],
  ...RETRYABLE_CODES.map((code) => [code, 500] as const),
]);
const IS_FULL = /Quota|StorageFull|InsufficientStorage/i;

export function hasRetryableCode(response: HttpResponse): boolean {
  return RETRYABLE_CODES.includes(s3Code(response));
}

const RENEW: Facts = { kind: 'temporary-keys' };

const FACTS: Readonly<Record<string, string | Facts>> = {
  BadDigest:
    'run the command again: the file changed while it was uploaded, or the network broke it',
  AuthorizationHeaderMalformed: { kind: 'region' },
  RequestTimeTooSkewed: 'set the clock of this machine, then run the command again',
  ExpiredToken: RENEW,
  InvalidToken: RENEW,
  PermanentRedirect: 'use the host that it names in the upload URL, without the name of the bucket',
};

function s3Error(response: HttpResponse): ImgctlError {
  const code = s3Code(response);
  // The status of an error that came with 200 says nothing.
  const status = response.status === 200 ? 500 : response.status;
  const meaning = MEANINGS.get(code) ?? (IS_FULL.test(code) ? 507 : status);
  const error = storageError(response, meaning);
  return Object.hasOwn(FACTS, code) ? error.with({ facts: FACTS[code] }) : error;
}

/** Returns the error of a bucket that is in another region, or at another host. */
export function regionError(response: HttpResponse, used: string): ImgctlError | undefined {
  const { status, headers, url } = response;
  if (isSuccess(response) || status === 404) return undefined;
  const root = response.body.length > 0 ? xmlOf(response) : undefined;
  const region = headers['x-amz-bucket-region'] ?? (root && textOf(root, 'Region')) ?? '';
  if (!/^[\w-]{1,64}$/.test(region) || region === used)
    return s3Code(response) === 'PermanentRedirect' ? s3Error(response) : undefined;
  const named = url.host.includes(used) ? used : undefined;
  return new ImgctlError('bad-answer', `the bucket is in the region ${region} (${status})`, {
    facts: { kind: 'region', region, used: named },
    status,
  });
}
