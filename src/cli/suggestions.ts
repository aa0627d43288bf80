// What completion offers for the value of an option or an argument.

import type { Settings } from '../config/settings.ts';
import type { Value } from '../config/values.ts';
import type { Context } from '../context.ts';

export type Candidate = readonly [value: string, meaning?: string | undefined];

export interface Candidates {
  /** What follows a candidate; or the kind of files that the shell itself offers. */
  readonly mode: 'space' | 'nospace' | 'files' | 'folders' | 'packages';
  readonly candidates: readonly Candidate[];
}

/** The line that is being typed. */
export interface Typing {
  readonly context: Context;
  /** The settings that the command would have. */
  readonly settings: Settings;
  /** The arguments of the command so far. */
  readonly args: readonly string[];
  /** By the long name of the option, such as `--file`. */
  readonly values: ReadonlyMap<string, string>;
  /** The beginning of the value. */
  readonly typed: string;
}

export type Suggest = (typing: Typing) => Candidates | Promise<Candidates>;

export function suggestValue(value: Value | undefined, typed: string): Candidates {
  const { from, listed, words, suggested } = value ?? {};
  if (listed) return suggestListed(listed, typed);
  return from === undefined
    ? suggestWords(words ?? suggested ?? [])
    : { mode: from, candidates: [] };
}

function suggestListed(listed: readonly string[], typed: string): Candidates {
  const chosen = typed.slice(0, typed.lastIndexOf(',') + 1);
  const taken = chosen.split(',');
  const all = chosen === '' ? [...listed, 'all'] : listed;
  // Nothing can follow all.
  const left = (taken.includes('all') ? [] : all).filter((each) => !taken.includes(each));
  return { ...suggestWords(left, chosen), mode: 'nospace' };
}

export function suggestRows(candidates: readonly Candidate[]): Candidates {
  return { mode: 'space', candidates };
}

/** Puts `start` before each value and `end` after it. After an end, the word goes on. */
export function suggestWords(values: readonly string[], start = '', end = ''): Candidates {
  const candidates = values.map((value): Candidate => [`${start}${value}${end}`]);
  return { mode: end === '' ? 'space' : 'nospace', candidates };
}

/** Also if the name of the profile in use is invalid, and another one is to be selected. */
export const suggestProfiles: Suggest = ({ context }) =>
  suggestWords([...context.config.profiles.keys()]);
