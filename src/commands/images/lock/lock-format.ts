// The format of a lock file: locked images by name, one field per line for small diffs.
// What other programs or people have added to the file stays.

import { parse, stringify } from 'lossless-json';
import { numericId } from '../../../api/images.ts';
import type { ReceivedImage } from '../../../api/types.ts';
import { ImgctlError } from '../../../errors.ts';
import { isObject, isTooDeep, type JsonObject, parseFile } from '../../../json.ts';
import { compareText } from '../../../query/fields.ts';

const VERSION = 1;

/** A type, since an interface has no index signature. */
export type LockedImage = {
  /** Words that the name must match. */
  readonly text: readonly string[];
  readonly filters: readonly string[];
  readonly id: number;
  readonly name: string | null;
  readonly path: string | null;
  readonly created_on: string | null;
  readonly updated_on: string | null;
};

export type LockQuery = Pick<LockedImage, 'text' | 'filters'>;

export type Locks = ReadonlyMap<string, LockedImage>;

/** @throws ImgctlError bad-answer: the image has no id */
export function lockedImage({ text, filters }: LockQuery, image: ReceivedImage): LockedImage {
  const id = numericId(image);
  if (id === undefined) {
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

export function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

export interface LockFile {
  readonly locks: Locks;
  /** Address of the service that the ids belong to; undefined if the file has none. */
  readonly baseUrl: string | undefined;
  /** The whole content, with members that imgctl does not know. */
  readonly content: JsonObject;
}

/** @param content of the file before, whose unknown members stay */
export function formatLockFile({ locks, baseUrl, content }: LockFile): string {
  const old = isObject(content.images) ? content.images : {};
  const images = [...locks]
    .sort(([left], [right]) => compareText(left, right))
    .map(([name, locked]) => [name, { ...locked, ...withoutFields(old[name], locked) }] as const);
  const known = { version: VERSION, base_url: baseUrl, images: Object.fromEntries(images) };
  return `${stringify({ ...known, ...withoutFields(content, known) }, undefined, 2)}\n`;
}

function withoutFields(value: unknown, fields: object): JsonObject {
  const members = Object.entries(isObject(value) ? value : {});
  return Object.fromEntries(members.filter(([name]) => !Object.hasOwn(fields, name)));
}

/** @param invalid returns the error for a file that is damaged, newer or not a lock file */
export function parseLockFile(
  text: string,
  invalid: (problem: string, facts?: string) => ImgctlError,
): LockFile {
  const { value: content, twice } = parseFile(text);
  if (content === undefined) {
    throw invalid(isTooDeep(text) ? 'is nested too deep' : 'is not valid JSON');
  }
  if (twice !== undefined) throw invalid(`has ${twice} twice`, 'remove one of the two');
  const { version, base_url: baseUrl, images } = isObject(content) ? content : {};
  if (typeof version === 'number' && version > VERSION) {
    throw invalid(`has the newer format ${version}`, 'upgrade imgctl to read it');
  }
  if (version !== VERSION || !isObject(images) || !isObject(content)) {
    throw invalid('has an unknown format');
  }
  if (baseUrl !== undefined && typeof baseUrl !== 'string') throw invalid('is damaged at base_url');
  const locks = new Map(
    Object.entries(images).map(([name, locked]) => {
      // Without members of other programs.
      if (isLockedImage(locked)) return [name, lockedImage(locked, locked)];
      throw invalid(`is damaged at ${name}`);
    }),
  );
  // Numbers as they are written, of any size.
  return { locks, baseUrl, content: Object(parse(text)) };
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
