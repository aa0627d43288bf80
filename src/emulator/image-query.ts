// Filter and sort of the image list (section 4.3), evaluated by query/. What the contract leaves open is strict here:
// - Fields, operators and directions are as the contract writes them; anything else gets 400.
// - So does a value that is not of the field's kind: whole numbers, true and false, times in the service's format.
// - `in` splits its value at every comma, and `null` means a missing value for the folder only.
// - A sort puts null first; equal images stay in the order of the catalogue.

import type { Image } from '../api/types.ts';
import { FIELDS, type Field, kindOf, parseValue } from '../query/fields.ts';
import { type Filter, OPERATORS, type Operand } from '../query/filter.ts';
import { filterPredicate } from '../query/plan.ts';
import { DIRECTIONS, sortImages } from '../query/sort.ts';
import { isServiceFormat, parseTimestamp } from '../query/timestamp.ts';
import { HttpError } from './api-request.ts';

/** Returns the images that match, in order. @throws HttpError 400 */
export function findImages(
  images: readonly Image[],
  filter: string | undefined,
  sort: string | undefined,
): readonly Image[] {
  const test = filter === undefined ? undefined : filterPredicate(parseFilter(filter));
  const key = sort === undefined ? undefined : parseSort(sort);
  const found = test === undefined ? images : images.filter((image) => test({ ...image }));
  // The catalogue is in the order of ids, which is what clients ask for most.
  if (key === undefined || key.wire === 'id,asc') return found;
  return sortImages(found, [key]);
}

/** Parses `<field_name>,<operator>,<value>`, split at the first two commas. */
function parseFilter(wire: string): Filter {
  const [, name = '', word = '', value = ''] = /^([^,]*),([^,]*),(.*)$/s.exec(wire) ?? [];
  if (word === '') {
    throw new HttpError(400, `Wrong filter "${wire}"; expected <field_name>,<operator>,<value>.`);
  }
  const field = parseField(name);
  const operator = OPERATORS.find((known) => known === word);
  if (operator === undefined) {
    const known = OPERATORS.join(', ');
    throw new HttpError(400, `Unknown operator "${word}"; the operators are ${known}.`);
  }
  const operands =
    operator === 'like'
      ? [{ text: value, value }]
      : (operator === 'in' ? value.split(',') : [value]).map((item) => {
          const isNull = field === 'folder' && item === 'null' && /^(eq|ne)$/.test(operator);
          return isNull ? { text: item, value: null } : parseOperand(field, item);
        });
  return { field, operator, operands, wire, serverCanApply: true };
}

function parseOperand(field: Field, text: string): Operand {
  const kind = kindOf(field);
  const instant = kind === 'time' && isServiceFormat(text) ? parseTimestamp(text) : undefined;
  const value = parseValue(text, kind);
  const isValid = {
    number: typeof value === 'number',
    boolean: typeof value === 'boolean' && text === String(value),
    time: instant !== undefined,
    text: true,
  };
  if (isValid[kind]) return { text, value, instant };
  throw new HttpError(400, `"${text}" is not a value of the field ${field}.`);
}

/** Parses `<field_name>,<asc|desc>`. */
function parseSort(wire: string) {
  const [name = '', word, ...rest] = wire.split(',');
  const direction = DIRECTIONS.find((known) => known === word);
  if (rest.length > 0 || direction === undefined) {
    throw new HttpError(400, `Wrong sort "${wire}"; expected <field_name>,<asc|desc>.`);
  }
  return { field: parseField(name), direction, wire };
}

function parseField(name: string): Field {
  const field = FIELDS.find((known) => known === name);
  if (field !== undefined) return field;
  throw new HttpError(400, `Unknown field "${name}"; the fields are ${FIELDS.join(', ')}.`);
}
