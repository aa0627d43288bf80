// Compares two lists of images: by id, or by label if they are of two services.

import { keyOf } from '../../../api/images.ts';
import type { ReceivedImage } from '../../../api/types.ts';
import { ImgctlError } from '../../../errors.ts';
import { stringify } from '../../../json.ts';
import { FIELDS, kindOf } from '../../../query/fields.ts';
import { isSameTime } from '../../../query/timestamp.ts';
import { type FileLabel, parseLines } from '../snapshot-file.ts';

export interface Change {
  /** moved: another name, path, folder or data store; updated: any other difference. */
  readonly change: 'added' | 'updated' | 'moved' | 'removed';
  /** As it is now, or as it was before it was removed. */
  readonly image: ReceivedImage;
  readonly before: ReceivedImage | null;
}

/** What compareLists finds, if 1, 2 and 3 became 1 as before, 2 with another name, and 4: */
interface ListComparison {
  /** 2 moved and 4 added, in the new order. */
  readonly changes: readonly Change[];
  /** 3 as it was. It may exist, and no longer match the query. */
  readonly missing: readonly ReceivedImage[];
  /** The JSON of 1, 2 and 4. */
  readonly lines: readonly string[];
}

/**
 * Compares the lists by id. Unchanged images, whose lines are equal, are not parsed.
 * @param file where the old lines come from
 * @throws ImgctlError bad-answer: an image has no id
 */
export async function compareLists(
  oldLines: readonly string[],
  images: AsyncIterable<readonly ReceivedImage[]>,
  file: FileLabel,
): Promise<ListComparison> {
  // Keep one line of each image: the old one, unless it differs. Also keep the images that differ.
  const sameOldLine = new Map(oldLines.map((line) => [line, line]));
  const lineByKey = new Map<unknown, string>();
  const different: ReceivedImage[] = [];
  for await (const page of images) {
    for (const image of page) {
      requireId(image);
      const line = stringify(image);
      const oldLine = sameOldLine.get(line);
      lineByKey.set(keyOf(image), oldLine ?? line);
      if (oldLine === undefined) different.push(image);
    }
  }
  // Parse only the old lines that no new one equals.
  const lines = [...lineByKey.values()];
  const newLines = new Set(lines);
  const gone = oldLines.filter((line) => !newLines.has(line));
  const oldByKey = byKey(await parseLines(gone, file));
  // Pair them by id.
  const changes = different.flatMap((image): Change | [] => {
    const before = oldByKey.get(keyOf(image));
    return before ? (changeOf(before, image) ?? []) : { change: 'added', image, before: null };
  });
  const missing = [...oldByKey.values()].filter((image) => !lineByKey.has(keyOf(image)));
  return { changes, missing, lines };
}

function requireId({ id = null }: ReceivedImage): void {
  if (id !== null) return;
  const message = 'cannot compare an image without an id';
  throw new ImgctlError('bad-answer', message, { facts: "leave it out with: -f 'id!=null'" });
}

export function byKey(images: readonly ReceivedImage[]): Map<unknown, ReceivedImage> {
  return new Map(images.map((image) => [keyOf(image), image]));
}

const PLACE_FIELDS = ['name', 'path', 'folder', 'data_store'];

/** Returns how an image has changed; undefined if it is the same. */
export function changeOf(before: ReceivedImage, image: ReceivedImage): Change | undefined {
  const fields = changedFields(before, image);
  if (fields.length === 0) return undefined;
  const isMoved = fields.some((field) => PLACE_FIELDS.includes(field));
  return { change: isMoved ? 'moved' : 'updated', image, before };
}

/**
 * Returns the fields that differ between two images with one id, which may be a number and a text.
 * A field that is missing equals null; times are equal if they are the same instant.
 */
export function changedFields(before: ReceivedImage, image: ReceivedImage): string[] {
  return Object.keys({ ...before, ...image }).filter((field) => {
    const [old, now] = [before[field], image[field]];
    if (field === 'id' || stringify(old) === stringify(now)) return false;
    return !(isTimeField(field) && isSameTime(old, now));
  });
}

const TIMES: readonly string[] = FIELDS.filter((field) => kindOf(field) === 'time');

export function isTimeField(field: string): boolean {
  return TIMES.includes(field);
}

/**
 * Compares images of two services, in which ids mean other images. Of equal labels, the numbers are
 * compared: if the old images have the labels a, a, b and the new ones a, b, c, then c was added
 * and the last a removed.
 */
export function compareLabels(
  old: readonly ReceivedImage[],
  now: readonly ReceivedImage[],
): readonly Change[] {
  return [
    ...surplus(now, old).map((image) => ({ change: 'added', image, before: null }) as const),
    ...surplus(old, now).map((image) => ({ change: 'removed', image, before: image }) as const),
  ];
}

/** Returns the last images of each label that occurs more often than among the others. */
function surplus(images: readonly ReceivedImage[], others: readonly ReceivedImage[]) {
  const unpaired = new Map<string, number>();
  for (const label of others.map(labelOf)) unpaired.set(label, (unpaired.get(label) ?? 0) + 1);
  return images.filter((image) => {
    const label = labelOf(image);
    const count = unpaired.get(label) ?? 0;
    if (count > 0) unpaired.set(label, count - 1);
    return count === 0;
  });
}

function labelOf({ label, name }: ReceivedImage): string {
  return `${label ?? name}`;
}
