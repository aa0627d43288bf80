// Ids and names of images that were seen lately, for completion: a cache that may fail, and holds no secret.

import fs from 'node:fs';
import path from 'node:path';
import { readJsonFile, stagingName, sweep } from './json-file.ts';
import { keyedFile } from './keyed-file.ts';

/** Whose images: names of one service are not offered for another. */
export interface Catalogue {
  readonly profile: string;
  readonly baseUrl: string;
}

export interface NamedImage {
  readonly id: number;
  readonly name: string;
}

/** Images that are remembered for each catalogue, those seen last before all others. */
export const MOST_IMAGES = 5_000;
const LONGEST_NAME = 255;

/** The images seen last first; none where there is no readable cache. */
export function readImageNames(
  directory: string | undefined,
  catalogue: Catalogue,
): readonly NamedImage[] {
  if (directory === undefined) return [];
  const result = readJsonFile(cacheFile(directory, catalogue));
  const images = result.state === 'read' ? result.value.images : undefined;
  if (!Array.isArray(images)) return [];
  return namedImages(images.map((entry) => ({ id: entry?.[0], name: entry?.[1] })));
}

/**
 * Remembers the images among the elements of a list; what else they are is passed over. `isWhole`: the
 * catalogue has no others. Nothing is written where nothing is new, and nothing is said where it cannot be.
 */
export function rememberImages(
  directory: string | undefined,
  catalogue: Catalogue,
  elements: readonly unknown[],
  isWhole: boolean,
): void {
  const seen = namedImages(elements).slice(0, MOST_IMAGES);
  if (directory === undefined || (seen.length === 0 && !isWhole)) return;
  const known = new Map(readImageNames(directory, catalogue).map(({ id, name }) => [id, name]));
  const isKnown = seen.every(({ id, name }) => known.get(id) === name);
  if (isKnown && (!isWhole || seen.length === known.size)) return;
  const images = new Map(seen.map(({ id, name }) => [id, name]));
  for (const [id, name] of isWhole ? [] : known) {
    if (images.size < MOST_IMAGES && !images.has(id)) images.set(id, name);
  }
  try {
    replace(cacheFile(directory, catalogue), JSON.stringify({ images: [...images] }));
  } catch {
    // Whoever listed images has them; that completion will not know them is no news for that moment.
  }
}

function cacheFile(directory: string, { profile, baseUrl }: Catalogue): string {
  return keyedFile(path.join(directory, 'images'), profile, [profile, baseUrl]);
}

function namedImages(elements: readonly unknown[]): NamedImage[] {
  return elements.filter(isNamedImage);
}

function isNamedImage(element: unknown): element is NamedImage {
  const { id, name } = Object(element) as Partial<Record<keyof NamedImage, unknown>>;
  return (
    Number.isSafeInteger(id) &&
    typeof name === 'string' &&
    name !== '' &&
    name.length <= LONGEST_NAME
  );
}

/**
 * The file is whole at any instant; unlike a token it is not worth waiting for the disk.
 * @throws the file system's error
 */
function replace(file: string, text: string): void {
  const staging = path.join(path.dirname(file), stagingName(file, process.pid));
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  sweep(file);
  try {
    fs.writeFileSync(staging, text, { mode: 0o600, flag: 'wx' });
    fs.renameSync(staging, file);
  } catch (error) {
    fs.rmSync(staging, { force: true });
    throw error;
  }
}
