// What changed since an earlier look at a list of images: the state of the last run, and the comparison with it.

import fs from 'node:fs';
import path from 'node:path';
import type { ReceivedImage } from '../api/types.ts';
import { ImgctlError, valueOr } from '../errors.ts';
import { type ConfirmLock, cannotWrite, readTextFile, replaceFile } from '../files/atomic-file.ts';
import { keyedFile } from '../files/paths.ts';
import type { Io } from '../io.ts';
import { stringify } from '../json.ts';
import {
  type FileLabel,
  formatSnapshot,
  parseLines,
  parseSnapshot,
  type Snapshot,
} from './snapshot.ts';

/** What a state belongs to; each has a file of its own. */
export interface StateKey {
  readonly cursor: string;
  readonly profile: string;
  readonly base_url: string;
  readonly username: string;
  readonly source: 'catalogue' | 'mine';
  readonly words: readonly string[];
  readonly filters: readonly string[];
}

/** The order of words and filters does not matter, as all of them must match. */
function keyMembers({ words, filters, ...key }: StateKey) {
  return { ...key, words: [...words].sort(), filters: [...filters].sort() };
}

/** A state file and how messages name it. */
export interface StateFile extends FileLabel {
  readonly path: string;
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
  io: Io,
): Promise<Snapshot | undefined> {
  const text = await readTextFile(file.path, file.what, io);
  if (text === undefined) return undefined;
  const state = parseSnapshot(text, file);
  if (stringify(state.head.key) === stringify(keyMembers(key))) return state;
  throw new ImgctlError('config', `${file.what} belongs to another query`, { hint: file.hint });
}

/** @throws ImgctlError failed */
export async function writeState(
  file: StateFile,
  key: StateKey,
  takenAt: string,
  lines: readonly string[],
  confirm: ConfirmLock,
): Promise<void> {
  const { base_url, username } = key;
  const head = { taken_at: takenAt, base_url, username, key: keyMembers(key) };
  const text = formatSnapshot(head, lines);
  await replaceFile(file.path, text, { confirm }).catch((error: unknown) => {
    if (error instanceof ImgctlError) throw error;
    throw cannotWrite(file.what, error).with({
      hint: 'free some space; the next run shows these changes again',
    });
  });
}

/** Returns the names of all cursors that were used on this machine. */
export function cursorNames(directory: string | undefined): string[] {
  if (directory === undefined) return [];
  const files = valueOr(() => fs.readdirSync(path.join(directory, DIRECTORY)), []);
  const names = files.flatMap((file) => /^([\w-]+)\.[0-9a-f]{16}\.json$/.exec(file)?.[1] ?? []);
  return [...new Set(names)].sort();
}

export interface Change {
  /** moved: another name, path, folder or data store; updated: any other difference. */
  readonly change: 'added' | 'updated' | 'moved' | 'removed';
  /** As it is now, or as it was before it was removed. */
  readonly image: ReceivedImage;
  readonly before: ReceivedImage | null;
}

/** Receives the new images one by one; unchanged images cost neither parsing nor memory. */
export class Comparison {
  readonly #old: Map<string, string>;
  readonly #lines = new Map<unknown, string>();
  readonly #different = new Map<unknown, ReceivedImage>();
  readonly #repeated = new Set<unknown>();

  /** @param lines the JSON of each old image */
  constructor(lines: readonly string[]) {
    this.#old = new Map(lines.map((line) => [line, line]));
  }

  /** Replaces an image that was added with the same id. */
  add(image: ReceivedImage): void {
    const key = keyOf(image);
    const line = stringify(image);
    // The old text, so that the new one need not stay in memory.
    const same = this.#old.get(line);
    if (this.#lines.has(key)) this.#repeated.add(key);
    this.#lines.set(key, same ?? line);
    if (same === undefined) this.#different.set(key, image);
    else this.#different.delete(key);
  }

  /** The JSON of each new image. */
  get lines(): readonly string[] {
    return [...this.#lines.values()];
  }

  /** The ids that were added more than once. */
  get repeated(): readonly unknown[] {
    return [...this.#repeated];
  }

  /**
   * Returns the changes in the order of the new images, then the removed ones in the old order.
   * @param file where the old images come from
   * @throws ImgctlError config: an old image is damaged
   */
  async changes(file: FileLabel): Promise<Change[]> {
    for (const line of this.#lines.values()) this.#old.delete(line);
    const old = new Map<unknown, ReceivedImage>();
    for (const image of await parseLines([...this.#old.keys()], file)) old.set(keyOf(image), image);
    const changes: Change[] = [];
    for (const [key, image] of this.#different) {
      const before = old.get(key);
      if (before === undefined) changes.push({ change: 'added', image, before: null });
      else if (differs(before, image, PLACE)) changes.push({ change: 'moved', image, before });
      else if (differs(before, image, allFields(before, image)))
        changes.push({ change: 'updated', image, before });
    }
    for (const [key, before] of old) {
      if (!this.#lines.has(key)) changes.push({ change: 'removed', image: before, before });
    }
    return changes;
  }
}

const PLACE = ['name', 'path', 'folder', 'data_store'];

function keyOf(image: ReceivedImage): unknown {
  return image.id ?? stringify(image);
}

function allFields(...images: readonly ReceivedImage[]): string[] {
  return images.flatMap((image) => Object.keys(image));
}

/** A field that is missing equals null. */
function differs(left: ReceivedImage, right: ReceivedImage, fields: readonly string[]): boolean {
  return fields.some((field) => stringify(left[field]) !== stringify(right[field]));
}
