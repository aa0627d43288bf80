// An unfinished upload to S3: continues one or starts one, and sends the parts that are missing.

import { hasCode, ImgctlError } from '../errors.ts';
import { textOf } from '../xml.ts';
import { streamBody } from './requests.ts';
import { ENCODED, listItems, md5Of, md5sOf, partSizeOf, type S3 } from './s3-bucket.ts';
import {
  DIGEST,
  isEncrypted,
  notS3,
  plainTag,
  requireS3Success,
  rootOf,
  s3Code,
} from './s3-responses.ts';
import type { OnBytes } from './storage.ts';
import { arrivedWrong } from './storage-errors.ts';
import type { UploadSource } from './upload-file.ts';

/** Milliseconds in which an upload that was just removed may still complete. */
const SETTLING = 2_000;
/** Maximum number of unfinished uploads of a file to compare, the last ones. */
const MAX_UPLOADS = 20;

interface Upload {
  readonly s3: S3;
  readonly name: string;
  readonly id: string;
  readonly file: UploadSource;
  /** The ETags of the parts that the storage has, as it sent them, by number from 1. */
  readonly etags: Map<number, string>;
  /** True once the storage has encrypted a part with keys of its own: then ETags are no digests. */
  isEncrypted: boolean;
}

/** Continues an upload of this file that was interrupted, or starts one. */
export async function openUpload(s3: S3, name: string, file: UploadSource): Promise<Upload> {
  const ids = await listUploads(s3, name);
  for (const id of ids.slice(-MAX_UPLOADS)) {
    const etags = await readParts(s3, name, id, file);
    const upload = { s3, name, id, file, etags, isEncrypted: false };
    // Its other parts may still be under way, from another machine: they are the same.
    if (etags.size > 0 && (await hasPartsOfFile(upload))) return upload;
  }
  const id = await startUpload(s3, name);
  return { s3, name, id, file, etags: new Map(), isEncrypted: false };
}

/** Returns the ETags of the parts by number; none if the list makes no sense for this file. */
async function readParts(s3: S3, name: string, id: string, file: UploadSource) {
  const request = { name, query: { uploadId: id, 'part-number-marker': '0' } };
  const maxNumber = Math.max(1, Math.ceil(file.size / partSizeOf(s3, file)));
  const etags = new Map<number, string>();
  try {
    // The upload is gone or of another user, or the storage lists no parts.
    for await (const textIn of listItems(s3, 'Part', request, [403, 404, 405, 501])) {
      const text = textIn('PartNumber');
      const number = /^\d{1,5}$/.test(text) ? Number(text) : 0;
      if (number < 1 || number > maxNumber) return new Map<number, string>();
      etags.set(number, textIn('ETag'));
    }
  } catch (error) {
    if (!hasCode(error, 'bad-answer')) throw error;
    return new Map<number, string>();
  }
  return etags;
}

async function hasPartsOfFile(upload: Upload): Promise<boolean> {
  for (const [number, etag] of upload.etags) {
    const { start, end } = rangeOf(upload, number);
    if ((await md5Of(upload.file.read(start, end))) !== plainTag(etag)) return false;
  }
  return true;
}

/** Returns the ids of the unfinished uploads to a name. */
async function listUploads(s3: S3, name: string): Promise<string[]> {
  const key = `${s3.prefix}${name}`;
  const query = { uploads: '', prefix: key, ...ENCODED };
  const ids: string[] = [];
  // Without permission to list uploads, none is continued.
  for await (const textIn of listItems(s3, 'Upload', { query }, [403, 405, 501]))
    if (textIn('Key') === key) ids.push(textIn('UploadId'));
  return ids.filter((id) => id !== '');
}

async function startUpload(s3: S3, name: string): Promise<string> {
  const query = { uploads: '' };
  // Repeated if the response is lost: `removeUploads` removes the first upload then.
  const response = await s3.send({ method: 'POST', name, query, idempotent: true });
  return textOf(rootOf(response), 'UploadId') || notS3(response);
}

/**
 * Sends the parts that the storage lacks. The file is read for the digests of all parts, and once
 * more for each part that is sent.
 * Returns the upload as it is then, with the MD5 of each part in hexadecimal.
 */
export async function sendParts(upload: Upload, onProgress: OnBytes) {
  const { s3, file, etags } = upload;
  const md5s: string[] = [];
  const sending = new Set<Promise<void>>();
  let total = 0;
  for (const number of etags.keys()) total += rangeOf(upload, number).length;
  onProgress(total);
  const addBytes = (bytes: number) => {
    total += bytes;
    onProgress(total);
  };
  try {
    for await (const md5 of md5sOf(file.readAll(), partSizeOf(s3, file))) {
      md5s.push(md5);
      const number = md5s.length;
      if (plainTag(etags.get(number)) === md5) continue;
      if (sending.size >= s3.parallel) await Promise.race(sending);
      const part = sendPart(upload, number, md5, addBytes).then(() => void sending.delete(part));
      // A part that fails is not deleted, so that the next race or the end throws its error.
      part.catch(() => {});
      sending.add(part);
    }
    await Promise.all(sending);
  } finally {
    await Promise.allSettled(sending);
  }
  return { ...upload, md5s };
}

/** @param addBytes receives how many more bytes are under way; negative if a part starts again */
async function sendPart(upload: Upload, number: number, md5: string, addBytes: OnBytes) {
  const { s3, name, id, file, etags } = upload;
  const { start, end, length } = rangeOf(upload, number);
  let position = 0;
  const onBytes = (bytes: number) => {
    addBytes(bytes - position);
    position = bytes;
  };
  const body = streamBody(length, () => s3.limit(file.read(start, end)), onBytes);
  const query = { partNumber: `${number}`, uploadId: id };
  const headers = { 'content-md5': Buffer.from(md5, 'hex').toString('base64') };
  const response = await s3.send({ method: 'PUT', name, query, headers, body, idempotent: true });
  if (s3Code(response) === 'NoSuchUpload') throw uploadGone(name);
  const { etag = '' } = requireS3Success(response).headers;
  upload.isEncrypted ||= isEncrypted(response);
  const tag = plainTag(etag);
  if (tag !== md5 && !upload.isEncrypted && DIGEST.test(tag))
    throw arrivedWrong(name, `part ${number} has the wrong ETag`);
  etags.set(number, etag);
}

/** Returns where a part is in the file, in bytes. @param number from 1 */
function rangeOf({ s3, file }: Upload, number: number) {
  const partSize = partSizeOf(s3, file);
  const start = (number - 1) * partSize;
  const end = Math.min(start + partSize, file.size);
  return { start, end, length: end - start };
}

export async function abortUpload(s3: S3, name: string, uploadId: string): Promise<void> {
  const response = await s3.send({ method: 'DELETE', name, query: { uploadId }, idempotent: true });
  // s3rver and others remove no uploads.
  if (![404, 405, 501].includes(response.status)) requireS3Success(response);
}

/** Removes the unfinished uploads of a name. Pushes that they belong to end with a conflict. */
export async function removeUploads(s3: S3, name: string, exceptId?: string): Promise<void> {
  const ids = await listUploads(s3, name).catch(() => []);
  const others = ids.filter((id) => id !== exceptId);
  if (others.length === 0) return;
  for (const id of others) await abortUpload(s3, name, id).catch(() => {});
  // One that was being completed may still replace the object, which the caller then sees.
  await s3.clock.sleep(SETTLING, s3.clock.signal);
}

export function uploadGone(name: string): ImgctlError {
  const message = `another push removed the upload of ${name}`;
  return new ImgctlError('conflict', message, { facts: 'run the command again' });
}
