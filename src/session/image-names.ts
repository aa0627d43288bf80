// Ids, names and places of images that were seen lately, for completion: a cache that may fail, and holds no secret.

import fs from 'node:fs';
import path from 'node:path';
import { makeDirectory, readJsonFile } from './json-file.ts';
import { keyedFile } from './keyed-file.ts';
import { stagingName, sweep } from './staging.ts';

/** Whose images: names of one service are not offered for another. */
export interface Catalogue {
  readonly profile: string;
  readonly baseUrl: string;
}

/** Empty texts for an image without a folder or data store. */
export type CachedImage = readonly [name: string, folder: string, dataStore: string];

/** By id. */
export type ImageNames = ReadonlyMap<number, CachedImage>;

/** Images that are remembered for each catalogue, those seen last before all others. */
export const MOST_IMAGES = 5_000;
const LONGEST_NAME = 255;

/** The images seen last first; none where there is no readable cache. */
export function readImageNames(directory: string | undefined, catalogue: Catalogue): ImageNames {
  const names = new Map<number, CachedImage>();
  if (directory === undefined) return names;
  const result = readJsonFile(cacheFile(directory, catalogue));
  const images = result.state === 'read' ? result.value.images : undefined;
  if (!Array.isArray(images)) return names;
  for (const entry of images) {
    if (Array.isArray(entry)) add(names, entry[0], entry[1], entry[2], entry[3]);
  }
  return names;
}

/** The names of the images among the elements of a list, up to as many as are remembered, with those there are. */
export function collectNames(
  elements: readonly unknown[],
  names: Map<number, CachedImage> = new Map(),
): Map<number, CachedImage> {
  for (const element of elements) {
    const { id, name, folder, data_store } = Object(element) as Readonly<Record<string, unknown>>;
    add(names, id, name, folder, data_store);
  }
  return names;
}

/**
 * Remembers the names. `isWhole`: the catalogue has no others. Nothing is written where nothing is new, and
 * nothing is said where it cannot be.
 */
export function rememberImages(
  directory: string | undefined,
  catalogue: Catalogue,
  seen: ImageNames,
  isWhole: boolean,
): void {
  const names = new Map(seen);
  if (directory === undefined || (names.size === 0 && !isWhole)) return;
  const known = readImageNames(directory, catalogue);
  const isKnown = [...names].every(([id, image]) => isSame(known.get(id), image));
  if (isKnown && (!isWhole || names.size === known.size)) return;
  if (!isWhole) for (const [id, image] of known) if (!names.has(id)) add(names, id, ...image);
  try {
    replace(
      cacheFile(directory, catalogue),
      JSON.stringify({ images: [...names].map(([id, image]) => [id, ...image]) }),
    );
  } catch {
    // Whoever listed images has them; that completion will not know them is no news for that moment.
  }
}

function add(
  names: Map<number, CachedImage>,
  id: unknown,
  name: unknown,
  folder: unknown,
  dataStore: unknown,
): void {
  if (typeof id !== 'number' || !Number.isSafeInteger(id)) return;
  const text = textOf(name);
  if (text !== '' && names.size < MOST_IMAGES) {
    names.set(id, [text, textOf(folder), textOf(dataStore)]);
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' && value.length <= LONGEST_NAME ? value : '';
}

function isSame(known: CachedImage | undefined, image: CachedImage): boolean {
  return known !== undefined && image.every((text, index) => text === known[index]);
}

function cacheFile(directory: string, { profile, baseUrl }: Catalogue): string {
  return keyedFile(path.join(directory, 'images'), profile, [profile, baseUrl]);
}

/**
 * The file is whole at any instant; unlike a token it is not worth waiting for the disk.
 * @throws the file system's error
 */
function replace(file: string, text: string): void {
  const staging = path.join(path.dirname(file), stagingName(file));
  makeDirectory(path.dirname(file));
  sweep(file);
  try {
    fs.writeFileSync(staging, text, { mode: 0o600, flag: 'wx' });
    fs.renameSync(staging, file);
  } catch (error) {
    fs.rmSync(staging, { force: true });
    throw error;
  }
}
