// Makes a part visible in a WebDAV storage, and finds out what the server has then.

import { type Dav, findFile, propfind } from './dav-folder.ts';
import { movePart } from './dav-move.ts';
import { isPartOf } from './part-names.ts';
import type { Published } from './storage.ts';
import { arrivedWrong, replacedError } from './storage-errors.ts';

/** Milliseconds in which another push may still move its file over this one. */
const RIVAL_PAUSE = 2_000;

/** A part that arrived as a whole. */
interface ArrivedPart {
  readonly part: string;
  /** The name of its file. */
  readonly name: string;
  readonly size: number;
  /** The ETag that the server showed for the part. */
  readonly tag: string;
}

/**
 * Moves the part to its name, then looks for both. If the part is still there:
 *
 *     MOVE                         | result
 *     -----------------------------+-------------------------------------
 *     conflict, refused            | the same: the part is not looked for
 *     may-be-moved                 | refused
 *     may-still-move               | throws its error
 *     moved                        | throws: not renamed
 *
 * If the part is gone, after moved, may-be-moved or may-still-move:
 *
 *     MOVE                         | file of that name | result
 *     -----------------------------+-------------------+---------------------------------------
 *     any                          | none              | throws: it is gone
 *     any                          | another size      | conflict
 *     any                          | another ETag      | conflict: a move may change an ETag
 *     any                          | same ETag         | visible
 *     moved                        | no ETags          | visible
 *     may-be-moved, may-still-move | no ETags          | visible; with replace a conflict, as it
 *                                  |                   | may be the old file
 */
export async function publishPart(
  dav: Dav,
  arrived: ArrivedPart,
  replace: boolean,
): Promise<Published> {
  const { part, name, size, tag } = arrived;
  const move = await movePart(dav, arrived, replace);
  if (move.kind === 'conflict' || move.kind === 'refused') return move;
  if (await findFile(dav, part)) {
    if (move.kind === 'may-be-moved') return { kind: 'refused', error: move.error };
    if (move.kind === 'may-still-move') throw move.error;
    throw arrivedWrong(name, `${dav.address} did not rename its part`);
  }
  // Servers check and move in two steps: another push may still move its file over this one.
  if (!replace && (await mayHaveRival(dav, name)))
    await dav.clock.sleep(RIVAL_PAUSE, dav.clock.signal);
  const file = await findFile(dav, name);
  if (!file) throw arrivedWrong(name, 'it is gone');
  const isOther = file.size !== size || file.tag !== tag;
  // The part may have been removed instead of moved.
  const mayBeOld = replace && move.kind !== 'moved' && file.tag === '';
  if (isOther || mayBeOld)
    return { kind: 'conflict', error: replacedError(name, dav.address, replace) };
  dav.unfinished.delete(part);
  // No proof, since only the size was checked: the next push compares the content.
  return { kind: 'visible', stored: { ...file, isSettled: false } };
}

/** True if another push uploads a file of that name, or if the folder cannot be listed. */
async function mayHaveRival(dav: Dav, name: string): Promise<boolean> {
  const files = await propfind(dav, dav.folder, 1).catch(() => undefined);
  return files?.some((file) => isPartOf(name, file.name)) ?? true;
}
