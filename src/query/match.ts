// Matches images against filters and patterns when the service does not.

import {
  compareText,
  compareValues,
  type FieldValue,
  type ImageRecord,
  kindOf,
  readValue,
} from './fields.ts';
import type { Filter, Operand } from './filter.ts';
import { parseTimestamp } from './timestamp.ts';

type Test<Subject> = (subject: Subject) => boolean;

/** A missing value or null matches only `eq,null` and `ne` with anything else. */
export function filterPredicate(filter: Filter): Test<ImageRecord> {
  const test = valueTest(filter);
  return (image) => test(readValue(image, filter.field));
}

function valueTest(filter: Filter): Test<FieldValue> {
  switch (filter.operator) {
    case 'eq':
    case 'in':
      return equalsAny(filter);
    case 'ne': {
      const equals = equalsAny(filter);
      return (value) => !equals(value);
    }
    case 'lt':
      return compares(filter, (order) => order < 0);
    case 'le':
      return compares(filter, (order) => order <= 0);
    case 'gt':
      return compares(filter, (order) => order > 0);
    case 'ge':
      return compares(filter, (order) => order >= 0);
    case 'like': {
      const patterns = filter.operands.map((operand) => likePredicate(operand.text));
      return (value) => value !== null && patterns.some((matches) => matches(`${value}`));
    }
  }
}

/** Uses sets, as `in` may list thousands of values. */
function equalsAny({ field, operands }: Filter): Test<FieldValue> {
  const values = new Set(operands.map((operand) => operand.value));
  if (kindOf(field) !== 'time') return (value) => values.has(value);
  const instants = new Set(operands.map((operand) => operand.instant));
  instants.delete(undefined);
  return (value) => values.has(value) || instants.has(parseTimestamp(`${value}`));
}

function compares({ field, operands }: Filter, accepts: Test<number>): Test<FieldValue> {
  const compare = kindOf(field) === 'time' ? compareTimes : compareOthers;
  return (value) => value !== null && operands.every((operand) => accepts(compare(value, operand)));
}

function compareTimes(value: FieldValue, operand: Operand): number {
  const instant = parseTimestamp(`${value}`);
  if (instant !== undefined && operand.instant !== undefined) return instant - operand.instant;
  return compareText(`${value}`, `${operand.value}`);
}

function compareOthers(value: FieldValue, operand: Operand): number {
  return compareValues(value, operand.value);
}

/** Ignores case; % stands for any text and cannot be escaped. */
export function likePredicate(pattern: string): Test<string> {
  const parts = foldCase(pattern).split('%');
  const first = parts[0] ?? '';
  const last = parts.at(-1) ?? '';
  if (parts.length === 1) return (text) => foldCase(text) === first;
  const middle = parts.slice(1, -1).filter((part) => part !== '');
  const searches = middle.map(createSearch);
  return (text) => {
    const folded = foldCase(text);
    const end = folded.length - last.length;
    if (end < first.length || !folded.startsWith(first) || !folded.endsWith(last)) return false;
    let position = first.length;
    for (const search of searches) {
      position = search(folded, position, end);
      if (position === -1) return false;
    }
    return true;
  };
}

/** Ignores case; % is an ordinary character. */
export function containsPredicate(part: string): Test<string> {
  const search = createSearch(foldCase(part));
  return (text) => {
    const folded = foldCase(text);
    return search(folded, 0, folded.length) !== -1;
  };
}

/** Upper case, because lower case turns a Greek sigma at the end of a word into another letter. */
function foldCase(text: string): string {
  return text.toUpperCase();
}

/** Returns where the first occurrence in text[start, end) ends, or -1. */
type Search = (text: string, start: number, end: number) => number;

/** Knuth-Morris-Pratt: indexOf takes quadratic time for some patterns. */
function createSearch(part: string): Search {
  const borders = bordersOf(part);
  return (text, start, end) => {
    let matched = 0;
    for (let index = start; index < end; index += 1) {
      if (matched === part.length) return index;
      matched = extendMatch(part, borders, matched, text.charCodeAt(index));
    }
    return matched === part.length ? end : -1;
  };
}

function bordersOf(part: string): Uint32Array {
  const borders = new Uint32Array(part.length + 1);
  let matched = 0;
  for (let length = 2; length <= part.length; length += 1) {
    matched = extendMatch(part, borders, matched, part.charCodeAt(length - 1));
    borders[length] = matched;
  }
  return borders;
}

function extendMatch(part: string, borders: Uint32Array, matched: number, unit: number): number {
  let length = matched;
  while (length > 0 && part.charCodeAt(length) !== unit) length = borders[length] ?? 0;
  return part.charCodeAt(length) === unit ? length + 1 : 0;
}
