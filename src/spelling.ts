// What a mistyped word probably meant.

const SYNONYMS: ReadonlyMap<string, string> = new Map([
  ['jsonl', 'ndjson'],
  ['upload-password-file', 'upload-password-command'],
  // The nearest setting would be upload-access-key, which takes no secret.
  ['upload-secret-key', 'upload-secret-command'],
]);

/** Returns the candidate nearest to the word, ignoring case and hyphens, if one is near enough. */
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

/** Longer words are not typing mistakes, and comparing them is slow. */
const MAX_COMPARED = 200;

/**
 * Returns how far a candidate is from the word:
 *
 *     word      candidate   distance
 *     no-wait   wait        Infinity: it is the opposite
 *     filt      filter      2 / 6: it begins with the word, or has it within twice its length
 *     colunms   columns     1: at most a third of the letters differ
 *     json      yaml        Infinity: more differ
 */
function typingDistance(word: string, candidate: string): number {
  const fold = (text: string) => text.toLowerCase().replaceAll(/[-_]/g, '');
  const left = fold(word);
  const right = fold(candidate);
  if (NEGATION.test(left) !== NEGATION.test(right)) return Number.POSITIVE_INFINITY;
  const [short, long] = left.length < right.length ? [left, right] : [right, left];
  const { length } = long;
  const added = length - short.length;
  if (short === '' || length > MAX_COMPARED) return Number.POSITIVE_INFINITY;
  const isPart = short.length * 2 >= length ? long.includes(short) : long.startsWith(short);
  if (short.length > 2 && isPart) return added / length;
  const allowed = Math.max(1, Math.floor(length / 3));
  if (added > allowed) return Number.POSITIVE_INFINITY;
  const distance = editDistance(left, right);
  const hasCommon = distance < length;
  return hasCommon && distance <= allowed ? distance : Number.POSITIVE_INFINITY;
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
