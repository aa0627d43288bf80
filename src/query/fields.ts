// The fields of an image: their kinds, the values they hold, how values compare, and --sort.

import { ImgctlError } from '../errors.ts';
import { ExactNumber } from '../json.ts';
import { parseChoice, quoted } from './suggest.ts';
import { parseTimestamp } from './timestamp.ts';

type FieldKind = 'number' | 'text' | 'boolean' | 'time';

const KINDS = {
  id: 'number',
  name: 'text',
  path: 'text',
  label: 'text',
  folder: 'text',
  data_store: 'text',
  public: 'boolean',
  created_on: 'time',
  updated_on: 'time',
} as const satisfies Record<string, FieldKind>;

export type Field = keyof typeof KINDS;

/** In the order of service-api.md section 2.2. */
export const FIELDS: readonly Field[] = Object.keys(KINDS) as Field[];

export function kindOf(field: Field): FieldKind {
  return KINDS[field];
}

export function resolveField(name: string, where: string): Field {
  return parseChoice(name, { noun: 'field', valid: FIELDS, where });
}

/** An image as the service sent it: any field may be missing or have any type. */
export type ImageRecord = Readonly<Record<string, unknown>>;

export type FieldValue = number | boolean | string | null;

/** Returns the value as its field's kind ("12" as 12) if possible, else as text; null for objects. */
export function readValue(image: ImageRecord, field: Field): FieldValue {
  const raw = Object.hasOwn(image, field) ? image[field] : null;
  const kind = kindOf(field);
  if (typeof raw === 'string') return parseValue(raw, kind);
  if (typeof raw === 'number' && !Number.isNaN(raw)) return kind === 'number' ? raw : `${raw}`;
  if (typeof raw === 'boolean') return kind === 'boolean' ? raw : `${raw}`;
  if (raw instanceof ExactNumber) return `${raw}`;
  return null;
}

export function parseValue(text: string, kind: FieldKind): number | boolean | string {
  if (kind === 'number') return parseInteger(text) ?? text;
  if (kind === 'boolean') return parseBoolean(text) ?? text;
  return text;
}

function parseInteger(text: string): number | undefined {
  if (!/^-?\d{1,16}$/.test(text)) return undefined;
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : undefined;
}

function parseBoolean(text: string): boolean | undefined {
  const lowerCase = text.toLowerCase();
  if (lowerCase === 'true') return true;
  return lowerCase === 'false' ? false : undefined;
}

/** Compares values of one kind by size (false before true) and all others as text. */
export function compareValues(left: FieldValue, right: FieldValue): number {
  if (left === right) return 0;
  if (typeof left === typeof right && typeof left !== 'string') return Number(left) - Number(right);
  return compareText(`${left}`, `${right}`);
}

/** Compares by code point; `<` compares UTF-16 units, which puts emoji before U+E000. */
export function compareText(left: string, right: string): number {
  const shorter = Math.min(left.length, right.length);
  for (let index = 0; index < shorter; index += 1) {
    const leftUnit = left.charCodeAt(index);
    const rightUnit = right.charCodeAt(index);
    if (leftUnit !== rightUnit) return codePointRank(leftUnit) - codePointRank(rightUnit);
  }
  return left.length - right.length;
}

function codePointRank(unit: number): number {
  const isSurrogate = unit >= 0xd800 && unit <= 0xdfff;
  return isSurrogate ? unit + 0x10000 : unit;
}

export const DIRECTIONS = ['asc', 'desc'] as const;

interface SortKey {
  readonly field: Field;
  readonly direction: (typeof DIRECTIONS)[number];
  /** As the service expects it, service-api.md section 4.3. */
  readonly wire: string;
}

export function parseSort(text: string): SortKey {
  const where = `--sort ${quoted(text)}`;
  const [fieldName = '', directionName = 'asc', extra] = text.split(',');
  const meant = meantSort(text);
  if (meant !== undefined) {
    throw new ImgctlError('usage', `unknown field ${quoted(fieldName)} in ${where}`, {
      hint: `did you mean ${meant}?`,
    });
  }
  const field = resolveField(fieldName, where);
  const direction = parseChoice(directionName, { noun: 'direction', valid: DIRECTIONS, where });
  if (extra !== undefined) {
    throw new ImgctlError('usage', `too many parts in ${where}`, {
      hint: 'use --sort field,direction once per key, the most significant key first',
    });
  }
  return { field, direction, wire: `${field},${direction}` };
}

/** Reads a sort key as other tools write it: `-name`, `name:desc`, `name=desc`. */
function meantSort(text: string): string | undefined {
  const [, sign, name = '', direction] = /^([-+])?(\w+)(?:[:=. ](asc|desc))?$/i.exec(text) ?? [];
  const field = FIELDS.find((each) => each === name.toLowerCase());
  if (field === undefined || (sign ?? direction) === undefined) return undefined;
  return `${field},${direction?.toLowerCase() ?? (sign === '-' ? 'desc' : 'asc')}`;
}

/**
 * Returns the images in a new array, sorted stably by the keys. Ascending: null or missing, numbers
 * (false as 0, true as 1), text by code point. Times count as instants only if all values of the field
 * can be parsed: mixed with text they would have no consistent order.
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
