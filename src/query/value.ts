// What an image's field holds, whatever the service sent there, and how two such values compare.

import { type Field, type FieldKind, kindOf } from './fields.ts';

/** A JSON object that the service calls an image; nothing about it is certain. */
export type ImageRecord = Readonly<Record<string, unknown>>;

export type FieldValue = number | boolean | string | null;

/**
 * The value of a field: a number, a boolean or text as the field's kind asks for, also where it was
 * sent as text ("12"); text where it is neither; null where it is missing, null, an object or an array.
 */
export function readValue(image: ImageRecord, field: Field): FieldValue {
  const sent = Object.hasOwn(image, field) ? image[field] : null;
  const kind = kindOf(field);
  if (typeof sent === 'string') return interpret(sent, kind);
  if (typeof sent === 'number' && !Number.isNaN(sent)) return kind === 'number' ? sent : `${sent}`;
  if (typeof sent === 'boolean') return kind === 'boolean' ? sent : `${sent}`;
  return null;
}

/** Text as a value of that kind; it stays text where it is none. */
export function interpret(text: string, kind: FieldKind): number | boolean | string {
  if (kind === 'number') return readInteger(text) ?? text;
  if (kind === 'boolean') return readBoolean(text) ?? text;
  return text;
}

/** A whole number that a double holds exactly. */
function readInteger(text: string): number | undefined {
  if (!/^-?\d{1,16}$/.test(text)) return undefined;
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : undefined;
}

function readBoolean(text: string): boolean | undefined {
  const lowered = text.toLowerCase();
  if (lowered === 'true') return true;
  return lowered === 'false' ? false : undefined;
}

/** Two values of one kind by size (false before true), any others as text. */
export function compareValues(left: FieldValue, right: FieldValue): number {
  if (left === right) return 0;
  if (typeof left === typeof right && typeof left !== 'string') return Number(left) - Number(right);
  return compareText(`${left}`, `${right}`);
}

/** By code point: like `<` on strings, but with the characters beyond the first plane in their place. */
export function compareText(left: string, right: string): number {
  const shortest = Math.min(left.length, right.length);
  for (let index = 0; index < shortest; index += 1) {
    const leftUnit = left.charCodeAt(index);
    const rightUnit = right.charCodeAt(index);
    if (leftUnit !== rightUnit) return orderOf(leftUnit) - orderOf(rightUnit);
  }
  return left.length - right.length;
}

/** Half of a surrogate pair stands for a code point above all that need one unit only. */
function orderOf(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
