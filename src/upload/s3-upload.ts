// An upload to S3: its parts, which become visible as a whole when it is completed.

import { hasCode, ImgctlError } from '../errors.ts';
import { TransportError } from '../http/errors.ts';
import { isSuccess } from '../http/message.ts';
import { escapeXml, textOf } from '../xml.ts';
import { REFUSALS, streamBody, textBody } from './requests.ts';
import {
  digestsOf,
  ENCODED,
  findStored,
  listItems,
  multipartTag,
  partSizeOf,
  removeObject,
  type S3,
  type S3Request,
} from './s3-bucket.ts';
import {
  DIGEST,
  isEncrypted,
  notS3,
  plainTag,
  requireS3Success,
  rootOf,
  s3Code,
} from './s3-responses.ts';
import { arrivedWrong, conflict, type OnBytes, replacedError } from './storage.ts';
import { SETTLED, type UploadSource } from './upload-file.ts';

/** Milliseconds: joining the parts of a large object takes some storages minutes. */
const COMPLETION = 600_000;
/** Milliseconds in which an upload that was just removed may still complete. */
const SETTLING = 2_000;
/** Maximum number of unfinished uploads of a file to compare, the last ones. */
const MAX_UPLOADS = 20;

/** Codes of errors after which an upload is aborted: its parts would be of no use. */
const ABORT_CODES = ['invalid-package', 'storage-full', 'conflict', 'failed'] as const;

const NO_CONDITIONS =
  'the storage does not support If-None-Match: another machine may replace your upload';

interface Upload {
  readonly s3: S3;
  readonly name: string;
  readonly id: string;
  readonly file: UploadSource;
  /** Bytes of each part but the last. */
  readonly partSize: number;
  /** The ETags of the parts that the storage has, as it sent them, by number from 1. */
  readonly tags: Map<number, string>;
  /** The storage encrypts with keys of its own, so that ETags are no digests. */
  isEncrypted: boolean;
}

type S3Object = NonNullable<Awaited<ReturnType<typeof findStored>>>;

export async function put(s3: S3, name: string, file: UploadSource, onProgress: OnBytes) {
  const upload = (await findUpload(s3, name, file)) ?? (await startUpload(s3, name, file));
  const discard = async (error: unknown) => {
    if (hasCode(error, ...ABORT_CODES)) await abort(s3, name, upload.id);
  };
  try {
    const parts = await sendParts(upload, onProgress);
    return { publish: (replace: boolean) => finishUpload(upload, parts, replace), discard };
  } catch (error) {
    await discard(error).catch(() => {});
    throw error;
  }
}

/** Returns an upload whose parts are parts of the file: another machine may be writing the others. */
async function findUpload(s3: S3, name: string, file: UploadSource): Promise<Upload | undefined> {
  const partSize = partSizeOf(s3, file);
  for (const id of await listUploads(s3, name)) {
    const upload = { s3, name, id, file, partSize, tags: new Map(), isEncrypted: false };
    const isReadable = await readParts(upload).catch((error: unknown) => {
      if (hasCode(error, 'bad-answer')) return false;
      throw error;
    });
    if (isReadable && (await hasOwnParts(upload))) return upload;
  }
  return undefined;
}

/** Fills the tags of the upload. Returns false if it has other parts than the file can have. */
async function readParts({ s3, name, id, file, partSize, tags }: Upload): Promise<boolean> {
  const markers = { 'part-number-marker': 'NextPartNumberMarker' };
  const request = { name, query: { uploadId: id, 'part-number-marker': '0' } };
  const count = Math.max(1, Math.ceil(file.size / partSize));
  // The upload was completed or removed meanwhile, belongs to another user, or the storage lists no parts.
  for await (const textIn of listItems(s3, 'Part', request, markers, [403, 404, 405, 501])) {
    const text = textIn('PartNumber');
    const number = /^\d{1,5}$/.test(text) ? Number(text) : 0;
    if (number < 1 || number > count) return false;
    tags.set(number, textIn('ETag'));
  }
  return tags.size > 0;
}

async function hasOwnParts(upload: Upload): Promise<boolean> {
  for (const [number, tag] of upload.tags) {
    const { start, end } = rangeOf(upload, number);
    for await (const md5 of digestsOf(upload.file.read(start, end)))
      if (md5 !== plainTag(tag)) return false;
  }
  return true;
}

async function listUploads(s3: S3, name: string): Promise<string[]> {
  const key = `${s3.prefix}${name}`;
  const query = { uploads: '', prefix: key, ...ENCODED };
  const markers = { 'key-marker': 'NextKeyMarker', 'upload-id-marker': 'NextUploadIdMarker' };
  const ids: string[] = [];
  // Without permission to list uploads, none is continued.
  for await (const textIn of listItems(s3, 'Upload', { query }, markers, [403, 405, 501]))
    if (textIn('Key') === key) ids.push(textIn('UploadId'));
  return ids.filter((id) => id !== '').slice(-MAX_UPLOADS);
}

