// A cache of recently listed images, for completion. It may fail, and holds no secret.

import path from 'node:path';
import { numericId } from '../../api/images.ts';
import { type Suggest, suggestWords, type Typing } from '../../cli/suggestions.ts';
import { findPaths } from '../../config/paths.ts';
import type { Account } from '../../config/settings.ts';
import { tryOr } from '../../errors.ts';
import { readJsonFile, readOwnFile, replaceFile } from '../../files/atomic-file.ts';
import { keyedFile } from '../../files/paths.ts';
import type { JsonObject } from '../../json.ts';

type CacheKey = Omit<Account, 'username'>;

/** Images by their ids; the folder is empty for an image without one. */
type ListedNames = Map<number, readonly [name: string, folder: string]>;

const MAX_IMAGES = 5_000;
/** A service must not fill the disk. */
const MAX_NAME_LENGTH = 255;

export function collectNames(elements: readonly unknown[], names: ListedNames = new Map()) {
  for (const element of elements) {
    if (names.size >= MAX_IMAGES) break;
    const image: JsonObject = Object(element);
    const id = numericId(image);
    const text = shortText(image.name);
    if (id === undefined || text === '') continue;
    names.set(id, [text, shortText(image.folder)]);
  }
  return names;
}

function shortText(value: unknown): string {
  return typeof value === 'string' && value.length <= MAX_NAME_LENGTH ? value : '';
}

/** Returns the images, new ones first; none if there is no readable cache. */
export function readImageNames(directory: string | undefined, catalogue: CacheKey): ListedNames {
  if (directory === undefined) return new Map();
  const cache = tryOr(() => readJsonFile(cacheFile(directory, catalogue)), undefined);
  return collectNames(Array.isArray(cache?.images) ? cache.images : []);
}

/**
 * Caches the names that were listed, new ones first. A failed write is no error of the list.
 * @param isComplete true if the catalogue has no others, so that names from before are dropped
 */
export async function rememberImages(
  directory: string | undefined,
  catalogue: CacheKey,
  listed: ListedNames,
  isComplete: boolean,
): Promise<void> {
  if (directory === undefined || (listed.size === 0 && !isComplete)) return;
  const before: ListedNames = isComplete ? new Map() : readImageNames(directory, catalogue);
  const added = [...listed].filter(([id]) => !before.has(id));
  const stayed = [...before].map(([id, image]) => [id, listed.get(id) ?? image] as const);
  const images = [...added, ...stayed]
    .slice(0, MAX_IMAGES)
    .map(([id, [name, folder]]) => ({ id, name, folder }));
  const file = cacheFile(directory, catalogue);
  const text = JSON.stringify({ images });
  // A file that stays the same is not written again.
  const isSame = tryOr(() => readOwnFile(file) === text, false);
  return isSame ? undefined : replaceFile(file, text).catch(() => {});
}

function cachedImages({ context, settings }: Typing) {
  return [...readImageNames(findPaths(context.io).cache, settings.account).values()];
}

export const suggestImages: Suggest = (typing) =>
  suggestWords([...new Set(cachedImages(typing).map(([name]) => name))]);

export function cachedFolders(typing: Typing): string[] {
  const folders = cachedImages(typing).map(([, folder]) => folder);
  return [...new Set(folders)].filter(Boolean).sort();
}

function cacheFile(directory: string, { profile, baseUrl }: CacheKey): string {
  return keyedFile(path.join(directory, 'images'), profile, [profile, baseUrl]);
}
