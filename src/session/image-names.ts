// A cache of the ids and names of recently listed images, for completion. It may fail, and holds no secret.

import path from 'node:path';
import { readJsonFile, replaceFile } from '../files/atomic-file.ts';
import { keyedFile } from '../files/paths.ts';

export interface Catalogue {
  readonly profile: string;
  readonly baseUrl: string;
}

export type ImageNames = ReadonlyMap<number, string>;

const MAX_IMAGES = 5_000;
const MAX_NAME_LENGTH = 255;

/** Returns the images listed last first; none if there is no readable cache. */
export function readImageNames(directory: string | undefined, catalogue: Catalogue): ImageNames {
  const names = new Map<number, string>();
  if (directory === undefined) return names;
  const result = readJsonFile(cacheFile(directory, catalogue));
  const images = result.state === 'read' ? result.value.images : undefined;
  if (!Array.isArray(images)) return names;
  for (const entry of images) if (Array.isArray(entry)) add(names, entry[0], entry[1]);
  return names;
}

/** Adds the names of the images among the elements of a list, up to the maximum. */
export function collectNames(
  elements: readonly unknown[],
  names: Map<number, string> = new Map(),
): Map<number, string> {
  for (const element of elements) {
    const { id, name } = Object(element) as { id?: unknown; name?: unknown };
    add(names, id, name);
  }
  return names;
}

/** Caches new names; `isWhole`: the catalogue has no others. Ignores a failed write. */
export async function rememberImages(
  directory: string | undefined,
  catalogue: Catalogue,
  seen: ImageNames,
  isWhole: boolean,
): Promise<void> {
  const names = new Map(seen);
  if (directory === undefined || (names.size === 0 && !isWhole)) return;
  const cached = readImageNames(directory, catalogue);
  const isCached = [...names].every(([id, name]) => cached.get(id) === name);
  if (isCached && (!isWhole || names.size === cached.size)) return;
  if (!isWhole) for (const [id, name] of cached) if (!names.has(id)) add(names, id, name);
  const text = JSON.stringify({ images: [...names] });
  // Whoever listed images has them; missing completions are no reason for a warning.
  await replaceFile(cacheFile(directory, catalogue), text).catch(() => {});
}

function add(names: Map<number, string>, id: unknown, name: unknown): void {
  if (typeof id !== 'number' || !Number.isSafeInteger(id)) return;
  if (typeof name !== 'string' || name === '' || name.length > MAX_NAME_LENGTH) return;
  if (names.size < MAX_IMAGES) names.set(id, name);
}

function cacheFile(directory: string, { profile, baseUrl }: Catalogue): string {
  return keyedFile(path.join(directory, 'images'), profile, [profile, baseUrl]);
}