async function startUpload(s3: S3, name: string, file: UploadSource): Promise<Upload> {
  const response = await s3.send({
    method: 'POST',
    name,
    query: { uploads: '' },
    // An upload whose response is lost is removed at the end.
    idempotent: true,
  });
  const id = textOf(rootOf(response), 'UploadId') || notS3(response);
  const partSize = partSizeOf(s3, file);
  return { s3, name, id, file, partSize, tags: new Map(), isEncrypted: false };
}

async function abort(s3: S3, name: string, uploadId: string): Promise<void> {
  const response = await s3.send({ method: 'DELETE', name, query: { uploadId }, idempotent: true });
  // s3rver and others remove no uploads.
  if (![404, 405, 501].includes(response.status)) requireS3Success(response);
}

/** Reads the file for the digests of its parts, which it returns, and then again to send those that are missing. */
async function sendParts(upload: Upload, onProgress: OnBytes): Promise<string[]> {
  const { s3, file, partSize, tags } = upload;
  const parts: string[] = [];
  const sending = new Set<Promise<void>>();
  let total = 0;
  const count = (bytes: number) => {
    total += bytes;
    onProgress(total);
  };
  for (const number of tags.keys()) total += rangeOf(upload, number).length;
  onProgress(total);
  try {
    for await (const md5 of digestsOf(file.readAll(), partSize)) {
      const number = parts.push(md5);
      if (plainTag(tags.get(number)) === md5) continue;
      if (sending.size >= s3.parallel) await Promise.race(sending);
      const part = sendPart(upload, number, md5, count).then(() => void sending.delete(part));
      // A part that failed stays, and ends the next wait.
      part.catch(() => {});
      sending.add(part);
    }
    await Promise.all(sending);
  } finally {
    await Promise.allSettled(sending);
  }
  return parts;
}

/** @param count receives by how many more bytes are under way, negative if the part is sent again */
async function sendPart(upload: Upload, number: number, md5: string, count: OnBytes) {
  const { s3, name, id, file, tags } = upload;
  const { start, end, length } = rangeOf(upload, number);
  let counted = 0;
  const onBytes = (bytes: number) => {
    count(bytes - counted);
    counted = bytes;
  };
  const body = streamBody(length, () => s3.limit(file.read(start, end)), onBytes);
  const query = { partNumber: `${number}`, uploadId: id };
  const headers = { 'content-md5': Buffer.from(md5, 'hex').toString('base64') };
  const response = await s3.send({ method: 'PUT', name, query, headers, body, idempotent: true });
  if (s3Code(response) === 'NoSuchUpload') throw uploadGone(name);
  const { etag = '' } = requireS3Success(response).headers;
  const tag = plainTag(etag);
  upload.isEncrypted ||= isEncrypted(response);
  if (tag !== md5 && !upload.isEncrypted && DIGEST.test(tag)) {
    throw arrivedWrong(name, `part ${number} has the wrong ETag`);
  }
  tags.set(number, etag);
}

/** @throws ImgctlError conflict: also if only its content can tell whether it is this file */
async function finishUpload(upload: Upload, parts: readonly string[], replace: boolean) {
  const { s3, name } = upload;
  const requireAbsent = async () => {
    if (!replace && (await findStored(s3, name))) throw conflict(name, s3.address);
  };
  await requireAbsent();
  const { ownTag, failure } = await joinParts(upload, parts, replace, requireAbsent);
  const stored = await findLate(s3, name);
  if (!stored) throw failure ?? arrivedWrong(name, 'it is missing');
  const verdict = judge(upload, parts, stored, ownTag);
  if (verdict === 'ours') return { text: stored.text, isProof: true };
  if (verdict === 'unknown') throw replacedError(name, s3.address, replace);
  if ((verdict === 'other' || failure) && !replace) throw conflict(name, s3.address);
  throw failure ?? (await removeDamaged(upload, stored, ownTag));
}

/** Says if the stored object is this file; `unknown` if only its content can tell, `other` if another push stored it. */
function judge(upload: Upload, parts: readonly string[], { size, tag }: S3Object, ownTag?: string) {
  const expected = expectedTag(upload, parts, ownTag);
  if (size === upload.file.size) {
    if (tag === expected) return 'ours';
    const [, partCount] = DIGEST.exec(tag) ?? [];
    // An ETag of another form says nothing.
    if (expected === undefined || partCount !== `${parts.length}`) return 'unknown';
  }
  return ownTag && tag && tag !== ownTag ? 'other' : 'damaged';
}

