// What was probably meant by a filter that cannot be parsed.

import { FIELDS } from './fields.ts';
import { timeInWords } from './time-value.ts';

export const EXAMPLE = "use a filter such as 'name~ubuntu' or name,like,%ubuntu%";

/** Of a field alone, the shell has taken the rest: `-f id>=1100`. */
export function incompleteHint(text: string): string {
  const isField = FIELDS.some((field) => field === text.toLowerCase());
  return isField ? "put the filter in quotes, such as 'id>=1100'" : EXAMPLE;
}

const TIMES =
  'use 2024-01-31, 2024-01-31T12:00:00Z, 30d (units: s, m, h, d, w or y) ' +
  'or 2018-07-18 Wed 15:36:49 EDT';

export function timeHint(text: string, now: number): string {
  const meant = timeInWords(text, now);
  return meant ? `did you mean ${meant}?` : TIMES;
}
