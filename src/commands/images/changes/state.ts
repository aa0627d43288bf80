// What images changes remembers: the images of the last run per profile, user, query and cursor.

import fs from 'node:fs';
import path from 'node:path';
import { type Candidates, suggestWords, type Typing } from '../../../cli/suggestions.ts';
import { findPaths } from '../../../config/paths.ts';
import type { Context } from '../../../context.ts';
import { ImgctlError, isMissing, tryOr } from '../../../errors.ts';
import { replaceFile } from '../../../files/atomic-file.ts';
import { announceWait, holdMutex, NO_MUTEX } from '../../../files/mutex.ts';
import { keyedFile } from '../../../files/paths.ts';
import { cannotWrite, readTextFile } from '../../../files/user-file.ts';
import { stringify } from '../../../json.ts';
import { portableTexts } from '../../../query/filter.ts';
import type { Query } from '../../../query/query.ts';
import { type FileLabel, formatSnapshot, parseSnapshot, type Snapshot } from '../snapshot-file.ts';

export function suggestCursors({ context }: Typing): Candidates {
  const { state } = findPaths(context.io);
  if (state === undefined) return suggestWords([]);
  const files = tryOr(() => fs.readdirSync(directoryOf(state)), []);
  const names = files.flatMap((file) => /^([\w-]+)\.[0-9a-f]{16}\.json$/.exec(file)?.[1] ?? []);
  return suggestWords([...new Set(names)].sort());
}

export interface StateOptions {
  readonly cursor: string;
  readonly mine?: boolean;
  readonly peek?: boolean;
}

/** Milliseconds: several runs may each read a large catalogue first. */
const MUTEX_PATIENCE = 600_000;

const START_AGAIN = 'move it elsewhere to start again';

/**
 * Opens the images of the last run. Waits until no other run with this cursor compares; `release`
 * lets others continue.
 * @throws ImgctlError config: no home directory; failed, locked
 */
export async function openState(context: Context, options: StateOptions, query: Query) {
  const { io } = context;
  const key = await stateKey(context, options, query);
  const { state: folder } = findPaths(io);
  if (folder === undefined) {
    const message = 'cannot remember this run: no home directory';
    throw new ImgctlError('config', message, { facts: { kind: 'no-home' } });
  }
  const target = keyedFile(directoryOf(folder), key.cursor, [stringify(key)]);
  const file = { what: `the file ${target}`, damaged: START_AGAIN, foreign: START_AGAIN };
  const fail = (thrown: unknown): never => {
    throw stateError(file.what, thrown);
  };
  // With --peek nothing is stored, so nobody has to wait.
  const { assertHeld, release } = options.peek
    ? NO_MUTEX
    : await announceWait(holdMutex(target, MUTEX_PATIENCE, io), () =>
        context.console.stalled('waiting for another run with this cursor'),
      ).catch(fail);
  return {
    file,
    release,
    /** Returns undefined before the first run. @throws ImgctlError config */
    async read() {
      // A named pipe would be read for ever.
      if (!tryOr(() => fs.statSync(target).isFile(), true)) {
        const message = `${file.what} is not a regular file`;
        throw new ImgctlError('config', message, { facts: START_AGAIN });
      }
      const text = await readTextFile(target, file.what, io);
      return text === undefined ? undefined : parseState(text, file, stringify(key));
    },
    /** @param takenAt in ISO 8601 @param lines the JSON of each image */
    async replace(takenAt: string, lines: readonly string[]) {
      const { base_url, username } = key;
      const head = { taken_at: takenAt, base_url, username, key };
      await replaceFile(target, formatSnapshot(head, lines), { assertHeld }).catch(fail);
    },
  };
}

/** @param key the JSON of what the state must belong to; two keys may have one file name */
function parseState(text: string, file: FileLabel, key: string): Snapshot {
  const snapshot = parseSnapshot(text, file);
  if (stringify(snapshot.head.key) === key) return snapshot;
  const message = `${file.what} belongs to another query`;
  throw new ImgctlError('config', message, { facts: file.foreign });
}

/** Returns the error of reading, locking or writing a file whose name the user did not choose. */
function stateError(what: string, thrown: unknown): ImgctlError {
  const error = cannotWrite(what, thrown);
  return isMissing(error.cause) ? error.with({ facts: { kind: 'not-writable' } }) : error;
}

/** Returns what a state belongs to, without the order of words and filters: all must match. */
async function stateKey(context: Context, { cursor, mine }: StateOptions, query: Query) {
  const { profile, baseUrl: base_url, username } = (await context.session()).account;
  const source = mine ? 'mine' : 'catalogue';
  const words = [...query.words].sort();
  const filters = query.filters.flatMap(portableTexts).sort();
  return { cursor, profile, base_url, username, source, words, filters };
}

function directoryOf(stateDirectory: string): string {
  return path.join(stateDirectory, 'changes');
}
