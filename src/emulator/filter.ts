// The filter and sort of the image list (section 4.3), as this service answers what the contract leaves open:
// - A value is compared as its field's kind: id as an integer, public as true or false, time stamps as instants
//   (written in the service's own shape), all else as text by code point, case-sensitive.
// - A value that is not of its field's kind is refused with 400, as are unknown fields, operators and directions.
// - `like` looks at the text of any field, ignores case, and its pattern spans the whole text; `%` is its one wildcard.
// - `in` splits its value at every comma.
// - A null folder equals `null` alone, differs from every other value, and satisfies no other operator.
// - A sort puts null first and leaves equal images in the order of their ids.

import type { Image } from '../api/types.ts';
import type { CatalogEntry } from './catalog.ts';
import { Refusal } from './responses.ts';
import { parseTimestamp } from './timestamp.ts';

export type Predicate = (entry: CatalogEntry) => boolean;

export interface SortOrder {
  readonly field: Field;
  readonly descending: boolean;
}

/** A filter `<field_name>,<operator>,<value>`, split at its first two commas; 400 when it is wrong. */
export function parseFilter(text: string): Predicate {
  const parts = /^([^,]*),([^,]*),(.*)$/s.exec(text);
  if (parts === null) {
    throw new Refusal(400, `Wrong filter "${text}"; expected <field_name>,<operator>,<value>.`);
  }
  const [, name = '', operator = '', value = ''] = parts;
  const field = parseField(name);
  if (operator === 'like') {
    const matches = likeMatcher(value);
    return ({ image }) => image[field] !== null && matches(String(image[field]));
  }
  const test = keyTest(operator, field, value);
  return (entry) => test(keyOf(entry, field));
}

/** A sort `<field_name>,<asc|desc>`; 400 when it is wrong. */
export function parseSort(text: string): SortOrder {
  const [name = '', direction, ...rest] = text.split(',');
  if (rest.length > 0 || (direction !== 'asc' && direction !== 'desc')) {
    throw new Refusal(400, `Wrong sort "${text}"; expected <field_name>,<asc|desc>.`);
  }
  return { field: parseField(name), descending: direction === 'desc' };
}

function keyTest(operator: string, field: Field, value: string): (key: Key | null) => boolean {
  if (operator === 'in') {
    const items = new Set(value.split(',').map((item) => parseKey(field, item)));
    return (key) => key !== null && items.has(key);
  }
  const wanted = field === 'folder' && value === 'null' ? null : parseKey(field, value);
  switch (operator) {
    case 'eq':
      return (key) => key === wanted;
    case 'ne':
      return (key) => key !== wanted;
  }
  const operand = parseKey(field, value);
  switch (operator) {
    case 'lt':
      return (key) => key !== null && key < operand;
    case 'le':
      return (key) => key !== null && key <= operand;
    case 'gt':
      return (key) => key !== null && key > operand;
    case 'ge':
      return (key) => key !== null && key >= operand;
  }
  throw new Refusal(
    400,
    `Unknown operator "${operator}"; the operators are eq, ne, lt, le, gt, ge, like, in.`,
  );
}

/**
 * Whether a text matches the pattern. The pieces between the wildcards are looked for from left to right,
 * each once, so that no pattern takes more than one pass over the text.
 */
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

export type Field = keyof Image;

/** A value in the form in which it is compared: time stamps are instants. */
export type Key = number | string | boolean;

type Kind = 'integer' | 'text' | 'boolean' | 'time';

const KINDS: Record<Field, Kind> = {
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

/** All fields of an image. */
export const FIELDS: readonly Field[] = Object.keys(KINDS).filter(isField);

/** The field that a filter or sort names; 400 for any other word. */
export function parseField(name: string): Field {
  if (isField(name)) return name;
  throw new Refusal(400, `Unknown field "${name}"; the fields are ${FIELDS.join(', ')}.`);
}

function isField(name: string): name is Field {
  return Object.hasOwn(KINDS, name);
}

/** The image's value of a field, ready to be compared. */
export function keyOf(entry: CatalogEntry, field: Field): Key | null {
  if (field === 'created_on') return entry.created;
  if (field === 'updated_on') return entry.updated;
  return entry.image[field];
}

/** A filter's value, ready to be compared with that field; 400 when it can't be of the field's kind. */
export function parseKey(field: Field, text: string): Key {
  const key = READERS[KINDS[field]](text);
  if (key !== undefined) return key;
  throw new Refusal(400, `"${text}" is not a value of the field ${field}.`);
}

const READERS: Record<Kind, (text: string) => Key | undefined> = {
  integer: (text) => (/^-?\d+$/.test(text) ? Number(text) : undefined),
  text: (text) => text,
  boolean: (text) => (text === 'true' || text === 'false' ? text === 'true' : undefined),
  time: parseTimestamp,
};
