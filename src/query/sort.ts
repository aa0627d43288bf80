// Parses --sort and sorts images.

import { ImgctlError } from '../errors.ts';
import {
  compareText,
  FIELDS,
  type Field,
  type FieldValue,
  type ImageRecord,
  kindOf,
  readValue,
} from './fields.ts';
import { parseChoice, quoted } from './suggest.ts';
import { parseTimestamp } from './timestamp.ts';
import { compareVersions, parseVersion, type VersionedName } from './version.ts';

export const DIRECTIONS = ['asc', 'desc'] as const;

/** Sorts names in version order, which the service does not know. */
const BY_VERSION = 'name:version';

export const SORT_FIELDS = [...FIELDS, BY_VERSION] as const;

interface SortKey {
  readonly field: (typeof SORT_FIELDS)[number];
  readonly direction: (typeof DIRECTIONS)[number];
  /** As the service expects it, service-api.md section 4.3; undefined if imgctl sorts. */
  readonly wire: string | undefined;
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
  const field = parseChoice(fieldName, { noun: 'field', valid: SORT_FIELDS, where });
  const direction = parseChoice(directionName, { noun: 'direction', valid: DIRECTIONS, where });
  if (extra !== undefined) {
    throw new ImgctlError('usage', `too many parts in ${where}`, {
      hint: 'use --sort field,direction once per key, the most significant key first',
    });
  }
  return { field, direction, wire: field === BY_VERSION ? undefined : `${field},${direction}` };
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
  const columns = keys.map(({ field, direction }) => ({
    ranks: field === BY_VERSION ? versionRanks(images) : ranksOf(images, field),
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

/** The place of each name in version order; null for an image without a name. */
function versionRanks(images: readonly ImageRecord[]): Rank[] {
  const names = images.map((image) => readValue(image, 'name'));
  const versions = [...new Set(names)]
    .filter((name) => name !== null)
    .map((name) => ({ name, version: parseVersion(`${name}`) }))
    .sort((left, right) => compareVersions(left.version, right.version));
  const places = new Map<FieldValue, number>();
  let place = 0;
  let last: VersionedName | undefined;
  for (const { name, version } of versions) {
    if (last && compareVersions(last, version) !== 0) place += 1;
    places.set(name, place);
    last = version;
  }
  return names.map((name) => places.get(name) ?? null);
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
