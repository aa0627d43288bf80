// Kinds of values of options, arguments and settings: how to parse them, what completion offers.

import { parseChoice } from '../choices.ts';
import { attempt, ImgctlError, tryOr } from '../errors.ts';
import { hint, setting } from '../facts.ts';
import { type Env, expandHome } from '../files/paths.ts';
import { builtin } from '../io.ts';
import { DURATION, UNITS } from '../query/time-value.ts';
import { isDigits, shorten } from '../words.ts';

export interface Value<Parsed = unknown> {
  /** @throws ImgctlError usage or config: the text is invalid, and may hold a password */
  parse(text: string, name: string): Parsed;
  readonly words?: readonly string[];
  /** Words that completion offers, if others are valid too. */
  readonly suggested?: readonly string[] | undefined;
  /** Words of which the value is a list, separated by commas. */
  readonly listed?: readonly string[] | undefined;
  /** A path; completion offers such files. */
  readonly from?: 'files' | 'folders' | 'packages' | undefined;
  /** True if the text may be a path, even if completion offers none. */
  readonly mayBePath?: boolean;
  /** Returns what config.json holds, if not the text: later commands may run in another folder. */
  stored?(parsed: NoInfer<Parsed>, name: string, cwd: string): string | undefined;
}

/**
 * In a path, ~/ is the home of the user.
 * @throws ImgctlError usage or config: the text is empty or invalid
 */
export function parseGiven(value: Value, text: string, name: string, env: Env): unknown {
  if (text.trim() === '') throw emptyError(value, name);
  const isPath = value.mayBePath || value.from !== undefined;
  return value.parse(isPath ? expandHome(text, name, env) : text, name);
}

function emptyError(value: Value, name: string): ImgctlError {
  const isOption = name.startsWith('-');
  const omit = isOption ? 'omit it' : hint`remove the setting: ${setting('unset', name)}`;
  const { error } = attempt(() => value.parse('', name));
  const facts = error?.facts ?? hint`provide a value, or ${omit}`;
  return new ImgctlError('usage', `${name} must not be empty`, { facts });
}

export function withoutLineEnd(text: string): string {
  return text.replace(/\r?\n$/, '');
}

