// Completes an upload to S3, which makes its parts an object, and finds out what is there then.

import { ImgctlError } from '../errors.ts';
import { TransportError } from '../http/errors.ts';
import { isSuccess } from '../http/message.ts';
import { escapeXml, textOf } from '../xml.ts';
import { REFUSALS, textBody } from './requests.ts';
import { findObject, multipartTag, removeObject, type S3Request } from './s3-bucket.ts';
import { DIGEST, plainTag, rootOf } from './s3-responses.ts';
import { abortUpload, removeUploads, type sendParts, uploadGone } from './s3-upload.ts';
import type { Published } from './storage.ts';
import { arrivedWrong, conflict, replacedError } from './storage-errors.ts';

/** Milliseconds: joining the parts of a large object takes some storages minutes. */
const COMPLETION = 600_000;

const NO_CONDITIONS =
  'the storage does not support If-None-Match: another machine may replace your upload';

type SentUpload = Readonly<Awaited<ReturnType<typeof sendParts>>>;
type StoredObject = NonNullable<Awaited<ReturnType<typeof findObject>>>;

type Unpublished = Exclude<Published, { kind: 'visible' }>;

/** What the response to a completion says. */
type Completion =
  /** With the ETag of the object, if the response has it. */
  | { readonly kind: 'joined'; readonly tag: string | undefined }
  /** The object may be there all the same, from this push or another one. */
  | { readonly kind: 'doubtful'; readonly error: ImgctlError }
  /** An object was there before, or the storage refuses the upload. */
  | Unpublished;

/**
 * Completes the upload and looks at what is stored then, which decides:
 *
 *     completion | stored object                | without replace  | with replace
 *     -----------+------------------------------+------------------+----------------------------
 *     conflict   | there before                 | conflict         | (not looked at)
 *     refused    | (not looked at)              | refused          | refused
 *     doubtful   | none, and no upload either   | refused          | refused
 *     doubtful   | none                         | throws its error | throws its error
 *     joined     | none                         | throws: missing  | throws: missing
 *     any        | same as the file             | visible          | visible
 *     any        | only its content can tell    | conflict         | conflict
 *     doubtful   | different                    | conflict         | throws its error
 *     joined     | different, of another push   | conflict         | throws: wrong ETag or size
 *     joined     | different, of this push      | refused, removed | refused, removed
 *
 * The ETag in the response tells whose object it is. Without an ETag, nothing is removed.
 */
export async function completeUpload(upload: SentUpload, replace: boolean): Promise<Published> {
  const { s3, name, id } = upload;
  const taken = replace ? undefined : await findTaken(upload);
  if (taken !== undefined) return taken;
  const completion = await joinParts(upload, replace);
  if (completion.kind === 'conflict') return completion;
  if (completion.kind === 'refused') {
    // A later run would continue the upload, which would be refused again.
    if (completion.error.code === 'bad-answer') await abortUpload(s3, name, id).catch(() => {});
    return completion;
  }
  const isJoined = completion.kind === 'joined';
  if (isJoined) await removeUploads(s3, name, id);
  const tag = isJoined ? completion.tag : undefined;
  const object = await findObject(s3, name);
  if (!object) {
    if (isJoined) throw arrivedWrong(name, 'it is missing');
    // `uploadGone`: nothing is left that could become visible later.
    if (completion.error.code === 'conflict') return { ...completion, kind: 'refused' };
    throw completion.error;
  }
  const content = contentOf(upload, object, tag);
  if (content === 'same')
    return { kind: 'visible', stored: { fingerprint: object.fingerprint, isReliable: true } };
  if (content === 'unknown')
    return { kind: 'conflict', error: replacedError(name, s3.address, replace) };
  const isOfOther = !isJoined || (tag !== undefined && object.tag !== '' && object.tag !== tag);
  if (isOfOther && !replace) return { kind: 'conflict', error: conflict(name, s3.address) };
  if (!isJoined) throw completion.error;
  return removeDamaged(upload, object, tag);
}

/** Returns how it ends if the name is taken, or if nobody knows; nothing was completed then. */
async function findTaken({ s3, name }: SentUpload): Promise<Unpublished | undefined> {
  try {
    const object = await findObject(s3, name);
    return object && { kind: 'conflict', error: conflict(name, s3.address) };
  } catch (error) {
    if (!(error instanceof ImgctlError)) throw error;
    return { kind: 'refused', error };
  }
}

