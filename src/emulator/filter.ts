// Filter and sort of the image list (section 4.3), with rules for what the contract leaves open:
// - Values compare by the field's kind: integer (id), boolean (public), instant (timestamps in the service's
//   format), else case-sensitive text by code point.
// - A value of another kind gets 400, as do unknown fields, operators and directions.
// - `like` matches the whole text of any field and ignores case; `%` is the only wildcard.
// - `in` splits its value at every comma.
// - A null folder equals only `null`, is ne to anything else, and matches no other operator.
// - A sort puts null first; equal images stay in the order of their ids.

import type { Image } from '../api/types.ts';
import type { CatalogEntry } from './catalog.ts';
import { HttpError } from './http.ts';
import { parseTimestamp } from './timestamp.ts';

export type Predicate = (entry: CatalogEntry) => boolean;

export interface SortOrder {
  readonly field: ImageField;
  readonly descending: boolean;
}

/** Parses `<field_name>,<operator>,<value>`, split at the first two commas; throws 400. */
export function parseFilter(text: string): Predicate {
  const parts = /^([^,]*),([^,]*),(.*)$/s.exec(text);
  if (parts === null) {
    throw new HttpError(400, `Wrong filter "${text}"; expected <field_name>,<operator>,<value>.`);
  }
  const [, name = '', operator = '', value = ''] = parts;
  const field = parseImageField(name);
  if (operator === 'like') {
    const matches = likeMatcher(value);
    return ({ image }) => (image[field] ?? null) !== null && matches(String(image[field]));
  }
  const test = valueTest(operator, field, value);
  return (entry) => test(fieldValue(entry, field));
}

/** Parses `<field_name>,<asc|desc>`; throws 400. */
export function parseSort(text: string): SortOrder {
  const [name = '', direction, ...rest] = text.split(',');
  if (rest.length > 0 || (direction !== 'asc' && direction !== 'desc')) {
    throw new HttpError(400, `Wrong sort "${text}"; expected <field_name>,<asc|desc>.`);
  }
  return { field: parseImageField(name), descending: direction === 'desc' };
}

function valueTest(
  operator: string,
  field: ImageField,
  value: string,
): (actual: FieldValue | null) => boolean {
  if (operator === 'in') {
    const items = new Set(value.split(',').map((item) => parseFieldValue(field, item)));
    return (actual) => actual !== null && items.has(actual);
  }
  const wanted = field === 'folder' && value === 'null' ? null : parseFieldValue(field, value);
  if (operator === 'eq') return (actual) => actual === wanted;
  if (operator === 'ne') return (actual) => actual !== wanted;
  const operand = parseFieldValue(field, value);
  switch (operator) {
    case 'lt':
      return (actual) => actual !== null && actual < operand;
    case 'le':
      return (actual) => actual !== null && actual <= operand;
    case 'gt':
      return (actual) => actual !== null && actual > operand;
    case 'ge':
      return (actual) => actual !== null && actual >= operand;
  }
  throw new HttpError(
    400,
    `Unknown operator "${operator}"; the operators are eq, ne, lt, le, gt, ge, like, in.`,
  );
}

/** Finds the pieces between wildcards from left to right, so that every pattern takes one pass. */
function likeMatcher(pattern: string): (text: string) => boolean {
  const pieces = pattern.toLowerCase().split('%');
  const first = pieces[0] ?? '';
  const last = pieces.at(-1) ?? '';
  if (pieces.length === 1) return (text) => text.toLowerCase() === first;
  const inner = pieces.slice(1, -1).filter((piece) => piece !== '');
  return (text) => {
    const lower = text.toLowerCase();
    const end = lower.length - last.length;
    if (end < first.length || !lower.startsWith(first) || !lower.endsWith(last)) return false;
    let from = first.length;
    for (const piece of inner) {
      const found = lower.indexOf(piece, from);
      if (found === -1 || found + piece.length > end) return false;
      from = found + piece.length;
    }
    return true;
  };
}

export type ImageField = keyof Image;

/** A comparable value; timestamps are instants. */
export type FieldValue = number | string | boolean;

type Kind = 'integer' | 'text' | 'boolean' | 'time';

const KINDS: Record<ImageField, Kind> = {
  id: 'integer',
  name: 'text',
  path: 'text',
  label: 'text',
  folder: 'text',
  data_store: 'text',
  public: 'boolean',
  created_on: 'time',
  updated_on: 'time',
};

export const IMAGE_FIELDS: readonly ImageField[] = Object.keys(KINDS).filter(isImageField);

function parseImageField(name: string): ImageField {
  if (isImageField(name)) return name;
  throw new HttpError(400, `Unknown field "${name}"; the fields are ${IMAGE_FIELDS.join(', ')}.`);
}

function isImageField(name: string): name is ImageField {
  return Object.hasOwn(KINDS, name);
}

export function fieldValue(entry: CatalogEntry, field: ImageField): FieldValue | null {
  if (field === 'created_on') return entry.created;
  if (field === 'updated_on') return entry.updated;
  // An image of a snapshot may lack it.
  return entry.image[field] ?? null;
}

function parseFieldValue(field: ImageField, text: string): FieldValue {
  const value = READERS[KINDS[field]](text);
  if (value !== undefined) return value;
  throw new HttpError(400, `"${text}" is not a value of the field ${field}.`);
}

const READERS: Record<Kind, (text: string) => FieldValue | undefined> = {
  integer: (text) => (/^-?\d+$/.test(text) ? Number(text) : undefined),
  text: (text) => text,
  boolean: (text) => (text === 'true' || text === 'false' ? text === 'true' : undefined),
  time: parseTimestamp,
};