/** Returns the first control character, such as `U+001B`. */
export function controlCharacter(text: string): string | undefined {
  const [control] = /[\0-\x1f\x7f-\x9f]/.exec(text) ?? [];
  return control && `U+${control.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/**
 * Returns the text without one line end at its end.
 * @throws ImgctlError usage: a control character
 */
export function plainText(text: string, name: string): string {
  const plain = withoutLineEnd(text);
  const control = controlCharacter(plain);
  if (control === undefined) return plain;
  const facts = 'remove it, and everything that is not part of the value';
  throw new ImgctlError('usage', `${name} has a control character (${control})`, { facts });
}

/** Refuses a colon (RFC 7617), and hides what follows, which may be a password. */
export function userName(text: string, name: string): string {
  const plain = plainText(text, name);
  if (!plain.includes(':')) return plain;
  const message = `invalid ${name}: ${plain.replace(/:.*/s, ':…')}`;
  throw new ImgctlError('usage', message, { facts: 'use a user name without a colon' });
}

/** Files of one process: what a shell makes of <(COMMAND), and its standard input. */
const OF_PROCESS = /^\/(?:dev\/(?:fd\/|stdin$)|proc\/)/;

/** Returns the absolute path. @throws ImgctlError usage: later commands would not find the file */
export function storedFile(text: string, name: string, cwd: string): string {
  const file = builtin('node:path').resolve(cwd, text);
  if (!OF_PROCESS.test(file)) return file;
  const message = `${name} must be a file that later commands can read (got ${file})`;
  throw new ImgctlError('usage', message, { facts: 'save its content to a regular file' });
}

export type Hints = Pick<Value, 'from' | 'listed' | 'mayBePath' | 'suggested'>;

export function anyText(hints: Hints = {}): Value<string> {
  return { parse: (text) => text, ...hints };
}

/** @param noun what the words are, such as `format` */
export function choice<const Word extends string>(noun: string, words: readonly Word[]) {
  const parse = (text: string, name: string): Word =>
    parseChoice(text, { noun, valid: words, where: name });
  return { words, parse } as const;
}

export function wholeNumber(min: number, max?: number): Value<number> {
  const parse = (text: string, name: string) => {
    const number = isDigits(text) ? Number(text) : Number.NaN;
    const largest = max ?? Number.MAX_SAFE_INTEGER;
    if (number >= min && number <= largest) return number;
    const range = max === undefined ? `of at least ${min}` : `from ${min} to ${max}`;
    const nearest = `${Math.min(largest, Math.max(min, number || 1))}`;
    const example = name.startsWith('-') ? `${name} ${nearest}` : setting('set', name, nearest);
    const message = `${name} must be a whole number ${range} (got ${text})`;
    throw new ImgctlError('usage', message, { facts: hint`for example: ${example}` });
  };
  return { parse };
}

const RATE = /^(\d{1,15}(?:\.\d{1,9})?)([kmgtp]?)(?:i?b)?$/i;
const UNIT_PREFIXES = ['', 'k', 'm', 'g', 't', 'p'];
const MIN_RATE = 1024;

/** Bytes per second as curl takes them: k, M, G, T and P are powers of 1024, and 0 is no limit. */
export function byteRate(): Value<number> {
  const parse = (text: string, name: string) => {
    const [, number = 'none', unit = ''] = RATE.exec(text.trim()) ?? [];
    const rate = Math.round(Number(number) * 1024 ** UNIT_PREFIXES.indexOf(unit.toLowerCase()));
    if (Number(number) === 0 || rate >= MIN_RATE) return rate;
    const what = Number.isNaN(rate)
      ? `invalid ${name}: ${text}`
      : `${name} must be at least 1k (got ${text})`;
    const facts = 'use bytes per second, such as 500k, 10M or 1G, or 0 for no limit';
    throw new ImgctlError('usage', what, { facts });
  };
  return { parse };
}

/** 24 days, the maximum of a timer. */
const MAX_TIMER = 2 ** 31 - 1;

/** A hundred years. */
export const MAX_AGE = 36_525 * UNITS.d;

/** Milliseconds. */
export function duration(max = MAX_TIMER): Value<number> {
  return { parse: (text, name) => parseDuration(text, name, max) };
}

/** Returns milliseconds. @throws ImgctlError usage */
export function parseDuration(text: string, name: string, max = MAX_TIMER): number {
  const [, number = '', unit = ''] = new RegExp(`^${DURATION}$`).exec(text.trim()) ?? [];
  const milliseconds = Number(number) * (UNITS[unit] ?? Number.NaN);
  if (milliseconds >= 1 && milliseconds <= max) return Math.round(milliseconds);
  if (milliseconds > max) {
    const days = Math.floor(max / UNITS.d);
    throw new ImgctlError('usage', `${name} must be at most ${days} days (got ${text})`);
  }
  const facts = 'use a duration such as 500ms, 30s, 5m, 1h, 2d or 3w';
  throw new ImgctlError('usage', `invalid ${name}: ${text}`, { facts });
}

/** Returns a name of the user's choice that is no path. @throws ImgctlError usage */
export function checkName(name: string, noun: string, { dots = false } = {}): string {
  if (/^[A-Za-z0-9][\w.-]{0,63}$/.test(name) && (dots || !name.includes('.'))) return name;
  const facts = `use a letter or digit, then up to 63 letters, digits, ${dots ? '., ' : ''}- or _`;
  const isEmpty = name.trim() === '';
  const flaw = isEmpty ? `empty ${noun} name` : `invalid ${noun} name: ${shorten(name)}`;
  throw new ImgctlError('usage', flaw, { facts });
}

/** Returns the flaw of PEM certificates: Node silently ignores an invalid one and what follows. */
export function certificateFlaw(text: string): string | undefined {
  const { X509Certificate } = builtin('node:crypto');
  const isInvalid = (block: string) => tryOr(() => !new X509Certificate(block), true);
  // Node skips what comes before the first one, such as a key.
  const [, ...certificates] = `\n${text}`.split(
    /(?=-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----)/,
  );
  const at = certificates.length > 1 ? certificates.findIndex(isInvalid) : -1;
  if (at !== -1) return `certificate ${at + 1} of ${certificates.length} is invalid`;
  return isInvalid(text) ? 'no valid PEM certificate' : undefined;
}