/** Removes the object if it is surely ours: it has the ETag that the storage gave it. @returns what is wrong with it */
async function removeDamaged({ s3, name, file }: Upload, { size, tag }: S3Object, ownTag?: string) {
  const isOwn = tag === ownTag && DIGEST.test(tag);
  const isRemoved = isOwn && (await removeObject(s3, name).then(isSuccess, () => false));
  const flaw = size === file.size ? `ETag is ${tag}` : `size is ${size}`;
  return arrivedWrong(name, `its ${flaw}${isRemoved ? '' : ', and it was not removed'}`);
}

/** Looks twice: a storage may show an object late. */
async function findLate(s3: S3, name: string) {
  const stored = await findStored(s3, name);
  if (stored) return stored;
  await s3.clock.sleep(SETTLED, s3.clock.signal);
  return findStored(s3, name);
}

/** With keys of the storage's own, ETags are no MD5: then only the response has that of the object. */
function expectedTag({ tags, isEncrypted }: Upload, parts: readonly string[], ownTag?: string) {
  const hasMd5 = parts.every((md5, index) => plainTag(tags.get(index + 1)) === md5);
  if (hasMd5) return multipartTag(parts);
  return isEncrypted ? ownTag : undefined;
}

/**
 * Returns the ETag of the object, or a failure after which it may be there: what is stored says whether it is.
 * @param requireAbsent called again before it is overwritten by a storage without conditions
 */
async function joinParts(
  upload: Upload,
  parts: readonly string[],
  replace: boolean,
  requireAbsent: () => Promise<void>,
) {
  const { s3, name, id } = upload;
  const request = {
    method: 'POST',
    name,
    query: { uploadId: id },
    headers: { 'content-type': 'application/xml' },
    body: textBody(listOfParts(upload, parts)),
    patience: COMPLETION,
    refusals: [409, ...REFUSALS],
  };
  try {
    const response = await (replace ? s3.send(request) : sendIfNew(s3, request, requireAbsent));
    const ownTag = plainTag(textOf(rootOf(response), 'ETag')) || undefined;
    await removeOtherUploads(s3, name, id);
    return { ownTag };
  } catch (error) {
    return { failure: await doubtfulFailure(upload, error) };
  }
}

function listOfParts({ tags }: Upload, parts: readonly string[]): string {
  const list = parts.map((md5, index) => {
    const tag = escapeXml(tags.get(index + 1) || `"${md5}"`);
    return `<Part><PartNumber>${index + 1}</PartNumber><ETag>${tag}</ETag></Part>`;
  });
  return `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${list.join('')}</CompleteMultipartUpload>`;
}

/** Returns the failure if the object may be there. @throws any other error */
async function doubtfulFailure({ s3, name, id }: Upload, error: unknown): Promise<ImgctlError> {
  if (!(error instanceof ImgctlError)) throw error;
  if (error.status === 412 || error.status === 409) return error;
  // A later run would continue the upload, which would be refused again.
  if (error.code === 'bad-answer') await abort(s3, name, id).catch(() => {});
  if (error.code === 'not-found') return uploadGone(name);
  const isLost = error instanceof TransportError ? error.sent : error.code === 'server-error';
  if (isLost) return error;
  throw error;
}

/**
 * Sends a request on the condition that it overwrites nothing, and again without it if the storage may not know
 * conditions. A refusal that stays has another reason, and is the response.
 */
async function sendIfNew(s3: S3, request: S3Request, requireAbsent: () => Promise<void>) {
  if (s3.found.lacksConditions) return s3.send(request);
  const headers = { ...request.headers, 'if-none-match': '*' };
  const response = await s3.send({ ...request, headers });
  if (response.status !== 400 && response.status !== 501) return response;
  await requireAbsent();
  const next = await s3.send(request);
  if (next.status >= 400 && next.status < 500) return response;
  if (isSuccess(next)) {
    s3.found.lacksConditions = true;
    s3.onWarning(NO_CONDITIONS);
  }
  return next;
}

/** Removes the other unfinished uploads of a file. A push that one of them belongs to ends with a conflict. */
async function removeOtherUploads(s3: S3, name: string, id: string): Promise<void> {
  const others = (await listUploads(s3, name).catch(() => [])).filter((each) => each !== id);
  for (const other of others) await abort(s3, name, other).catch(() => {});
  // If one of them was being completed, and the storage ignores If-None-Match, that shows afterwards.
  if (others.length > 0) await s3.clock.sleep(SETTLING, s3.clock.signal);
}

/** Returns the bytes of a part. @param number from 1 */
function rangeOf({ file, partSize }: Upload, number: number) {
  const start = (number - 1) * partSize;
  const end = Math.min(start + partSize, file.size);
  return { start, end, length: end - start };
}

function uploadGone(name: string): ImgctlError {
  const message = `another push removed the upload of ${name}`;
  return new ImgctlError('conflict', message, { facts: 'run the command again' });
}
