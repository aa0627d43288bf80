// Puts the year first in the dates of names, so that they can be compared.

import { LETTER_OR_DIGIT } from './find-versions.ts';

/** The number of a month, a week, a quarter or a half of the year. */
const PERIOD = '(?<period>\\d\\d?)';
/** Until 2029: in these forms, 30 and 31 are days. */
const SHORT_YEAR = '[-_.]?(?:fy)?(?:20)?(?<year>1[5-9]|2\\d)';
const wholeWord = (pattern: string) =>
  new RegExp(`(?<!${LETTER_OR_DIGIT})${pattern}(?!${LETTER_OR_DIGIT})`, 'giu');

/** Made at their first use, since most commands read no name. */
let yearLast: readonly RegExp[] | undefined;

const makeYearLast = () => [
  // 31.01.2024, 01_31_2024
  /(?<!\d)(?<day>\d\d?)(?<gap>[-_.])(?<month>\d\d?)\k<gap>(?<year>20\d\d)(?!\d)/gi,
  // 31012024, 012024
  /(?<!\d)(?<day>\d\d)?(?<month>\d\d)(?<year>20\d\d)(?!\d)/gi,
  // 01-2024, W52-2023, 4Q2024
  /(?<!\d)(?<period>\d\d?)[-_.q](?<year>20\d\d)(?!\d)/gi,
  // q4fy23, kw52-23, q42023; 4q23
  wholeWord(`(?:q|h|kw|w|week)[-_]?${PERIOD}${SHORT_YEAR}`),
  wholeWord(`${PERIOD}(?:q|h|kw|w)${SHORT_YEAR}`),
];

/** 28.02.24 */
const SHORT_DATE =
  /(?<![\d.])(?<day>\d\d?)(?<gap>[-_.])(?<month>\d\d?)\k<gap>(?<year>1[5-9]|2\d)(?![-_.]?\d)/g;

/** True if all names have dates such as 28.02.24, and one is no version, by its 28 or 02. */
function haveShortDates(names: readonly string[]): boolean {
  if (!names.every((name) => name.search(SHORT_DATE) >= 0)) return false;
  return names.some((name) => {
    const [date] = name.matchAll(SHORT_DATE);
    const day = date?.groups?.day ?? '';
    return day.startsWith('0') || Number(day) > 12;
  });
}

/**
 * Returns a function that puts the year first in the dates of these names; a name without such a
 * date stays as it is. The two numbers before the year are read as day and month. If they are month
 * and day, comparing them as numbers is right already.
 */
export function yearFirstIn(names: readonly string[]): (name: string) => string {
  yearLast ??= makeYearLast();
  const forms = haveShortDates(names) ? [...yearLast, SHORT_DATE] : yearLast;
  return (name) => {
    for (const form of forms) {
      const dated = name.replace(form, putYearFirst);
      if (dated !== name) return dated;
    }
    return name;
  };
}

/** Returns 2024-01-31 for 31.01.2024, and 2023-52-1 for W52-2023; what cannot be a date stays. */
function putYearFirst(found: string, ...match: unknown[]): string {
  const { day, month, period, year } = match.at(-1) as Record<string, string | undefined>;
  const first = day ?? '1';
  const second = month ?? period ?? '';
  // Either may be the month.
  const less = Math.min(Number(first), Number(second));
  const more = Math.max(Number(first), Number(second));
  const maxDay = day ? 31 : 12;
  if (less < 1 || less > 12 || more > (period ? 53 : maxDay)) return found;
  return [year, second, first].join('-');
}
