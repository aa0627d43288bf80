// Usage errors of words that are none of several, or that cannot be used together.

import { ImgctlError } from './errors.ts';
import { type Facts, hint, type Invocation } from './facts.ts';
import { nearest } from './spelling.ts';
import { quoted } from './words.ts';

export function incompatible(one: string, other: string): ImgctlError {
  return new ImgctlError('usage', `${one} and ${other} cannot be used together`, {
    facts: `omit ${one} or ${other}`,
  });
}

/** Returns a hint: the candidate that was probably meant, or else the command that lists them. */
export function suggest(word: string, candidates: readonly string[], command: Invocation): Facts {
  const meant = nearest(word, candidates);
  return meant === undefined ? hint`see: ${command}` : hint`did you mean ${meant}?`;
}

/** Longer lists bury the suggestion. */
const MAX_LISTED = 12;

/**
 * Returns the valid word, ignoring case.
 * @param choice.where the option and its value: `--sort 'nam,asc'`
 * @param choice.command lists the words, if they are too many for a hint
 * @throws ImgctlError usage
 */
export function parseChoice<Word extends string>(
  word: string,
  choice: {
    noun: string;
    valid: readonly Word[];
    where?: string;
    command?: Invocation;
  },
): Word {
  const { noun, valid, where, command } = choice;
  const lowerCase = word.toLowerCase();
  const match = valid.find((candidate) => candidate.toLowerCase() === lowerCase);
  if (match !== undefined) return match;
  const problem = word === '' ? `missing ${noun}` : `unknown ${noun} ${quoted(word)}`;
  const meant = nearest(word, valid);
  const list = command === undefined ? `valid: ${valid.join(', ')}` : hint`see: ${command}`;
  const didYouMean = `did you mean ${meant}?`;
  const both = typeof list === 'string' ? `${didYouMean} ${list}` : hint`${didYouMean} ${list}`;
  const suggested = valid.length > MAX_LISTED ? didYouMean : both;
  throw new ImgctlError('usage', where === undefined ? problem : `${problem} in ${where}`, {
    facts: meant === undefined ? list : suggested,
  });
}
