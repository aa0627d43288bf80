// A cache of recently listed images, for completion. It may fail, and holds no secret.

import fs from 'node:fs';
import path from 'node:path';
import { readJsonFile, replaceFile } from '../files/atomic-file.ts';
import { keyedFile } from '../files/paths.ts';
import type { System } from '../io.ts';
import type { Account } from './token-files.ts';

type Catalogue = Omit<Account, 'username'>;

/** Empty texts for an image without a folder or data store. */
export type CachedImage = readonly [name: string, folder: string, dataStore: string];

export type ImageNames = ReadonlyMap<number, CachedImage>;

const MAX_IMAGES = 5_000;
const MAX_NAME_LENGTH = 255;

/** Returns the images listed last first; none if there is no readable cache. */
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

/** Adds the names of the images among the elements of a list, up to the maximum. */
export function collectNames(
  elements: readonly unknown[],
  names: Map<number, CachedImage> = new Map(),
): Map<number, CachedImage> {
  for (const element of elements) {
    if (names.size >= MAX_IMAGES) break;
    const { id, name, folder, data_store } = Object(element) as Readonly<Record<string, unknown>>;
    add(names, id, name, folder, data_store);
  }
  return names;
}

/** Caches new names; `isWhole`: the catalogue has no others. Ignores a failed write. */
export async function rememberImages(
  directory: string | undefined,
  catalogue: Catalogue,
  seen: ImageNames,
  isWhole: boolean,
  system: System,
): Promise<void> {
  if (directory === undefined || (seen.size === 0 && !isWhole)) return;
  const file = cacheFile(directory, catalogue);
  let names = seen;
  if (!isWhole) {
    const cached = readImageNames(directory, catalogue);
    if (isWithin(cached, seen)) return;
    const all = new Map(seen);
    for (const [id, image] of cached) if (!seen.has(id)) add(all, id, ...image);
    names = all;
  }
  const text = JSON.stringify({ images: [...names].map(([id, image]) => [id, ...image]) });
  // The listing itself worked; missing completions do not justify a warning.
  if (!isStored(file, text)) await replaceFile(file, text, system).catch(() => {});
}

/** Takes less than parsing the file, whose names are mostly the same. */
function isStored(file: string, text: string): boolean {
  try {
    const { size } = fs.statSync(file);
    return size === Buffer.byteLength(text) && fs.readFileSync(file, 'utf8') === text;
  } catch {
    return false;
  }
}

function add(
  names: Map<number, CachedImage>,
  id: unknown,
  name?: unknown,
  folder?: unknown,
  dataStore?: unknown,
): void {
  const text = textOf(name);
  if (names.size >= MAX_IMAGES || !Number.isSafeInteger(id) || text === '') return;
  names.set(id as number, [text, textOf(folder), textOf(dataStore)]);
}

function isWithin(cached: ImageNames, names: ImageNames): boolean {
  for (const [id, image] of names) {
    const other = cached.get(id);
    for (let at = 0; at < image.length; at += 1) if (image[at] !== other?.[at]) return false;
  }
  return true;
}

function textOf(value: unknown): string {
  return typeof value === 'string' && value.length <= MAX_NAME_LENGTH ? value : '';
}

function cacheFile(directory: string, { profile, baseUrl }: Catalogue): string {
  return keyedFile(path.join(directory, 'images'), profile, [profile, baseUrl]);
}
