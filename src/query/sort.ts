// --sort field,direction: taken apart, checked, and applied.

import { ImgctlError } from '../errors.ts';
import { type Field, kindOf, resolveField } from './fields.ts';
import { parseTimestamp } from './timestamp.ts';
import { parseChoice, quoted } from './usage.ts';
import { compareText, type FieldValue, type ImageRecord, readValue } from './value.ts';

export const DIRECTIONS = ['asc', 'desc'] as const;

export interface SortKey {
  readonly field: Field;
  readonly direction: (typeof DIRECTIONS)[number];
  /** As the service takes it, service-api.md section 4.3. */
  readonly wire: string;
}

/**
 * Reads one sort key; the direction may be left out (asc).
 * Throws a usage error that names the part that is wrong and what is valid there.
 */
export function parseSort(text: string): SortKey {
  const where = `--sort ${quoted(text)}`;
  const [fieldName = '', directionName = 'asc', extra] = text.split(',');
  const field = resolveField(fieldName, where);
  const direction = parseChoice(directionName, { noun: 'direction', valid: DIRECTIONS, where });
  if (extra !== undefined) {
    throw new ImgctlError('usage', `more than a field and a direction in ${where}`, {
      hint: 'give --sort once for each key, the most significant first',
    });
  }
  return { field, direction, wire: `${field},${direction}` };
}

/**
 * The images in the order of the keys, the most significant first, in a new array; images that are
 * equal in all of them stay in the order they came in. Ascending is: null or missing, numbers (false as
 * 0, true as 1), text by code point. Times count as instants if all of that field can be read, else
 * as text: to mix the two could not be an order, as text and instants contradict each other.
 */
export function sortImages<Row extends ImageRecord>(
  images: readonly Row[],
  keys: readonly SortKey[],
): Row[] {
  const columns = keys.map((key) => ({
    ranks: ranksOf(images, key.field),
    sign: key.direction === 'asc' ? 1 : -1,
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

/** What each image is sorted by, read once and not again for each comparison. */
function ranksOf(images: readonly ImageRecord[], field: Field): Rank[] {
  const values = images.map((image) => readValue(image, field));
  return (kindOf(field) === 'time' ? instantsOf(values) : undefined) ?? values.map(rankOf);
}

function rankOf(value: FieldValue): Rank {
  return typeof value === 'boolean' ? Number(value) : value;
}

/** undefined where not all of them are null or can be read. */
function instantsOf(values: readonly FieldValue[]): Rank[] | undefined {
  const instants: Rank[] = [];
  for (const value of values) {
    const instant = value === null ? null : parseTimestamp(`${value}`);
    if (instant === undefined) return undefined;
    instants.push(instant);
  }
  return instants;
}

function compareRanks(left: Rank, right: Rank): number {
  if (left === right) return 0;
  if (left === null) return -1;
  if (right === null) return 1;
  if (typeof left === 'number') return typeof right === 'number' ? left - right : -1;
  return typeof right === 'number' ? 1 : compareText(left, right);
}
