// How a wrong word on the command line is answered: what is wrong, where, what is valid, what is nearest.

import { ImgctlError } from '../errors.ts';
import { nearest } from './nearest.ts';

const LONGEST_QUOTED = 60;

/** The text in quotes for a message, cut where it is long. */
export function quoted(text: string): string {
  if (text.length <= LONGEST_QUOTED) return `'${text}'`;
  // A cut between the halves of a surrogate pair would leave a broken character.
  const start = text.slice(0, LONGEST_QUOTED).replace(/[\ud800-\udbff]$/, '');
  return `'${start}…'`;
}

/** The hint to a name that there is not: the nearest one, or the command that shows which there are. */
export function suggest(meant: string | undefined, command: string): string {
  return meant === undefined ? `see: ${command}` : `did you mean ${meant}?`;
}

export interface Choice<Word extends string> {
  /** What is chosen, in the singular: "field", "format". */
  readonly noun: string;
  readonly valid: readonly Word[];
  /** Where the word stands: "--sort 'nam,asc'". */
  readonly where: string;
  /** Words other tools have for the same, to suggest the right one. */
  readonly synonyms?: ReadonlyMap<string, Word>;
}

/**
 * The valid word that was meant, whatever its case.
 * Throws a usage error that lists the valid words and suggests the nearest.
 */
export function parseChoice<Word extends string>(word: string, choice: Choice<Word>): Word {
  const { noun, valid, where, synonyms } = choice;
  const lowered = word.toLowerCase();
  const chosen = valid.find((candidate) => candidate.toLowerCase() === lowered);
  if (chosen !== undefined) return chosen;
  const what = word === '' ? `no ${noun}` : `unknown ${noun} ${quoted(word)}`;
  const meant = synonyms?.get(lowered) ?? nearest(word, valid);
  throw new ImgctlError('usage', `${what} in ${where}`, {
    hint: `${meant === undefined ? '' : `did you mean ${meant}? `}valid: ${valid.join(', ')}`,
  });
}
