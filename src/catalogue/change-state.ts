// What the last run of images changes saw: one file per profile, service, user, source, query and cursor.

import fs from 'node:fs';
import path from 'node:path';
import { ImgctlError } from '../errors.ts';
import { type ConfirmLock, isMissing, replaceFile } from '../files/atomic-file.ts';
import { keyedFile } from '../files/paths.ts';
import { cannotWrite, readTextFile } from '../files/user-file.ts';
import type { Io, System } from '../io.ts';
import { isObject, stringify } from '../json.ts';
import { formatSnapshot, parseSnapshot, type Snapshot } from './snapshot.ts';

export interface StateKey {
  readonly cursor: string;
  readonly profile: string;
  readonly base_url: string;
  readonly username: string;
  readonly source: 'catalogue' | 'mine';
  readonly words: readonly string[];
  readonly filters: readonly string[];
}

/** A state file and how messages name it. */
export interface StateFile {
  readonly path: string;
  readonly what: string;
  readonly hint: string;
}

const DIRECTORY = 'changes';

export function stateFileOf(directory: string, key: StateKey): StateFile {
  const file = keyedFile(path.join(directory, DIRECTORY), key.cursor, [stringify(keyMembers(key))]);
  return { path: file, what: `the state ${file}`, hint: 'move it elsewhere to start again' };
}

/** Returns undefined before the first run. @throws ImgctlError config: it is damaged, newer or of another query */
export async function readState(
  file: StateFile,
  key: StateKey,
  io: Pick<Io, 'signal'>,
): Promise<Snapshot | undefined> {
  const text = await readTextFile(file.path, file.what, io);
  if (text === undefined) return undefined;
  const state = parseSnapshot(text, file);
  const { head } = state;
  if (isObject(head.key) && stringify(head.key) === stringify(keyMembers(key))) return state;
  throw new ImgctlError('config', `${file.what} belongs to another query`, { hint: file.hint });
}

/** @throws ImgctlError failed */
export async function writeState(
  file: StateFile,
  key: StateKey,
  takenAt: string,
  lines: readonly string[],
  system: System,
  confirm: ConfirmLock,
): Promise<void> {
  const { base_url, username } = key;
  const head = { taken_at: takenAt, base_url, username, key: keyMembers(key) };
  const text = formatSnapshot(head, lines);
  await replaceFile(file.path, text, system, { confirm }).catch((error: unknown) => {
    if (error instanceof ImgctlError) throw error;
    throw cannotWrite(file.what, error).with({
      hint: 'free some space; the next run shows these changes again',
    });
  });
}

/** The order of words and filters does not matter, as all of them must match. */
function keyMembers({ words, filters, ...key }: StateKey) {
  return { ...key, words: [...words].sort(), filters: [...filters].sort() };
}

/** Returns the names of all cursors that were used on this machine. */
export function cursorNames(directory: string | undefined): string[] {
  if (directory === undefined) return [];
  let files: string[];
  try {
    files = fs.readdirSync(path.join(directory, DIRECTORY));
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
  const names = files.flatMap((file) => /^([\w-]+)\.[0-9a-f]{16}\.json$/.exec(file)?.[1] ?? []);
  return [...new Set(names)].sort();
}
