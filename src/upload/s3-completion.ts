// Completes an upload to S3, which joins its parts to a visible object, and finds out what the storage then has.

import { ImgctlError } from '../errors.ts';
import { TransportError } from '../http/errors.ts';
import { isSuccess } from '../http/message.ts';
import { escapeXml, textOf } from '../xml.ts';
import { REFUSALS, textBody } from './requests.ts';
import { findObject, multipartTag, removeObject, type S3Request } from './s3-bucket.ts';
import { DIGEST, plainTag, rootOf } from './s3-responses.ts';
import { abortUpload, removeUploads, type sendParts, uploadGone } from './s3-upload.ts';
import { arrivedWrong, conflict, LATE, replacedError, type StoredState } from './storage.ts';

/** Milliseconds: joining the parts of a large object takes some storages minutes. */
const COMPLETION = 600_000;

const NO_CONDITIONS =
  'the storage does not support If-None-Match: another machine may replace your upload';

type SentUpload = Readonly<Awaited<ReturnType<typeof sendParts>>>;
type StoredObject = NonNullable<Awaited<ReturnType<typeof findObject>>>;

/** What the response to a completion says. */
type Completion =
  /** With the ETag of the object, if the response has it. */
  | { readonly kind: 'joined'; readonly tag: string | undefined }
  /** Doubtful: the object may be there all the same, from this push or another one. */
  | { readonly kind: 'doubtful' | 'refused'; readonly failure: ImgctlError };

/**
 * Completes the upload and looks at what is stored then, which decides:
 *
 *     completion | stored object                | without replace | with replace
 *     -----------+------------------------------+-----------------+-------------------
 *     refused    | (not looked at)              | its failure     | its failure
 *     doubtful   | none                         | its failure     | its failure
 *     joined     | none                         | failed: missing | failed: missing
 *     any        | same as the file             | done            | done
 *     any        | only its content can tell    | conflict        | conflict
 *     doubtful   | different                    | conflict        | its failure
 *     joined     | different, of another push   | conflict        | failed: wrong ETag or size
 *     joined     | different, of this push      | failed, removed | failed, removed
 *
 * The ETag in the response tells whose object it is; without one, nothing is removed. After a conflict, the caller
 * compares the content: another push may have stored the same file.
 */
export async function completeUpload(
  upload: SentUpload,
  replace: boolean,
  onPerhapsVisible: () => void,
): Promise<StoredState> {
  const { s3, name, id } = upload;
  if (!replace) await requireAbsent(upload);
  const completion = await joinParts(upload, replace);
  if (completion.kind === 'refused') {
    // A later run would continue the upload, which would be refused again.
    if (completion.failure.code === 'bad-answer') await abortUpload(s3, name, id).catch(() => {});
    throw completion.failure;
  }
  onPerhapsVisible();
  const isJoined = completion.kind === 'joined';
  if (isJoined) await removeUploads(s3, name, id);
  const tag = isJoined ? completion.tag : undefined;
  const object = await findLate(upload, tag);
  if (!object) throw isJoined ? arrivedWrong(name, 'it is missing') : completion.failure;
  const content = contentOf(upload, object, tag);
  if (content === 'same') return { text: object.text, isProof: true };
  if (content === 'unknown') throw replacedError(name, s3.address, replace);
  if (!isJoined) throw replace ? completion.failure : conflict(name, s3.address);
  const isOfOther = tag !== undefined && object.tag !== '' && object.tag !== tag;
  if (isOfOther && !replace) throw conflict(name, s3.address);
  throw await removeDamaged(upload, object, tag);
}

async function requireAbsent({ s3, name }: SentUpload): Promise<void> {
  if (await findObject(s3, name)) throw conflict(name, s3.address);
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
  const isPlain = replace || s3.found.lacksConditions;
  try {
    const response = await (isPlain ? s3.send(request) : sendIfNew(upload, request));
    return { kind: 'joined', tag: plainTag(textOf(rootOf(response), 'ETag')) || undefined };
  } catch (error) {
    if (!(error instanceof ImgctlError)) throw error;
    return failedCompletion(error, name);
  }
}

function failedCompletion(failure: ImgctlError, name: string): Completion {
  // Another push stored an object of that name (412), is completing one (409), or removed the upload (404).
  if (failure.status === 412 || failure.status === 409) return { kind: 'doubtful', failure };
  if (failure.code === 'not-found') return { kind: 'doubtful', failure: uploadGone(name) };
  const isLost = failure instanceof TransportError ? failure.sent : failure.code === 'server-error';
  return { kind: isLost ? 'doubtful' : 'refused', failure };
}

function listOfParts({ etags, md5s }: SentUpload): string {
  const list = md5s.map((md5, index) => {
    const etag = escapeXml(etags.get(index + 1) || `"${md5}"`);
    return `<Part><PartNumber>${index + 1}</PartNumber><ETag>${etag}</ETag></Part>`;
  });
  return `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${list.join('')}</CompleteMultipartUpload>`;
}

/** Sends a request on the condition that it overwrites nothing, and again without if that may be why it is refused. */
async function sendIfNew(upload: SentUpload, request: S3Request) {
  const { s3 } = upload;
  const headers = { ...request.headers, 'if-none-match': '*' };
  const conditional = await s3.send({ ...request, headers });
  if (conditional.status !== 400 && conditional.status !== 501) return conditional;
  await requireAbsent(upload);
  const plain = await s3.send(request);
  // Refused without the condition too: it was not the reason, and the first refusal is shown.
  if (plain.status >= 400 && plain.status < 500) return conditional;
  if (isSuccess(plain)) {
    s3.found.lacksConditions = true;
    s3.onWarning(NO_CONDITIONS);
  }
  return plain;
}

/** Looks twice: a storage may show an object late, and an old one once more. */
async function findLate(upload: SentUpload, tag: string | undefined) {
  const { s3, name } = upload;
  const object = await findObject(s3, name);
  if (object && contentOf(upload, object, tag) !== 'different') return object;
  await s3.clock.sleep(LATE, s3.clock.signal);
  return findObject(s3, name);
}

/**
 * Compares the object with the file by size and ETag. If the file should have `4f1c…-2`: `4f1c…-2` is the same, `9e0a…-2`
 * is different, and `9e0a…-3` or `x7` say nothing: other sizes of parts, or no digest.
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

/** Removes the object if it is surely of this push: it has the ETag of the response. Returns what is wrong with it. */
async function removeDamaged(upload: SentUpload, { size, tag }: StoredObject, sentTag?: string) {
  const { s3, name, file } = upload;
  const isOwn = tag === sentTag && DIGEST.test(tag);
  const isRemoved = isOwn && (await removeObject(s3, name).then(isSuccess, () => false));
  const flaw = size === file.size ? `ETag is ${tag}` : `size is ${size}`;
  return arrivedWrong(name, `its ${flaw}${isRemoved ? '' : ', and it was not removed'}`);
}
