// The fields of an image: their kinds, the values they hold, and how values compare.

import { ExactNumber } from '../json.ts';
import { parseChoice } from './suggest.ts';

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

export const TIME_FIELDS = ['created_on', 'updated_on'] as const satisfies readonly Field[];

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
  if (kind === 'boolean' && /^(true|false)$/i.test(text)) return text.toLowerCase() === 'true';
  const isInteger = kind === 'number' && /^-?\d{1,16}$/.test(text);
  return isInteger && Number.isSafeInteger(Number(text)) ? Number(text) : text;
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
