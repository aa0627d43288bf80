// Parses --sort and sorts images.

import { parseChoice } from '../choices.ts';
import { ImgctlError } from '../errors.ts';
import { quoted } from '../words.ts';
import {
  compareValues,
  FIELDS,
  type Field,
  type ImageRecord,
  kindOf,
  readValue,
} from './fields.ts';
import { SeriesIndex } from './series.ts';
import { parseTime } from './timestamp.ts';

export const DIRECTIONS = ['asc', 'desc'] as const;

const VERSION_KEY = 'name:version';

export const SORT_FIELDS = [...FIELDS, VERSION_KEY] as const;

export interface SortKey {
  readonly field: (typeof SORT_FIELDS)[number];
  readonly direction: (typeof DIRECTIONS)[number];
}

export type FieldSort = SortKey & { readonly field: Field };

/** The order of lists that nobody sorts. Only the id tells all images apart. */
export const BY_ID: FieldSort = { field: 'id', direction: 'desc' };

/** As other tools write it: -name, name:desc, name=desc. */
const OTHER_FORMS = /^-([\w:]*)|^([\w:]+)[:=. ](asc|desc)$/;

/** @throws ImgctlError usage */
export function parseSort(text: string): SortKey {
  const form = OTHER_FORMS.exec(text.toLowerCase());
  if (form) {
    const [, descending, name = descending, order = 'desc'] = form;
    const meant = SORT_FIELDS.find((each) => each === name);
    const facts = meant
      ? `did you mean ${meant},${order}?`
      : 'use FIELD,DIRECTION, such as name,desc';
    throw new ImgctlError('usage', `unknown field ${quoted(text)} in sort`, { facts });
  }
  const [fieldName = '', directionName = 'asc'] = text.split(/,(.*)/s).map((part) => part.trim());
  const where = 'sort';
  const field = parseChoice(fieldName, { noun: 'field', valid: SORT_FIELDS, where });
  // name,id or name,asc,id
  if (SORT_FIELDS.some((each) => directionName.toLowerCase().split(',').includes(each))) {
    const facts = 'to sort by more fields, repeat the option';
    throw new ImgctlError('usage', `unknown direction ${quoted(directionName)} in sort`, { facts });
  }
  const direction = parseChoice(directionName, { noun: 'direction', valid: DIRECTIONS, where });
  return { field, direction };
}

export function isFieldSort(key: SortKey): key is FieldSort {
  return key.field !== VERSION_KEY;
}

/** Returns the key as the service expects it, service.md section 4.3. */
export function printSort({ field, direction }: FieldSort): string {
  return `${field},${direction}`;
}

/** As sent: `id,desc`. */
export const SORT_BY_ID = printSort(BY_ID);

/** True if the keys sort by `sort` alone. Without keys, the sort is by id. */
export function isSortedBy(keys: readonly SortKey[], sort: FieldSort): boolean {
  const [key = BY_ID, ...others] = keys;
  return others.length === 0 && key.field === sort.field && key.direction === sort.direction;
}

/**
 * Sorts stably, as compareValues does. Times count as instants: in an unknown zone as UTC,
 * unreadable ones as missing.
 */
export function sortImages<Row extends ImageRecord>(
  images: readonly Row[],
  keys: readonly SortKey[],
): Row[] {
  const columns = keys.map(({ field, direction }) => ({
    ranks: field === VERSION_KEY ? versionRanks(images) : ranksOf(images, field),
    sign: direction === 'asc' ? 1 : -1,
  }));
  const rows = images.map((image, index) => ({ image, index }));
  rows.sort((left, right) => {
    for (const { ranks, sign } of columns) {
      const order = compareValues(ranks[left.index] ?? null, ranks[right.index] ?? null);
      if (order !== 0) return order * sign;
    }
    return 0;
  });
  return rows.map((row) => row.image);
}

/** Returns what a field is sorted by. */
export function ranksOf(images: readonly ImageRecord[], field: Field) {
  const isTime = kindOf(field) === 'time';
  return images.map((image) => {
    const value = readValue(image, field);
    return isTime && value !== null ? (parseTime(`${value}`)?.at ?? null) : value;
  });
}

/** Returns numbers in the order of series, then of versions, the oldest first; null for no name. */
function versionRanks(images: readonly ImageRecord[]): (number | null)[] {
  const index = new SeriesIndex<ImageRecord>();
  for (const image of images) index.add(image);
  const ranked = index.rankedImages();
  const ranks = new Map<ImageRecord, number>();
  // No rank is greater than the number of images, so each series has numbers of its own.
  for (const { image, seriesNumber, rank } of ranked) {
    ranks.set(image, ranked.length * (seriesNumber + 1) - rank);
  }
  return images.map((image) => ranks.get(image) ?? null);
}
