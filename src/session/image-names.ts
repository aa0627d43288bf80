// A cache of recently listed images, for completion. It may fail, and holds no secret.

import fs from 'node:fs';
import path from 'node:path';
import { readJsonFile, replaceFile } from '../files/atomic-file.ts';
import { keyedFile } from '../files/paths.ts';
import type { System } from '../io.ts';
import type { Account } from './token-store.ts';

type Catalogue = Omit<Account, 'username'>;

/** Empty texts for an image without a folder or data store. */
type CachedImage = readonly [name: string, folder: string, dataStore: string];

type ImageNames = ReadonlyMap<number, CachedImage>;

const MAX_IMAGES = 5_000;
const MAX_NAME_LENGTH = 255;

/** Names of listed images as pieces of JSON, which V8 writes faster than JavaScript collects them. */
export interface ListedNames {
  readonly pieces: string[];
  count: number;
}

const STORED_FIELDS = ['id', 'name', 'folder', 'data_store'];
/** UTF-16 units of an image on average: a service must not fill the disk, and a larger file is not read. */
const MAX_AVERAGE_LENGTH = 400;

/** Adds the names of a list's images, up to the maximum. */
export function collectNames(
  elements: readonly unknown[],
  names: ListedNames = { pieces: [], count: 0 },
): ListedNames {
  let images = elements.slice(0, MAX_IMAGES - names.count);
  let json = storedJson(images);
  if (json.length > MAX_AVERAGE_LENGTH * images.length) {
    images = images.filter((image) => storedJson([image]).length <= MAX_AVERAGE_LENGTH);
    json = storedJson(images);
  }
  if (images.length > 0) names.pieces.push(json);
  names.count += images.length;
  return names;
}

/** Returns JSON without the brackets of the array. */
function storedJson(images: readonly unknown[]): string {
  return JSON.stringify(images, STORED_FIELDS).slice(1, -1);
}

/** Returns the images listed last first; none if there is no readable cache. */
export function readImageNames(directory: string | undefined, catalogue: Catalogue): ImageNames {
  if (directory === undefined) return new Map();
  const result = readJsonFile(cacheFile(directory, catalogue));
  return namesIn(result.state === 'read' ? result.value.images : undefined);
}

/** Caches new names; `isComplete`: the catalogue has no others. Ignores a failed write. */
export async function rememberImages(
  directory: string | undefined,
  catalogue: Catalogue,
  listed: ListedNames,
  isComplete: boolean,
  system: System,
): Promise<void> {
  if (directory === undefined || (listed.count === 0 && !isComplete)) return;
  let images = `[${listed.pieces.join(',')}]`;
  if (!isComplete) {
    const cached = readImageNames(directory, catalogue);
    const names = namesIn(JSON.parse(images));
    if (isWithin(names, cached)) return;
    for (const [id, image] of cached) if (!names.has(id)) add(names, id, ...image);
    images = JSON.stringify(
      [...names].map(([id, [name, folder, data_store]]) => ({ id, name, folder, data_store })),
    );
  }
  const file = cacheFile(directory, catalogue);
  const text = `{"images":${images}}`;
  // The listing itself worked; missing completions do not justify a warning.
  if (!isStored(file, text)) await replaceFile(file, text, system).catch(() => {});
}

function namesIn(images: unknown): Map<number, CachedImage> {
  const names = new Map<number, CachedImage>();
  for (const image of Array.isArray(images) ? images : []) {
    const { id, name, folder, data_store } = Object(image) as Readonly<Record<string, unknown>>;
    add(names, id, name, folder, data_store);
  }
  return names;
}

/** Comparing is faster than parsing. */
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

function isWithin(names: ImageNames, cached: ImageNames): boolean {
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
