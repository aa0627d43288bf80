// Divides a query between the service and imgctl, and matches images against it.

import { ImgctlError } from '../errors.ts';
import { compareValues, type FieldValue, type ImageRecord, nameOf, readValue } from './fields.ts';
import { type Filter, type Operator, parseFilter, serviceFilter } from './filter.ts';
import { parseWord } from './name.ts';
import { likePredicate, normalize } from './patterns.ts';
import { parseSort, sortImages } from './sort.ts';
import { parseTime, type Time, timeDifference, UNREADABLE } from './timestamp.ts';

export interface QueryInput {
  readonly words?: readonly string[];
  /** `field,operator,value` each. */
  readonly filters?: readonly string[];
  /** `field` or `field,direction` each, the most significant first. */
  readonly sorts?: readonly string[];
}

export type QueryPlan = ReturnType<typeof planQuery>;

/** True, false, or the name of the unknown zone that decides it. */
type Verdict = boolean | string;

type Test<Subject> = (subject: Subject) => Verdict;

/** A condition that the service can apply, so that fewer pages are read. */
export interface ServiceFilter {
  readonly filter: string;
  /** True if only a service that ignores case can have found the image: else the filter could leave out a match. */
  readonly proves?: (image: ImageRecord) => boolean;
}

/**
 * Plans a query: the service may get one of the conditions, words before filters. That only saves pages, so every image
 * must be matched, whatever the service says.
 * @throws ImgctlError usage
 */
export function planQuery(input: QueryInput, { now }: { readonly now: number }) {
  const { words = [], filters = [], sorts = [] } = input;
  const conditions = [
    ...words.map(wordCondition),
    ...filters.map((text) => {
      const filter = parseFilter(text, now);
      const test = filterPredicate(filter);
      return { text, word: undefined, sent: serviceConditions(filter, test), test };
    }),
  ];
  /** The images that each condition matches alone, counted until one image matches all. */
  const alone = conditions.map(() => new Set<unknown>());
  let isEmpty = true;
  let matchesAsText = false;
  const countAlone = (image: ImageRecord) => {
    for (const [index, { test }] of conditions.entries()) {
      if (test(image) !== false) alone[index]?.add(image.id ?? image);
    }
    const name = nameOf(image);
    matchesAsText ||= conditions.every(({ word, test }) =>
      word ? word.isPartOf(name) : test(image) !== false,
    );
  };
  const strictWords = conditions.flatMap(({ word }) => (word?.isStrict ? word : []));
  const keys = sorts.map(parseSort);
  const uncertain = new Set<unknown>();
  const zones = new Set<string>();
  let treatment = 'sorted as UTC';
  const addUncertain = (image: ImageRecord, zone: string) => {
    uncertain.add(image.id ?? image);
    zones.add(zone);
  };
  return {
    /** The service takes one filter and one sort key (service.md section 4.3). */
    server: {
      filters: conditions.flatMap(({ sent }) => sent),
      sort: keys.length === 1 ? keys[0]?.serviceSort : undefined,
    },
    hasFilter: conditions.length > 0,
    /** True if the service filtered the images, so that not all of them were matched. */
    isFiltered: false,
    hasSort: keys.length > 0,
    /** True if no filter of the service is the whole query. */
    filtersLocally:
      conditions.length > 1 || conditions.some(({ sent, word }) => !sent[0] || word?.isStrict),
    sortsLocally: keys.length > 1 || keys.some(({ serviceSort }) => serviceSort === undefined),
    /** True if the image matches, or may match: see `zoneWarning`. */
    matches(image: ImageRecord): boolean {
      if (isEmpty) countAlone(image);
      let zone: string | undefined;
      for (const { test } of conditions) {
        const verdict = test(image);
        if (verdict === false) return false;
        if (verdict !== true) zone = verdict;
      }
      isEmpty = false;
      if (zone === undefined) return true;
      treatment = 'shown';
      addUncertain(image, zone);
      return true;
    },
    sort: <Row extends ImageRecord>(images: readonly Row[]) =>
      sortImages(images, keys, addUncertain),
    /** Returns how many of the images so far each word and filter matches alone, if none matches all. */
    counts: () => conditions.map(({ text }, index) => ({ text, count: alone[index]?.size ?? 0 })),
    /** True if `plain` would match one of the images so far. */
    matchesAsText: () => matchesAsText,
    /** The same query with words that are found anywhere. */
    plain: {
      words: words.filter((word) => strictWords.every(({ text }) => text !== word)),
      filters: [...filters, ...strictWords.map(({ text }) => `name~${text}`)],
    },
    /** Counts the images so far whose times are in an unknown zone; undefined if there are none. */
    zoneWarning(): string | undefined {
      const { size } = uncertain;
      if (size === 0) return undefined;
      const images = size === 1 ? '1 image has times' : `${size} images have times`;
      const all = [...zones].sort().join(', ');
      const how =
        zones.has(UNREADABLE) && treatment !== 'shown' ? 'sorted as missing or as UTC' : treatment;
      return `${images} in an unknown zone (${all}); ${size === 1 ? 'it is' : 'they are'} ${how}`;
    },
  };
}

