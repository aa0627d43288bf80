// The fields of an image as the list operations compare them: what kind each is and how a query names its values.

import type { Image } from '../api/types.ts';
import { Refusal } from './answers.ts';
import type { CatalogEntry } from './catalog.ts';
import { parseTimestamp } from './timestamp.ts';

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
