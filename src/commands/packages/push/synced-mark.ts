// A file that says: a service has synced all that this machine has made visible in a storage.

import fs from 'node:fs';
import path from 'node:path';
import { errorReason, ImgctlError, isMissing, tryOr } from '../../../errors.ts';
import { type AssertHeld, readOwnFile, replaceFile } from '../../../files/atomic-file.ts';

/**
 * The mark of the storage and service that were synced last. There is one for all, since one
 * storage may have several addresses:
 *
 *     before a file becomes visible  | remove: it is missing until the next sync
 *     before a submit                | remove, begin: it is pending
 *     after a sync without errors    | makeWhole, if it is still pending: it is there
 */
export class SyncedMark {
  readonly #file: string | undefined;
  readonly #uid: number | undefined;
  readonly #whole: string;
  /** What the file holds between the submit of a sync and its success. */
  readonly #pending: string;

  /**
   * @param directory without one, the mark is never there
   * @param key the storage, the service, and the users of both
   */
  constructor(directory: string | undefined, key: readonly string[], uid: number | undefined) {
    this.#file = directory && path.join(directory, 'synced.json');
    this.#uid = uid;
    this.#whole = `${JSON.stringify(key)}\n`;
    this.#pending = `${JSON.stringify({ pending: key })}\n`;
  }

  isThere(): boolean {
    return this.#holds(this.#whole);
  }

  #holds(text: string): boolean {
    const file = this.#file;
    if (file === undefined) return false;
    return tryOr(() => readOwnFile(file, undefined, this.#uid) === text, false);
  }

  /** @throws ImgctlError failed: a later push would trust the mark */
  remove(): void {
    const file = this.#file;
    if (file === undefined) return;
    try {
      fs.rmSync(file);
    } catch (cause) {
      if (isMissing(cause)) return;
      const message = `cannot remove ${file}: ${errorReason(cause)}`;
      const advice = 'remove it: a later push --sync-if-sent would skip the sync';
      throw new ImgctlError('failed', message, { facts: advice, cause });
    }
  }

  /** @throws an error with the reason */
  async begin(assertHeld: AssertHeld): Promise<void> {
    if (this.#file === undefined) throw new Error('no home directory');
    await replaceFile(this.#file, this.#pending, { assertHeld });
  }

  /** @throws an error with the reason */
  async makeWhole(assertHeld: AssertHeld): Promise<void> {
    // Otherwise, another push has made a file visible or submitted a sync meanwhile.
    if (this.#file !== undefined && this.#holds(this.#pending))
      await replaceFile(this.#file, this.#whole, { assertHeld });
  }
}
