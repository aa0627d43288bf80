// Compares two lists of images: what a change is, and the old values that tables show.

import { keyOf } from '../../api/images.ts';
import type { ReceivedImage } from '../../api/types.ts';
import { type FileLabel, parseLines } from '../../catalogue/snapshot.ts';
import { stringify } from '../../json.ts';
import { cellText } from '../../output/text.ts';
import { FIELDS, kindOf } from '../../query/fields.ts';
import { isSameTime } from '../../query/timestamp.ts';

export interface Change {
  /** moved: another name, path, folder or data store; updated: any other difference. */
  readonly change: 'added' | 'updated' | 'moved' | 'removed';
  /** As it is now, or as it was before it was removed. */
  readonly image: ReceivedImage;
  readonly before: ReceivedImage | null;
}

/**
 * Compares the lists; unchanged images cost neither parsing nor memory.
 * @returns the changes in the order of the new images, the old images that were not listed, and the JSON of the new ones
 */
export async function compareLists(
  oldLines: readonly string[],
  images: AsyncIterable<readonly ReceivedImage[]>,
  file: FileLabel,
) {
  const unseen = new Map(oldLines.map((line) => [line, line]));
  const lines = new Map<unknown, string>();
  const different = new Map<unknown, ReceivedImage>();
  for await (const page of images) {
    for (const image of page) {
      const line = stringify(image);
      // The old text, so that the new one need not stay in memory.
      const same = unseen.get(line);
      lines.set(keyOf(image), same ?? line);
      if (same === undefined) different.set(keyOf(image), image);
    }
  }
  for (const line of lines.values()) unseen.delete(line);
  const old = new Map<unknown, ReceivedImage>();
  for (const image of await parseLines([...unseen.keys()], file)) old.set(keyOf(image), image);
  const listed = [...different].flatMap(([key, image]): Change | [] => {
    const before = old.get(key);
    return before ? (changeOf(before, image) ?? []) : { change: 'added', image, before: null };
  });
  const missing = [...old].filter(([key]) => !lines.has(key)).map(([, image]) => image);
  return { listed, missing, lines: [...lines.values()] };
}

export function changeOf(before: ReceivedImage, image: ReceivedImage): Change | undefined {
  if (differs(before, image, PLACE_FIELDS)) return { change: 'moved', image, before };
  const isUpdated = differs(before, image, Object.keys({ ...before, ...image }));
  return isUpdated ? { change: 'updated', image, before } : undefined;
}

export function mapTimes(image: ReceivedImage, timeText: (time: string) => string): ReceivedImage {
  const entries = Object.entries(image).map(([name, value]) => {
    const isTime = TIMES.includes(name) && typeof value === 'string';
    return [name, isTime ? timeText(value) : value];
  });
  return Object.fromEntries(entries);
}

export const CHANGE_CELLS: readonly string[] = [
  'change',
  'id',
  'name',
  'folder',
  'updated_on',
  'before',
];

/** On a terminal, `before` shows the old and the new folder. */
export const CELLS_ON_TERMINAL = CHANGE_CELLS.filter((name) => name !== 'folder');

const PLACE_FIELDS = ['name', 'path', 'folder', 'data_store'];

/**
 * Returns `folder: linux`, `data_store: a, now b`, or the old time; null if the image was removed.
 * @param arrow on a terminal: `folder: linux → ubuntu`
 */
export function oldValues(
  image: ReceivedImage,
  before: ReceivedImage,
  timeOf: (text: string) => string,
  arrow: string | false,
) {
  const changed = (fields: string[]) => fields.filter((field) => differs(before, image, [field]));
  const places = changed(['name', 'folder', 'data_store']);
  const fields = places.length > 0 ? places : changed(Object.keys({ ...before, ...image }));
  const { updated_on: time } = before;
  if (fields.join() === 'updated_on' && typeof time === 'string') return timeOf(time);
  const shown = arrow ? CELLS_ON_TERMINAL : CHANGE_CELLS;
  const texts = fields.map((field) => {
    const old = `${field}: ${cellText(before[field] ?? '-')}`;
    if (shown.includes(field)) return old;
    return `${old}${arrow ? ` ${arrow} ` : ', now '}${cellText(image[field] ?? '-')}`;
  });
  return texts.join('; ') || null;
}

/**
 * Compares two images with one id, which may be a number and a text. A field that is missing equals null; times are
 * equal if they are the same instant.
 */
function differs(left: ReceivedImage, right: ReceivedImage, fields: readonly string[]): boolean {
  return fields.some((field) => {
    const [before, after] = [left[field], right[field]];
    if (field === 'id' || stringify(before) === stringify(after)) return false;
    return !(TIMES.includes(field) && isSameTime(before, after));
  });
}

const TIMES: readonly string[] = FIELDS.filter((field) => kindOf(field) === 'time');
