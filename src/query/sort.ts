// Parses --sort and sorts images.

import { parseChoice } from '../choices.ts';
import { ImgctlError } from '../errors.ts';
import { quoted } from '../words.ts';
import { compareText, FIELDS, type Field, type ImageRecord, kindOf, readValue } from './fields.ts';
import { versionRanks } from './series.ts';
import { parseTime } from './timestamp.ts';

export const DIRECTIONS = ['asc', 'desc'] as const;

const VERSION_KEY = 'name:version';

export const SORT_FIELDS = [...FIELDS, VERSION_KEY] as const;

export interface SortKey {
  readonly field: (typeof SORT_FIELDS)[number];
  readonly direction: (typeof DIRECTIONS)[number];
}

export interface FieldSort extends SortKey {
  readonly field: Field;
}

/** The order of lists that nobody sorts. Only the id tells all images apart. */
export const BY_ID: FieldSort = { field: 'id', direction: 'desc' };

/** @throws ImgctlError usage */
export function parseSort(text: string): SortKey {
  const [fieldName = '', directionName = 'asc', extra] = text.split(',');
  const meant = meantSort(text);
  if (meant !== undefined) {
    const message = `unknown field ${quoted(fieldName)} in sort`;
    throw new ImgctlError('usage', message, { facts: `did you mean ${meant}?` });
  }
  const where = 'sort';
  const field = parseChoice(fieldName, { noun: 'field', valid: SORT_FIELDS, where });
  const direction = parseChoice(directionName, { noun: 'direction', valid: DIRECTIONS, where });
  if (extra !== undefined) {
    const message = `too many parts in sort ${quoted(text)}`;
    throw new ImgctlError('usage', message, { facts: { kind: 'too-many-keys' } });
  }
  return { field, direction };
}

export function isFieldSort(key: SortKey): key is FieldSort {
  return key.field !== VERSION_KEY;
}

/** Returns the key as the service expects it, service.md section 4.3. */
export function printSort({ field, direction }: FieldSort): string {
  return `${field},${direction}`;
}

/** Reads a sort key as other tools write it: `-name`, `name:desc`, `name=desc`. */
function meantSort(text: string): string | undefined {
  const [, sign, name = '', direction] = /^([-+])?(\w+)(?:[:=. ](asc|desc))?$/i.exec(text) ?? [];
  const field = FIELDS.find((each) => each === name.toLowerCase());
  if (field === undefined || (sign ?? direction) === undefined) return undefined;
  return `${field},${direction?.toLowerCase() ?? (sign === '-' ? 'desc' : 'asc')}`;
}

/**
 * Sorts stably. Ascending: null or missing, numbers (false as 0, true as 1), text by code point. Times count as
 * instants: in an unknown zone as UTC, unreadable ones as missing.
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
      const order = compareRanks(ranks[left.index] ?? null, ranks[right.index] ?? null);
      if (order !== 0) return order * sign;
    }
    return 0;
  });
  return rows.map((row) => row.image);
}

type Rank = number | string | null;

export function ranksOf(images: readonly ImageRecord[], field: Field): Rank[] {
  const isTime = kindOf(field) === 'time';
  return images.map((image) => {
    const value = readValue(image, field);
    if (typeof value === 'boolean') return Number(value);
    return isTime && value !== null ? (parseTime(`${value}`)?.at ?? null) : value;
  });
}

export function compareRanks(left: Rank, right: Rank): number {
  if (left === right) return 0;
  if (left === null) return -1;
  if (right === null) return 1;
  if (typeof left === 'number') return typeof right === 'number' ? left - right : -1;
  return typeof right === 'number' ? 1 : compareText(`${left}`, `${right}`);
}
