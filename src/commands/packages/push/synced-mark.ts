// A file that says: a service has synced all that this machine has made visible in a storage.

import fs from 'node:fs';
import path from 'node:path';
import { errorReason, ImgctlError, tryOr } from '../../../errors.ts';
import { type AssertHeld, readOwnFile, replaceFile } from '../../../files/atomic-file.ts';
import { keyedFile } from '../../../files/paths.ts';

const NAME = 'synced';
const MARKS = new RegExp(`^${NAME}\\.[0-9a-f]{16}\\.json$`);

const whole = (key: readonly string[]) => `${JSON.stringify(key)}\n`;
/** What the file holds between the submit of a sync and its success. */
const pending = (key: readonly string[]) => `${JSON.stringify({ pending: key })}\n`;

/**
 * The mark of a storage and a service:
 *
 *     before a submit                | begin: it is pending
 *     after a sync without errors    | makeWhole, if it is still pending: it is there
 *     before a file becomes visible  | remove: it is missing until the next sync
 */
export class SyncedMark {
  readonly #directory: string | undefined;
  readonly #file: string | undefined;
  readonly #key: readonly string[];
  readonly #uid: number | undefined;

  /**
   * @param directory without one, the mark is never there
   * @param key the storage, the service, and the users of both
   */
  constructor(directory: string | undefined, key: readonly string[], uid: number | undefined) {
    this.#directory = directory;
    this.#file = directory && keyedFile(directory, NAME, key);
    this.#key = key;
    this.#uid = uid;
  }

  isThere(): boolean {
    return this.#holds(whole(this.#key));
  }

  #holds(text: string): boolean {
    const file = this.#file;
    if (file === undefined) return false;
    return tryOr(() => readOwnFile(file, undefined, this.#uid) === text, false);
  }

  /**
   * Removes the mark before a file becomes visible, and those of all other storages: one storage
   * may have several addresses.
   * @throws ImgctlError failed: a later push would trust it
   */
  remove(): void {
    const directory = this.#directory;
    if (directory === undefined) return;
    const names = tryOr(() => fs.readdirSync(directory), []).filter((name) => MARKS.test(name));
    for (const mark of names.map((name) => path.join(directory, name))) {
      try {
        fs.rmSync(mark, { force: true });
      } catch (cause) {
        const message = `cannot remove ${mark}: ${errorReason(cause)}`;
        const advice = 'remove it: a later push --sync-if-sent would skip the sync';
        throw new ImgctlError('failed', message, { facts: advice, cause });
      }
    }
  }

  /** Writes a pending mark before a submit. @throws an error with the reason */
  async begin(assertHeld: AssertHeld): Promise<void> {
    if (this.#file === undefined) throw new Error('no home directory');
    await replaceFile(this.#file, pending(this.#key), { assertHeld });
  }

  /** Makes a pending mark whole after a sync without errors. @throws an error with the reason */
  async makeWhole(assertHeld: AssertHeld): Promise<void> {
    // Otherwise, a push to another address of the storage made a file visible meanwhile.
    if (this.#file !== undefined && this.#holds(pending(this.#key)))
      await replaceFile(this.#file, whole(this.#key), { assertHeld });
  }
}
