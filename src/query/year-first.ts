// Puts the year first in the dates of names, so that they can be compared.

import { LETTER_OR_DIGIT } from './find-versions.ts';

const DAY_AND_MONTH = '(?<first>\\d\\d?)(?<gap>[-_.])(?<second>\\d\\d?)\\k<gap>';

/** 1 to 53: the number of a month, a week, a quarter or a half of the year. */
const PERIOD = '(?<first>5[0-3]|[1-4]\\d|0?[1-9])';
const UNIT = '(?:q|h|kw|w|week)';

const YEAR = '(?<year>20\\d\\d)';
/** 2015 to 2039. With more years, more versions such as 10.1.42 would be taken for dates. */
const SHORT_YEAR = '(?<year>1[5-9]|[23]\\d)';
/** 23, fy23 or 2023 after a unit. */
const ANY_YEAR = `[-_.]?(?:fy)?(?:20)?${SHORT_YEAR}`;

const noDigitAround = (form: string) => new RegExp(`(?<!\\d)${form}(?!\\d)`, 'gi');
const wholeWord = (form: string) =>
  new RegExp(`(?<!${LETTER_OR_DIGIT})${form}(?!${LETTER_OR_DIGIT})`, 'giu');
const noNumberAround = (form: string) => new RegExp(`(?<![\\d.])${form}(?![-_.]?\\d)`, 'g');

/** Made at their first use, since most commands read no name. */
let forms: ReturnType<typeof makeForms> | undefined;

const makeForms = () => ({
  yearLast: [
    // 31.01.2024, 01_31_2024
    noDigitAround(DAY_AND_MONTH + YEAR),
    // 31012024
    noDigitAround(`(?<first>\\d\\d)(?<second>\\d\\d)${YEAR}`),
    // 012024
    noDigitAround(`(?<first>0[1-9]|1[0-2])${YEAR}`),
    // 01-2024, W52-2023, 4Q2024
    noDigitAround(`${PERIOD}[-_.q]${YEAR}`),
    // q4fy23, kw52-23, q42023, w5223. Also w2415, perhaps week 15 of 2024: the user is asked.
    wholeWord(`${UNIT}[-_]?${PERIOD}${ANY_YEAR}`),
    // 4q23
    wholeWord(PERIOD + UNIT + ANY_YEAR),
  ],
  // 28.02.24, 5.12.24
  shortDate: noNumberAround(DAY_AND_MONTH + SHORT_YEAR),
  // 28.02.24, but not 5.12.24, which may be a version.
  sureShortDate: noNumberAround(`(?=0|1[3-9]|2\\d|3[01])${DAY_AND_MONTH}${SHORT_YEAR}`),
});

/**
 * Returns a function that puts the year first in the dates of these names; a name without such a
 * date stays as it is. Of the two numbers before the year, either can be the month:
 *
 *                   the day first    the month first
 *     01-02-2024    2024-02-01       2024-01-02
 *     01-31-2024    2024-01-31       2024-01-31
 *     31-01-2024    2024-01-31       stays, as there is no month 31
 */
export function yearFirstIn(
  names: readonly string[],
  order: 'day' | 'month',
): (name: string) => string {
  forms ??= makeForms();
  const { yearLast, shortDate, sureShortDate } = forms;
  const haveOneOf = (forms: readonly RegExp[]) => (name: string) =>
    forms.some((form) => name.search(form) >= 0);
  const dates = [...yearLast, shortDate];
  // 5.12.24 is a date if all names have one, and one of these cannot be a version.
  const haveShortDates =
    names.every(haveOneOf(dates)) && names.some(haveOneOf([...yearLast, sureShortDate]));
  const used = haveShortDates ? dates : yearLast;
  return (name) => {
    const form = used.find((date) => name.search(date) >= 0);
    return form ? replaceDates(name, form, order) : name;
  };
}

interface DateParts {
  readonly first: string;
  /** Missing in W52-2023. */
  readonly second?: string;
  readonly year: string;
}

/** Replaces 31.01.24 by 2024-01-31, and W52-2023 by W2023-52-1. */
function replaceDates(name: string, form: RegExp, order: 'day' | 'month'): string {
  return name.replace(form, (found, ...match) => {
    const { first, second, year } = match.at(-1) as DateParts;
    const fullYear = `20${year.slice(-2)}`;
    // As many parts as a date has: the names may have both.
    if (second === undefined) return `${fullYear}-${first}-1`;
    if (order === 'month' && Number(first) > 12) return found;
    const isMonthFirst = order === 'month' || Number(second) > 12;
    return isMonthFirst ? `${fullYear}-${first}-${second}` : `${fullYear}-${second}-${first}`;
  });
}
