// What was probably meant by a filter that cannot be parsed.

import { shellQuote } from '../words.ts';
import { FIELDS, kindOf } from './fields.ts';
import { ageInWords } from './time-value.ts';

export const EXAMPLE = "use a filter such as 'name~ubuntu' or name,like,%ubuntu%";

/** Signs of other languages, and signs that are written twice. */
const MEANT_SIGNS: ReadonlyMap<string, string> = new Map([
  ['<>', '!='],
  ['!==', '!='],
  ['===', '='],
  ['=~', '~'],
  ['~=', '~'],
  ['~~', '~'],
  ['<<', '<'],
  ['=<', '<='],
  ['>>', '>'],
  ['=>', '>='],
]);

/** name, =~ and ubuntu: did you mean 'name~ubuntu'? */
export function signHint(name: string, sign: string, content: string): string {
  const meant = MEANT_SIGNS.get(sign);
  if (name === '' || meant === undefined) return EXAMPLE;
  const filter = anchored(name, content) ?? shellQuote(`${name}${meant}${content}`);
  return `did you mean ${filter}?`;
}

/** Returns the filter for a text with the anchors of a regular expression; undefined if it has none. */
export function anchored(field: string, text: string): string | undefined {
  const [, start, part = '', end] = /^(\^?)([\w-]+)(\$?)$/.exec(text) ?? [];
  if (!start && !end) return undefined;
  return shellQuote(`${field},like,${start ? '' : '%'}${part}${end ? '' : '%'}`);
}

/** `id in (3, 4)`: did you mean id,in,3,4? */
export function spacedHint(text: string): string | undefined {
  const [, name, operator = '', value = ''] = /^(\w+) +(\w+) +(.+)$/.exec(text) ?? [];
  if (fieldOf(name) === undefined) return undefined;
  const isList = operator.toLowerCase() === 'in';
  const items = isList ? value.replace(/^\((.*)\)$/s, '$1').split(/\s*,\s*/) : [value];
  const bare = items.map((item) => item.replace(/^(["'])(.*)\1$/s, '$2'));
  return `did you mean ${shellQuote([name, operator, ...bare].join())}?`;
}

/** `name:ubuntu`: did you mean name=ubuntu? For `id` alone, the shell may have taken the rest for a redirection. */
export function fieldHint(text: string): string {
  const [, name, value] = /^(\w+)(?: ?: ?(.+))?$/.exec(text) ?? [];
  const field = fieldOf(name);
  if (field === undefined) return EXAMPLE;
  if (value !== undefined) return `did you mean ${shellQuote(`${field}=${value}`)}?`;
  const rest = { number: '>=1100', text: '~ubuntu', boolean: '=true', time: '>=-30d' };
  return `put the filter in quotes, such as '${field}${rest[kindOf(field)]}'`;
}

function fieldOf(name: string | undefined) {
  return FIELDS.find((each) => each === name?.toLowerCase());
}

const TIMES =
  'use 2024-01-31, 2024-01-31T12:00:00Z, 30d (units: s, m, h, d, w or y) or 2018-07-18 Wed 15:36:49 EDT';

export function timeHint(text: string): string {
  const meant = ageInWords(text);
  return meant ? `did you mean ${meant}?` : TIMES;
}
