// What the responses of an S3 storage mean: their XML, errors and ETags.

import { ImgctlError } from '../errors.ts';
import type { HttpResponse } from '../http/message.ts';
import { isSuccess } from '../http/retry.ts';
import { textOf, type XmlElement } from '../ovf/xml.ts';
import { CHECK_URL, storageError, xmlOf } from './requests.ts';

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

export function notS3({ url }: HttpResponse): never {
  const message = `${url.host} is not an S3 storage`;
  throw new ImgctlError('bad-answer', message, { hint: CHECK_URL });
}

export function plainTag(etag = ''): string {
  return etag.replace(/^W\/|"/g, '').toLowerCase();
}

export function isEncrypted({ headers }: HttpResponse): boolean {
  const kind = headers['x-amz-server-side-encryption'] ?? '';
  return kind.includes('kms') || 'x-amz-server-side-encryption-customer-algorithm' in headers;
}

/** Returns S3's own code of an error, or an empty text. */
export function s3Code(response: HttpResponse): string {
  const root = xmlOf(response);
  return root?.name === 'Error' ? (textOf(root, 'Code') ?? '') : '';
}

/** The status to report an error of S3 as, by its code. */
const MEANINGS: readonly (readonly [RegExp, number])[] = [
  [/^(InvalidAccessKeyId|SignatureDoesNotMatch)$/, 401],
  [/^EntityTooLarge$/, 413],
  [/^NotImplemented$/, 400],
  [/Quota|StorageFull|InsufficientStorage/i, 507],
];

const HINTS: Readonly<Record<string, string>> = {
  BadDigest:
    'run the command again: the file changed while it was uploaded, or the network broke it',
  NotImplemented:
    'use a storage that supports CRC-32 checksums and If-None-Match; --on-conflict replace does without the second',
  RequestTimeTooSkewed: 'set the clock of this machine, then run the command again',
  AuthorizationHeaderMalformed: 'check the region: imgctl config set upload-region REGION',
};

/** Returns the error of a response that is no success. */
export function s3Error(response: HttpResponse): ImgctlError {
  const root = xmlOf(response);
  const code = s3Code(response);
  const message = root && textOf(root, 'Message');
  const detail = code === '' ? '' : [code, message].filter(Boolean).join(': ').slice(0, 200);
  const known = MEANINGS.find(([pattern]) => pattern.test(code));
  // The status of an error that came with 200 says nothing.
  const meaning = known?.[1] ?? (response.status === 200 ? 500 : response.status);
  const error = storageError(response, detail, meaning);
  return Object.hasOwn(HINTS, code) ? error.with({ hint: HINTS[code] }) : error;
}
