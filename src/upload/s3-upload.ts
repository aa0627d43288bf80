// An unfinished upload to S3: continues one or starts one, and sends the parts that are missing.

import { hasCode, ImgctlError } from '../errors.ts';
import { isDigits } from '../words.ts';
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

/** An upload that this push or an earlier one has started. */
interface Upload {
  readonly s3: S3;
  readonly name: string;
  readonly id: string;
  readonly file: UploadSource;
  /** The ETags of the parts that the storage has, as it sent them, by number from 1. */
  readonly etags: ReadonlyMap<number, string>;
}

/** An upload with all of its parts. */
export interface SentUpload extends Upload {
  /** The MD5 of each part, in hexadecimal. */
  readonly md5s: readonly string[];
  /** True if a key of KMS or of the customer encrypts a part: then ETags are not digests. */
  readonly isEncrypted: boolean;
}

/** Continues an upload of this file that was interrupted, or starts one. */
export async function openUpload(s3: S3, name: string, file: UploadSource): Promise<Upload> {
  const ids = await ifListed(listUploads(s3, name), []);
  for (const id of ids.slice(-MAX_UPLOADS)) {
    const started = { s3, name, id, file };
    const upload = { ...started, etags: await ifListed(readParts(started), new Map()) };
    // Its other parts may still be under way, from another machine: they are the same.
    if (upload.etags.size > 0 && (await hasPartsOfFile(upload))) return upload;
  }
  return { s3, name, id: await startUpload(s3, name), file, etags: new Map() };
}

/** Returns the ETags of the parts by number; none if the list makes no sense for this file. */
async function readParts({ s3, name, id, file }: Omit<Upload, 'etags'>) {
  const request = { name, query: { uploadId: id } };
  const maxNumber = Math.max(1, Math.ceil(file.size / partSizeOf(s3, file)));
  const etags = new Map<number, string>();
  for await (const { PartNumber = '', ETag = '' } of listItems(s3, 'Part', request)) {
    const number = isDigits(PartNumber) ? Number(PartNumber) : 0;
    if (number < 1 || number > maxNumber) return new Map<number, string>();
    etags.set(number, ETag);
  }
  return etags;
}

/**
 * Returns the list, or `otherwise` if the storage has none: it may lack or refuse lists, the upload
 * may be gone, or the list makes no sense. Then a new upload starts.
 */
async function ifListed<List>(listing: Promise<List>, otherwise: List): Promise<List> {
  const codes = ['bad-answer', 'not-found', 'not-permitted', 'server-error'] as const;
  return listing.catch((error: unknown) => {
    if (hasCode(error, ...codes)) return otherwise;
    throw error;
  });
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
  const uploads = listItems(s3, 'Upload', { query });
  for await (const { Key, UploadId } of uploads) if (Key === key && UploadId) ids.push(UploadId);
  return ids;
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
 */
export async function sendParts(upload: Upload, onProgress: OnBytes): Promise<SentUpload> {
  const { s3, file } = upload;
  const etags = new Map(upload.etags);
  const md5s: string[] = [];
  let hasEncrypted = false;
  let total = 0;
  const addBytes = (bytes: number) => {
    total += bytes;
    onProgress(total);
  };
  for (const number of etags.keys()) total += rangeOf(upload, number).length;
  onProgress(total);
  /** The parts under way, and those that failed: the next race, or the end, throws their error. */
  const sending = new Set<Promise<void>>();
  try {
    for await (const md5 of md5sOf(file.readAll(), partSizeOf(s3, file))) {
      md5s.push(md5);
      const number = md5s.length;
      if (plainTag(etags.get(number)) === md5) continue;
      if (sending.size >= s3.parallel) await Promise.race(sending);
      const done = sendPart(upload, number, md5, addBytes).then((part) => {
        etags.set(number, part.etag);
        hasEncrypted ||= part.isEncrypted;
        sending.delete(done);
      });
      done.catch(() => {});
      sending.add(done);
    }
    await Promise.all(sending);
  } finally {
    await Promise.allSettled(sending);
  }
  return { ...upload, etags, md5s, isEncrypted: hasEncrypted };
}

/**
 * Sends a part, and checks its ETag if that is a digest.
 * @param addBytes receives how many more bytes are under way; negative if a part starts again
 */
async function sendPart(upload: Upload, number: number, md5: string, addBytes: OnBytes) {
  const { s3, name, id, file } = upload;
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
  const tag = plainTag(etag);
  const part = { etag, isEncrypted: isEncrypted(response) };
  if (tag !== md5 && DIGEST.test(tag) && !part.isEncrypted)
    throw arrivedWrong(name, `part ${number} has the wrong ETag`);
  return part;
}

/** Returns where a part is in the file, in bytes. @param number from 1 */
function rangeOf({ s3, file }: Upload, number: number) {
  const partSize = partSizeOf(s3, file);
  const start = (number - 1) * partSize;
  const end = Math.min(start + partSize, file.size);
  return { start, end, length: end - start };
}

/** Removes an upload, if the storage removes uploads: s3rver and others do not. */
export async function abortUpload(s3: S3, name: string, uploadId: string): Promise<void> {
  await s3.send({ method: 'DELETE', name, query: { uploadId }, idempotent: true });
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
