// Parses --sort field,direction and sorts images.

import { ImgctlError } from '../errors.ts';
import {
  compareText,
  type Field,
  type FieldValue,
  type ImageRecord,
  kindOf,
  readValue,
  resolveField,
} from './fields.ts';
import { parseChoice, quoted } from './suggest.ts';
import { parseTimestamp } from './timestamp.ts';

export const DIRECTIONS = ['asc', 'desc'] as const;

export interface SortKey {
  readonly field: Field;
  readonly direction: (typeof DIRECTIONS)[number];
  /** As the service expects it, service-api.md section 4.3. */
  readonly wire: string;
}

/** @throws ImgctlError usage */
export function parseSort(text: string): SortKey {
  const where = `--sort ${quoted(text)}`;
  const [fieldName = '', directionName = 'asc', extra] = text.split(',');
  const field = resolveField(fieldName, where);
  const direction = parseChoice(directionName, { noun: 'direction', valid: DIRECTIONS, where });
  if (extra !== undefined) {
    throw new ImgctlError('usage', `too many parts in ${where}`, {
      hint: 'use --sort field,direction once per key, the most significant key first',
    });
  }
  return { field, direction, wire: `${field},${direction}` };
}

/**
 * Returns the images in a new array, sorted stably by the keys. Ascending: null or missing, numbers
 * (false as 0, true as 1), text by code point. Times count as instants only if all of the field can be
 * parsed: mixed with text they would have no consistent order.
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

function ranksOf(images: readonly ImageRecord[], field: Field): Rank[] {
  const values = images.map((image) => readValue(image, field));
  return (kindOf(field) === 'time' ? instantsOf(values) : undefined) ?? values.map(rankOf);
}

function rankOf(value: FieldValue): Rank {
  return typeof value === 'boolean' ? Number(value) : value;
}

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
