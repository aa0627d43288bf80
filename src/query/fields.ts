// The fields of an image, service-api.md section 2.2, and what kind of value each one holds.

import { parseChoice } from './usage.ts';

export type FieldKind = 'number' | 'text' | 'boolean' | 'time';

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

/** In the order in which the service documents them. */
export const FIELDS: readonly Field[] = Object.keys(KINDS) as Field[];

export function kindOf(field: Field): FieldKind {
  return KINDS[field];
}

/**
 * The field of that name, whatever its case. `where` says where the name stands, for the message.
 * Throws a usage error that lists the fields and suggests the nearest.
 */
export function resolveField(name: string, where: string): Field {
  return parseChoice(name, { noun: 'field', valid: FIELDS, where });
}