/** Servers and proxies reject longer URLs; a list of ids may have thousands. */
const MAX_URL_BYTES = 4_000;

function wordCondition(text: string) {
  if (text === '') {
    throw new ImgctlError('usage', 'empty search text', { hint: 'omit it to list all images' });
  }
  const word = parseWord(text);
  const test = (image: ImageRecord) => word.matches(nameOf(image));
  const filter = parseFilter(`name,like,%${word.pieces.join('%')}%`, 0);
  // The service would treat a % in the word as a wildcard.
  return { text, word, sent: text.includes('%') ? [] : serviceConditions(filter, test), test };
}

/** Returns what the service may get of a filter, if anything. */
function serviceConditions(filter: Filter, test: Test<ImageRecord>): ServiceFilter[] {
  const sent = serviceFilter(filter) ?? '';
  const isShort = new URLSearchParams({ filter: sent }).toString().length <= MAX_URL_BYTES;
  if (sent === '' || !isShort) return [];
  const { field, operator, operands } = filter;
  const pattern = operands[0]?.text ?? '';
  if (operator !== 'like' || !/[a-z]/i.test(pattern)) return [{ filter: sent }];
  const mixed = inMixedCase(pattern);
  // Some services take _ as any character.
  const parts = mixed.split(/[%_]/);
  const proves = (image: ImageRecord) => {
    const text = `${readValue(image, field)}`;
    return test(image) === true && parts.some((part) => !text.includes(part));
  };
  return [{ filter: [field, operator, mixed].join(','), proves }];
}

/** Returns a text such as %UbUnTu%, which hardly any name contains as it is. */
function inMixedCase(text: string): string {
  return text.replace(/[a-z]/gi, (letter, at: number) =>
    at % 2 === 0 ? letter.toLowerCase() : letter.toUpperCase(),
  );
}

/** A missing value or null matches only `eq,null`, `ne` with anything else and `notlike`. */
export function filterPredicate(filter: Filter): Test<ImageRecord> {
  const test = valueTest(filter);
  return (image) => test(readValue(image, filter.field));
}

const ORDERS: { readonly [Word in Operator]?: (order: number) => boolean } = {
  lt: (order) => order < 0,
  le: (order) => order <= 0,
  gt: (order) => order > 0,
  ge: (order) => order >= 0,
};

function valueTest({ operator, operands }: Filter): Test<FieldValue> {
  if (operator === 'like' || operator === 'notlike') {
    const patterns = operands.map(({ text }) => likePredicate(text));
    const isLike = (value: FieldValue) =>
      value !== null && patterns.some((matches) => matches(`${value}`));
    return operator === 'like' ? isLike : (value) => !isLike(value);
  }
  const { [operator]: accepts } = ORDERS;
  const times = operands.flatMap(({ time }) => time ?? []);
  if (accepts) {
    const [{ value: bound } = { value: null }] = operands;
    const [time] = times;
    if (time) return (value) => value !== null && timeVerdict(value, time, accepts);
    return (value) => value !== null && accepts(compareValues(value, bound));
  }
  // Sets, as `in` may list thousands of values.
  const values = new Set(operands.map(({ value }) => normalize(value)));
  const equals: Test<FieldValue> = (value) => {
    if (values.has(normalize(value))) return true;
    if (value === null) return false;
    const verdicts = times.map((time) => timeVerdict(value, time, isZero));
    return verdicts.includes(true) || (verdicts.find((verdict) => verdict !== false) ?? false);
  };
  if (operator !== 'ne') return equals;
  return (value) => {
    const verdict = equals(value);
    return typeof verdict === 'string' ? verdict : !verdict;
  };
}

const isZero = (order: number) => order === 0;

/** Tests the difference of a value to a time, unless it depends on an unknown zone. */
function timeVerdict(value: FieldValue, bound: Time, accepts: (order: number) => boolean): Verdict {
  const time = parseTime(`${value}`);
  if (time === undefined) return UNREADABLE;
  const [least, greatest] = timeDifference(time, bound);
  const isSame = accepts(least) === accepts(greatest);
  // Between them may be the instant for which a test for equality holds.
  const mayBeZero = accepts === isZero && least < 0 && greatest > 0;
  if (isSame && !mayBeZero) return accepts(least);
  return time.unknownZone ?? bound.unknownZone ?? false;
}