async function joinParts(upload: SentUpload, replace: boolean): Promise<Completion> {
  const { s3, name, id } = upload;
  const request = {
    method: 'POST',
    name,
    query: { uploadId: id },
    headers: { 'content-type': 'application/xml' },
    body: textBody(listOfParts(upload)),
    patience: COMPLETION,
    refusals: [409, ...REFUSALS],
  };
  try {
    const response = await (replace ? s3.send(request) : sendIfNew(upload, request));
    return { kind: 'joined', tag: plainTag(textOf(rootOf(response), 'ETag')) || undefined };
  } catch (error) {
    // After an interrupt, nobody waits for the response.
    if (!(error instanceof ImgctlError) || s3.clock.signal.aborted) throw error;
    return failedCompletion(error, name);
  }
}

function failedCompletion(error: ImgctlError, name: string): Completion {
  if (error.code === 'conflict') return { kind: 'conflict', error };
  // Another push stored such an object (412), is completing one (409), or removed the upload (404).
  if (error.status === 412 || error.status === 409) return { kind: 'doubtful', error };
  if (error.code === 'not-found') return { kind: 'doubtful', error: uploadGone(name) };
  const isLost = error instanceof TransportError ? error.sent : error.code === 'server-error';
  return { kind: isLost ? 'doubtful' : 'refused', error };
}

function listOfParts({ etags, md5s }: SentUpload): string {
  const list = md5s.map((md5, index) => {
    const etag = escapeXml(etags.get(index + 1) || `"${md5}"`);
    return `<Part><PartNumber>${index + 1}</PartNumber><ETag>${etag}</ETag></Part>`;
  });
  return `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${list.join('')}</CompleteMultipartUpload>`;
}

/** Sends a completion that overwrites nothing. @throws ImgctlError conflict: the name is taken */
async function sendIfNew({ s3, name }: SentUpload, request: S3Request) {
  if (s3.found.lacksConditions) return s3.send(request);
  const headers = { ...request.headers, 'if-none-match': '*' };
  const conditional = await s3.send({ ...request, headers });
  if (conditional.status !== 400 && conditional.status !== 501) return conditional;
  if (await findObject(s3, name)) throw conflict(name, s3.address);
  const plain = await s3.send(request);
  // Refused without the condition too: it was not the reason, and the first refusal is shown.
  if (plain.status >= 400 && plain.status < 500) return conditional;
  if (isSuccess(plain)) {
    s3.found.lacksConditions = true;
    s3.onWarning(NO_CONDITIONS);
  }
  return plain;
}

/**
 * Compares the object with the file by size and ETag. If the file should have `4f1c…-2`, then
 * `4f1c…-2` is the same, `9e0a…-2` is different, and `9e0a…-3` (parts of another size) and `x7` (no
 * digest) say nothing.
 * @param sentTag the ETag in the response to the completion
 */
function contentOf(upload: SentUpload, { size, tag }: StoredObject, sentTag: string | undefined) {
  if (size !== upload.file.size) return 'different';
  const expected = expectedTag(upload, sentTag);
  if (tag === expected) return 'same';
  const [, count] = DIGEST.exec(tag) ?? [];
  const isComparable = expected !== undefined && count === `${upload.md5s.length}`;
  return isComparable ? 'different' : 'unknown';
}

function expectedTag({ etags, md5s, isEncrypted }: SentUpload, sentTag: string | undefined) {
  const hasMd5 = md5s.every((md5, index) => plainTag(etags.get(index + 1)) === md5);
  if (hasMd5) return multipartTag(md5s);
  // Only the storage can make its ETag, so only another object would have another one.
  return isEncrypted ? sentTag : undefined;
}

/** Removes the object if it is of this push: it has the ETag of the response. @throws otherwise */
async function removeDamaged(
  upload: SentUpload,
  { size, tag }: StoredObject,
  sentTag: string | undefined,
): Promise<Published> {
  const { s3, name, file } = upload;
  const isOwn = tag === sentTag && DIGEST.test(tag);
  const isRemoved = isOwn && (await removeObject(s3, name).then(isSuccess, () => false));
  const flaw = size === file.size ? `its ETag is ${tag}` : `its size is ${size}`;
  if (!isRemoved) throw arrivedWrong(name, `${flaw}, and it was not removed`);
  return { kind: 'refused', error: arrivedWrong(name, flaw) };
}
