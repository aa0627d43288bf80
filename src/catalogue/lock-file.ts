// The lock file: images by name, with the query of each; one field per line, so that a diff shows what changed.

import type { ReceivedImage } from '../api/types.ts';
import { ImgctlError, valueOr } from '../errors.ts';
import { isObject } from '../json.ts';
import { compareText } from '../query/fields.ts';
import { SeriesIndex } from '../query/series.ts';

const VERSION = 1;

/** A type, since an interface has no index signature. */
export type LockedImage = {
  readonly text: readonly string[];
  readonly filters: readonly string[];
  readonly id: number;
  readonly name: string | null;
  readonly path: string | null;
  readonly created_on: string | null;
  readonly updated_on: string | null;
};

type Query = Pick<LockedImage, 'text' | 'filters'>;

/** By name. */
export type Locks = ReadonlyMap<string, LockedImage>;

/** @throws ImgctlError bad-answer: the image has no id */
export function lockedImage(
  { text, filters }: Query,
  { id, ...image }: ReceivedImage,
): LockedImage {
  if (typeof id !== 'number') {
    throw new ImgctlError('bad-answer', 'the image cannot be locked without a numeric id');
  }
  return {
    text,
    filters,
    id,
    name: textOrNull(image.name),
    path: textOrNull(image.path),
    created_on: textOrNull(image.created_on),
    updated_on: textOrNull(image.updated_on),
  };
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

export function formatLockFile(locks: Locks): string {
  const images = [...locks].sort(([left], [right]) => compareText(left, right));
  return `${JSON.stringify({ version: VERSION, images: Object.fromEntries(images) }, undefined, 2)}\n`;
}

/** @param invalid returns the error for a file that is damaged, newer or not a lock file */
export function parseLockFile(
  text: string,
  invalid: (problem: string, hint?: string) => ImgctlError,
): Locks {
  const content = valueOr<unknown>(() => JSON.parse(text), undefined);
  if (content === undefined) throw invalid('is not valid JSON');
  const { version, images } = isObject(content) ? content : {};
  if (typeof version === 'number' && version > VERSION) {
    throw invalid(`has the newer format ${version}`, 'upgrade imgctl to read it');
  }
  if (version !== VERSION || !isObject(images)) throw invalid('has an unknown format');
  return new Map(
    Object.entries(images).map(([name, locked]) => {
      // Without members of other programs.
      if (isLockedImage(locked)) return [name, lockedImage(locked, locked)];
      throw invalid(`is damaged at ${name}`);
    }),
  );
}

function isLockedImage(value: unknown): value is LockedImage {
  if (!isObject(value) || !Number.isSafeInteger(value.id)) return false;
  const isText = (it: unknown) => typeof it === 'string';
  const isList = (it: unknown) => Array.isArray(it) && it.every(isText);
  const texts = [value.name, value.path, value.created_on, value.updated_on];
  return (
    [value.text, value.filters].every(isList) && texts.every((it) => it === null || isText(it))
  );
}

/** Compares a locked image with the one of its id now, and with the newest of its series. */
export function stateOf(locked: LockedImage, live?: ReceivedImage, newest?: ReceivedImage) {
  if (live === undefined) return 'gone';
  const isSame = (field: 'updated_on' | 'path' | 'name') =>
    textOrNull(live[field]) === locked[field];
  if (!isSame('updated_on')) return 'replaced';
  if (!isSame('path') || !isSame('name')) return 'moved';
  // A tie is not newer.
  const index = new SeriesIndex<ReceivedImage>();
  for (const image of [locked, newest ?? {}]) index.add(image);
  const [first, ...equal] = index.all()[0]?.newest ?? [];
  return equal.length === 0 && first === newest && first !== undefined ? 'newer' : 'ok';
}
