// Divides a query between the service and imgctl, and matches images against the local part.

import { ImgctlError } from '../errors.ts';
import {
  compareText,
  compareValues,
  type Field,
  type FieldValue,
  type ImageRecord,
  kindOf,
  readValue,
} from './fields.ts';
import { type Filter, type Operand, parseFilter } from './filter.ts';
import { parseSort, sortImages } from './sort.ts';
import { parseTimestamp } from './timestamp.ts';

export interface QueryInput {
  readonly words?: readonly string[];
  /** `field,operator,value` each. */
  readonly filters?: readonly string[];
  /** `field` or `field,direction` each, the most significant first. */
  readonly sorts?: readonly string[];
}

export type QueryPlan = ReturnType<typeof planQuery>;

type Test<Subject> = (subject: Subject) => boolean;

/**
 * Plans a query: the service gets the first condition that it can apply, words before filters.
 * @throws ImgctlError usage
 */
export function planQuery(input: QueryInput, { now }: { readonly now: number }) {
  const { words = [], filters = [], sorts = [] } = input;
  const conditions = [
    ...words.map(wordCondition),
    ...filters.map((text) => {
      const filter = parseFilter(text, now);
      return { wire: filter.wire, test: filterPredicate(filter) };
    }),
  ];
  const keys = sorts.map(parseSort);
  const sent = conditions.find(
    ({ wire = '' }) =>
      wire !== '' && new URLSearchParams({ filter: wire }).toString().length <= MAX_URL_BYTES,
  );
  const local = conditions.filter((condition) => condition !== sent);
  return {
    /** Query parameters; the service takes one filter and one sort key (service-api.md section 4.3). */
    server: { filter: sent?.wire, sort: keys.length === 1 ? keys[0]?.wire : undefined },
    /** True if `matches` must be called for every image of the service. */
    filtersLocally: local.length > 0,
    sortsLocally: keys.length > 1 || keys.some(({ wire }) => wire === undefined),
    /** True if an image that passed server.filter also passes the other conditions. */
    matches: (image: ImageRecord) => local.every((condition) => condition.test(image)),
    /** True if an image passes everything, for a service that ignored the filter. */
    matchesAll: (image: ImageRecord) => conditions.every((condition) => condition.test(image)),
    sort: <Row extends ImageRecord>(images: readonly Row[]) => sortImages(images, keys),
  };
}

/** Servers and proxies reject longer URLs; a list of ids may have thousands. */
const MAX_URL_BYTES = 4_000;

function wordCondition(word: string) {
  if (word === '') {
    throw new ImgctlError('usage', 'empty search text', { hint: 'omit it to list all images' });
  }
  const folded = foldCase(word);
  return {
    // The service would treat a % in the word as a wildcard.
    wire: word.includes('%') ? undefined : `name,like,%${word}%`,
    test: (image: ImageRecord) => foldCase(`${readValue(image, 'name') ?? ''}`).includes(folded),
  };
}

/** A missing value or null matches only `eq,null` and `ne` with anything else. */
export function filterPredicate(filter: Filter): Test<ImageRecord> {
  const test = valueTest(filter);
  return (image) => test(readValue(image, filter.field));
}

const ORDERS: Readonly<Record<string, Test<number>>> = {
  lt: (order) => order < 0,
  le: (order) => order <= 0,
  gt: (order) => order > 0,
  ge: (order) => order >= 0,
};

function valueTest(filter: Filter): Test<FieldValue> {
  const { operator, operands } = filter;
  if (operator === 'like') {
    const patterns = operands.map(({ text }) => likePredicate(text));
    return (value) => value !== null && patterns.some((matches) => matches(`${value}`));
  }
  const { [operator]: accepts } = ORDERS;
  if (accepts) {
    return (value) =>
      value !== null && operands.every((operand) => accepts(compare(filter.field, value, operand)));
  }
  const equals = equalsAny(filter);
  return operator === 'ne' ? (value) => !equals(value) : equals;
}

/** Uses sets, as `in` may list thousands of values. */
function equalsAny({ field, operands }: Filter): Test<FieldValue> {
  const values = new Set(operands.map((operand) => operand.value));
  if (kindOf(field) !== 'time') return (value) => values.has(value);
  const instants = new Set(operands.map((operand) => operand.instant));
  instants.delete(undefined);
  return (value) => values.has(value) || instants.has(parseTimestamp(`${value}`));
}

function compare(field: Field, value: FieldValue, operand: Operand): number {
  if (kindOf(field) !== 'time') return compareValues(value, operand.value);
  const instant = parseTimestamp(`${value}`);
  if (instant !== undefined && operand.instant !== undefined) return instant - operand.instant;
  return compareText(`${value}`, `${operand.value}`);
}

/** Ignores case; % stands for any text and cannot be escaped. */
export function likePredicate(pattern: string): Test<string> {
  const parts = foldCase(pattern).split('%');
  const first = parts[0] ?? '';
  const last = parts.at(-1) ?? '';
  if (parts.length === 1) return (text) => foldCase(text) === first;
  const middle = parts.slice(1, -1);
  return (text) => {
    const folded = foldCase(text);
    const end = folded.length - last.length;
    if (end < first.length || !folded.startsWith(first) || !folded.endsWith(last)) return false;
    let position = first.length;
    for (const part of middle) {
      const found = folded.indexOf(part, position);
      if (found === -1) return false;
      position = found + part.length;
    }
    return position <= end;
  };
}

/** Upper case, because lower case turns a Greek sigma at the end of a word into another letter. */
export function foldCase(text: string): string {
  return text.toUpperCase();
}
