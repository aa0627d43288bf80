// Checks what a JavaScript program passes: an option that is misspelled or of another type must not be ignored.

import { ImgctlError } from '../errors.ts';
import { nearest, quoted } from '../query/suggest.ts';

/** What an option must be, in words, and whether a value is. */
type Kind = readonly [meaning: string, isValid: (value: unknown) => boolean];

type Kinds = Readonly<Record<string, Kind>>;

function typed(meaning: string, ...types: readonly string[]): Kind {
  return [meaning, (value) => types.includes(typeof value)];
}

function instance(name: string, type: typeof URL | typeof AbortSignal): Kind {
  return [name, (value) => value instanceof type];
}

function either([left, isLeft]: Kind, [right, isRight]: Kind): Kind {
  return [`${left} or ${right}`, (value) => isLeft(value) || isRight(value)];
}

function whole(min: number, max = Number.MAX_SAFE_INTEGER): Kind {
  const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
  const isValid = (value: unknown) => Number.isSafeInteger(value) && inRange(Number(value));
  const inRange = (value: number) => value >= min && value <= max;
  return [`a whole number ${range}`, isValid];
}

const TEXT = typed('a string', 'string');
const FUNCTION = typed('a function', 'function');
const TEXTS: Kind = [
  'a string or an array of strings',
  (value) => [value].flat().every((each) => typeof each === 'string'),
];

export const QUERY: Kinds = { text: TEXTS, filter: TEXTS, sort: TEXTS, limit: whole(1) };

/** With the limits of the settings. */
export const CLIENT: Kinds = {
  baseUrl: either(TEXT, instance('a URL', URL)),
  token: TEXT,
  username: TEXT,
  password: either(TEXT, FUNCTION),
  allowHttp: typed('a boolean', 'boolean'),
  timeout: whole(1, 2 ** 31 - 1),
  retries: whole(0, 100),
  concurrency: whole(1, 32),
  authScheme: ["'bearer' or 'basic'", (value) => value === 'bearer' || value === 'basic'],
  ca: TEXT,
  proxy: TEXT,
  signal: instance('an AbortSignal', AbortSignal),
  onTrace: FUNCTION,
  onWarning: FUNCTION,
};

/** @throws ImgctlError usage: an option is unknown or of another type; undefined counts as not given */
export function checkOptions(given: unknown, what: string, kinds: Kinds): void {
  if (typeof given !== 'object' || given === null) {
    throw new ImgctlError('usage', `the ${what} must be an object`);
  }
  for (const [name, value] of Object.entries(given)) {
    const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
    if (kind === undefined) {
      const valid = Object.keys(kinds);
      const meant = nearest(name, valid);
      throw new ImgctlError('usage', `unknown option ${quoted(name)} in the ${what}`, {
        hint: meant === undefined ? `valid: ${valid.join(', ')}` : `did you mean ${meant}?`,
      });
    }
    const [meaning, isValid] = kind;
    if (value === undefined || isValid(value)) continue;
    // Of others, a value may be a secret.
    const got = typeof value === 'number' ? ` (got ${value})` : '';
    throw new ImgctlError('usage', `${name} must be ${meaning}${got}`);
  }
}
