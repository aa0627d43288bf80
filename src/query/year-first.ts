// Puts the year first in the dates of names, so that they can be compared.

import { LETTER_OR_DIGIT } from './find-versions.ts';

/** 2015 to 2039. With more years, more versions such as 10.1.42 would be taken for dates. */
const SHORT_YEAR = '(?<year>1[5-9]|[23]\\d)';

/** 1 to 53: the number of a month, a week, a quarter or a half of the year. */
const PERIOD = '(?<period>5[0-3]|[1-4]\\d|0?[1-9])';

const wholeWord = (pattern: string) =>
  new RegExp(`(?<!${LETTER_OR_DIGIT})${pattern}(?!${LETTER_OR_DIGIT})`, 'giu');

const shortDateWith = (first: string) =>
  new RegExp(
    `(?<![\\d.])(?<first>${first})(?<gap>[-_.])(?<second>\\d\\d?)\\k<gap>${SHORT_YEAR}(?![-_.]?\\d)`,
    'g',
  );

/** Made at their first use, since most commands read no name. */
let forms: ReturnType<typeof makeForms> | undefined;

const makeForms = () => ({
  yearLast: [
    // 31.01.2024, 01_31_2024
    /(?<!\d)(?<first>\d\d?)(?<gap>[-_.])(?<second>\d\d?)\k<gap>(?<year>20\d\d)(?!\d)/g,
    // 31012024
    /(?<!\d)(?<first>\d\d)(?<second>\d\d)(?<year>20\d\d)(?!\d)/g,
    // 012024
    /(?<!\d)(?<period>0[1-9]|1[0-2])(?<year>20\d\d)(?!\d)/g,
    // 01-2024, W52-2023, 4Q2024
    new RegExp(`(?<!\\d)${PERIOD}[-_.q](?<year>20\\d\\d)(?!\\d)`, 'gi'),
    // q4fy23, kw52-23, q42023; 4q23
    wholeWord(`(?:q|h|kw|w|week)[-_]?${PERIOD}[-_.]?(?:fy)?(?:20)?${SHORT_YEAR}`),
    wholeWord(`${PERIOD}(?:q|h|kw|w)[-_.]?(?:fy)?(?:20)?${SHORT_YEAR}`),
  ],
  // 28.02.24, 5.12.24
  shortDate: shortDateWith('\\d\\d?'),
  // 28.02.24, but not 5.12.24, which may be a version.
  sureShortDate: shortDateWith('0\\d|1[3-9]|[2-9]\\d'),
});

/**
 * Returns a function that puts the year first in the dates of these names; a name without such a
 * date stays as it is. Of the two numbers before the year, either can be the month:
 *
 *                   the day first    the month first
 *     01-02-2024    2024-2-1         2024-1-2
 *     01-31-2024    2024-1-31        2024-1-31
 *     31-01-2024    2024-1-31        stays, as there is no month 31
 */
export function yearFirstIn(
  names: readonly string[],
  first: 'day' | 'month' = 'day',
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
    const form = used.find((date) => replaceDates(name, date, 'day') !== name);
    return form ? replaceDates(name, form, first) : name;
  };
}

/** Replaces 31.01.24 by 2024-1-31, and W52-2023 by W2023-52-1; 31.13.2024 stays. */
function replaceDates(name: string, form: RegExp, first: 'day' | 'month'): string {
  return name.replace(form, (found, ...match) => {
    const groups = match.at(-1) as Record<string, string | undefined>;
    const { year = '', period } = groups;
    const fullYear = year.length === 2 ? `20${year}` : year;
    // As many parts as a date has: the names may have both.
    if (period) return `${fullYear}-${period}-1`;
    const [one, two] = [Number(groups.first), Number(groups.second)];
    const isMonthFirst = first === 'month' || two > 12;
    const [month, day] = isMonthFirst ? [one, two] : [two, one];
    const isDate = month >= 1 && month <= 12 && day >= 1 && day <= 31;
    return isDate ? `${fullYear}-${month}-${day}` : found;
  });
}
