// Usage errors of choices and columns, and suggestions for mistyped words.

import { ImgctlError } from './errors.ts';

const MAX_QUOTED = 60;

export function quoted(text: string): string {
  return `'${shorten(text)}'`;
}

export function shorten(text: string): string {
  if (text.length <= MAX_QUOTED) return text;
  return `${text.slice(0, MAX_QUOTED).replace(/[\ud800-\udbff]$/, '')}…`;
}

export function incompatible(one: string, other: string): ImgctlError {
  return new ImgctlError('usage', `${one} and ${other} cannot be used together`, {
    hint: `omit ${one} or ${other}`,
  });
}

/** Returns a hint: the candidate that was probably meant, or else the command that lists them. */
export function suggest(word: string, candidates: readonly string[], command: string): string {
  const meant = nearest(word, candidates);
  return meant === undefined ? `see: ${command}` : `did you mean ${meant}?`;
}

/** Longer lists bury the suggestion. */
const MAX_LISTED = 12;

/**
 * Returns the valid word, ignoring case. @param choice.where the option and its value: `--sort 'nam,asc'`
 * @param choice.command lists the words, if they are too many for a hint
 * @throws ImgctlError usage
 */
export function parseChoice<Word extends string>(
  word: string,
  choice: {
    noun: string;
    valid: readonly Word[];
    where?: string;
    command?: string;
  },
): Word {
  const { noun, valid, where, command } = choice;
  const lowerCase = word.toLowerCase();
  const match = valid.find((candidate) => candidate.toLowerCase() === lowerCase);
  if (match !== undefined) return match;
  const problem = word === '' ? `missing ${noun}` : `unknown ${noun} ${quoted(word)}`;
  const meant = nearest(word, valid);
  const list = command === undefined ? `valid: ${valid.join(', ')}` : `see: ${command}`;
  const hint =
    valid.length > MAX_LISTED ? `did you mean ${meant}?` : `did you mean ${meant}? ${list}`;
  throw new ImgctlError('usage', where === undefined ? problem : `${problem} in ${where}`, {
    hint: (noun === 'format' && formatElsewhere(word)) || (meant === undefined ? list : hint),
  });
}

/** Parses names of columns, separated by commas, or `all`, which are these. @throws ImgctlError usage */
export function parseColumns<Name extends string>(
  text: string,
  where: string,
  valid: readonly Name[],
  all: readonly Name[] = valid,
): readonly Name[] {
  if (text.trim().toLowerCase() === 'all') return all;
  return text.split(',').map((name) => {
    return parseChoice(name.trim(), { noun: 'field', valid, where: `${where} '${text}'` });
  });
}

/** Longer words are not typing mistakes, and comparing them is slow. */
const MAX_COMPARED = 200;

/** Returns what to use instead of a format of another program, such as `columns=id,name`. */
function formatElsewhere(word: string): string | undefined {
  const [, name = '', value = ''] = /^([^=]*)=?(.*)$/s.exec(word) ?? [];
  const columns = /^\w+(,\w+)*$/.test(value) ? value : 'a,b';
  return FORMATS_ELSEWHERE.get(name)?.replace('a,b', columns);
}

const JQ = 'use --json, and select with jq';

const FORMATS_ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ['wide', 'use -c all'],
  ['name', 'use --get name'],
  ['id', 'use --get id'],
  ['text', 'use -o tsv'],
  ['noheader', 'use --no-header'],
  ['columns', 'use -c a,b'],
  ['custom-columns', 'use -c a,b'],
  ['jsonpath', JQ],
  ['go-template', JQ],
  ['template', JQ],
]);

const SYNONYMS: ReadonlyMap<string, string> = new Map([
  ['jsonl', 'ndjson'],
  ['upload-password-file', 'upload-password-command'],
]);

/** Returns the candidate nearest to the word, ignoring case and hyphens; undefined if none is near enough. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const synonym = SYNONYMS.get(word.toLowerCase());
  if (synonym !== undefined && candidates.includes(synonym)) return synonym;
  const start = (each: { candidate: string }) => Number(each.candidate[0] === word[0]);
  return candidates
    .map((candidate) => ({ candidate, distance: typingDistance(word, candidate) }))
    .filter(({ distance }) => distance !== Number.POSITIVE_INFINITY)
    .sort((left, right) => left.distance - right.distance || start(right) - start(left))[0]
    ?.candidate;
}

const NEGATION = /^(?:no|un|dis)/;

/** Returns Infinity unless one word is part of the other or at most a third of the letters differ. */
function typingDistance(word: string, candidate: string): number {
  const fold = (text: string) => text.toLowerCase().replaceAll(/[-_]/g, '');
  const left = fold(word);
  const right = fold(candidate);
  // `--no-wait` is not `--wait`.
  if (NEGATION.test(left) !== NEGATION.test(right)) return Number.POSITIVE_INFINITY;
  const [short, long] = left.length < right.length ? [left, right] : [right, left];
  const [shorter, longer] = [short.length, long.length];
  if (shorter === 0 || longer > MAX_COMPARED) return Number.POSITIVE_INFINITY;
  const isPart = shorter * 2 >= longer ? long.includes(short) : long.startsWith(short);
  if (shorter > 2 && isPart) return (longer - shorter) / longer;
  const allowed = Math.max(1, Math.floor(longer / 3));
  if (longer - shorter > allowed) return Number.POSITIVE_INFINITY;
  const distance = editDistance(left, right);
  const haveNothingInCommon = distance === longer;
  return distance <= allowed && !haveNothingInCommon ? distance : Number.POSITIVE_INFINITY;
}

/** Counts insertions, deletions, replacements and swaps of neighbours (Damerau-Levenshtein). */
function editDistance(left: string, right: string): number {
  const table: number[][] = [];
  const at = (row: number, column: number) => table[row]?.[column] ?? Number.POSITIVE_INFINITY;
  for (let row = 0; row <= left.length; row += 1) {
    table.push([]);
    for (let column = 0; column <= right.length; column += 1) {
      const isSame = left[row - 1] === right[column - 1];
      const isSwapped = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      const cost = Math.min(
        at(row - 1, column) + 1,
        at(row, column - 1) + 1,
        at(row - 1, column - 1) + (isSame ? 0 : 1),
        isSwapped ? at(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
      table[row]?.push(row === 0 ? column : cost);
    }
  }
  return at(left.length, right.length);
}
