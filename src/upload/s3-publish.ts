// Makes an upload to S3 visible as an object, and finds out what is there then.

import { ImgctlError } from '../errors.ts';
import { isSuccess } from '../http/message.ts';
import { findObject, multipartTag, removeObject, type StoredObject } from './s3-bucket.ts';
import { type Completion, sendCompletion } from './s3-complete.ts';
import { DIGEST, plainTag } from './s3-responses.ts';
import { removeUploads, type SentUpload } from './s3-upload.ts';
import type { Published } from './storage.ts';
import { arrivedWrong, conflict, replacedError } from './storage-errors.ts';

/**
 * Completes the upload and looks at what is stored then:
 *
 *     completion     | stored object | without replace | with replace
 *     ---------------+---------------+-----------------+-----------------
 *     conflict       | there before  | conflict        | (cannot happen)
 *     refused        | (not read)    | refused         | refused
 *     completed      | (the table of `afterCompletion`)
 *     gone           | none          | refused: nothing is left that could become visible
 *     doubtful       | none          | throws its error
 *     gone, doubtful | same          | visible         | visible
 *     gone, doubtful | unknown       | conflict        | conflict
 *     gone, doubtful | different     | conflict        | throws its error
 */
export async function publishUpload(upload: SentUpload, replace: boolean): Promise<Published> {
  const { s3, name } = upload;
  const taken = replace ? undefined : await findTaken(upload);
  const completion = taken ?? (await sendCompletion(upload, replace));
  if (completion.kind === 'conflict' || completion.kind === 'refused') return completion;
  if (completion.kind === 'completed') return afterCompletion(upload, completion.sentTag, replace);
  const { kind, error } = completion;
  const object = await findObject(s3, name);
  if (!object && kind === 'gone') return { kind: 'refused', error };
  if (!object) throw error;
  const content = compareByTag(upload, object);
  if (content === 'same') return visible(object);
  if (content === 'different' && replace) throw error;
  return { kind: 'conflict', error: replacedError(name, s3.address, replace) };
}

/**
 * Looks at the object after a completion that succeeded:
 *
 *     stored object                       | without replace     | with replace
 *     ------------------------------------+---------------------+--------------------
 *     none                                | throws: missing     | throws: missing
 *     same                                | visible             | visible
 *     unknown                             | conflict            | conflict
 *     different, of this push             | refused: removed    | throws: removed
 *     of this push, and not removable     | throws: not removed | throws: not removed
 *     different, of another               | conflict            | throws: not removed
 *     different, of unknown owner         | throws: not removed | throws: not removed
 *
 * @param sentTag the ETag in the response to the completion
 */
async function afterCompletion(
  upload: SentUpload,
  sentTag: string | undefined,
  replace: boolean,
): Promise<Published> {
  const { s3, name, id, file } = upload;
  await removeUploads(s3, name, id);
  const object = await findObject(s3, name);
  if (!object) throw arrivedWrong(name, 'it is missing');
  const content = compareByTag(upload, object, sentTag);
  if (content === 'same') return visible(object);
  const ofAnother = { kind: 'conflict', error: replacedError(name, s3.address, replace) } as const;
  if (content === 'unknown') return ofAnother;
  const { size, etag, tag } = object;
  const flaw = size === file.size ? `its ETag is ${tag}` : `its size is ${size}`;
  const owner = ownerOf(object, sentTag);
  if (owner === 'this push' && (await removeObject(s3, name, etag).then(isSuccess, () => false))) {
    if (!replace) return { kind: 'refused', error: arrivedWrong(name, flaw) };
    throw arrivedWrong(name, `${flaw}; it was removed, and what it replaced is gone`);
  }
  if (owner === 'another' && !replace) return ofAnother;
  throw arrivedWrong(name, `${flaw}, and it was not removed`);
}

function ownerOf({ tag }: StoredObject, sentTag = ''): 'this push' | 'another' | 'unknown' {
  if (tag === '' || sentTag === '') return 'unknown';
  if (tag !== sentTag) return 'another';
  // An ETag that is no digest may be the same for all objects.
  return DIGEST.test(tag) ? 'this push' : 'unknown';
}

function visible(object: StoredObject): Published {
  return { kind: 'visible', stored: { ...object, isSettled: true } };
}

/** Returns a conflict if the name is taken, or a refusal if that is unknown. */
async function findTaken({ s3, name }: SentUpload): Promise<Completion | undefined> {
  try {
    const object = await findObject(s3, name);
    return object && { kind: 'conflict', error: conflict(name, s3.address) };
  } catch (error) {
    if (!(error instanceof ImgctlError)) throw error;
    return { kind: 'refused', error };
  }
}

/**
 * Compares the object with the file by size and ETag. If the file should have `4f1c…-2`, then
 * `4f1c…-2` is the same, `9e0a…-2` is different, and `9e0a…-3` (parts of another size) and `x7` (no
 * digest) say nothing.
 * @param sentTag the ETag in the response to the completion
 */
function compareByTag(
  upload: SentUpload,
  { size, tag }: StoredObject,
  sentTag?: string,
): 'same' | 'different' | 'unknown' {
  if (size !== upload.file.size) return 'different';
  const expected = expectedTag(upload, sentTag);
  if (tag === expected) return 'same';
  const [, count] = DIGEST.exec(tag) ?? [];
  const isComparable = expected !== undefined && count === `${upload.md5s.length}`;
  return isComparable ? 'different' : 'unknown';
}

function expectedTag(upload: SentUpload, sentTag = ''): string | undefined {
  const { etags, md5s, isEncrypted } = upload;
  const hasMd5 = md5s.every((md5, index) => plainTag(etags.get(index + 1)) === md5);
  if (hasMd5) return multipartTag(md5s);
  // Only the storage can make the digest of encrypted parts, and each object has another one.
  return isEncrypted && DIGEST.test(sentTag) ? sentTag : undefined;
}
