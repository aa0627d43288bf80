// Which known word a mistyped one was probably meant to be.

/** Longer words are no typing mistakes, and comparing them would cost time for nothing. */
const LONGEST_COMPARED = 200;

/**
 * The candidate nearest to the word, undefined when none is near enough to be meant by it.
 * Case is ignored; the first of equally near candidates wins.
 */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  return nearestFew(word, candidates, 1)[0];
}

/** Up to `count` candidates that may have been meant, nearest first. */
export function nearestFew(word: string, candidates: readonly string[], count: number): string[] {
  return candidates
    .map((candidate) => ({ candidate, distance: typingDistance(word, candidate) }))
    .filter(({ distance }) => distance !== Number.POSITIVE_INFINITY)
    .sort((left, right) => left.distance - right.distance)
    .slice(0, count)
    .map(({ candidate }) => candidate);
}

/** Infinity where the two differ in more than a third of their letters and neither holds the other. */
function typingDistance(word: string, candidate: string): number {
  const longest = Math.max(word.length, candidate.length);
  const shortest = Math.min(word.length, candidate.length);
  if (shortest === 0 || longest > LONGEST_COMPARED) return Number.POSITIVE_INFINITY;
  const left = word.toLowerCase();
  const right = candidate.toLowerCase();
  if (shortest > 2 && (left.includes(right) || right.includes(left))) {
    return (longest - shortest) / longest;
  }
  const allowed = Math.max(1, Math.floor(longest / 3));
  if (longest - shortest > allowed) return Number.POSITIVE_INFINITY;
  const distance = editDistance(left, right);
  // As many changes as letters: nothing in common.
  return distance <= allowed && distance < longest ? distance : Number.POSITIVE_INFINITY;
}

/** Insertions, deletions, replacements and swaps of neighbours that turn one text into the other. */
function editDistance(left: string, right: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const same = left[row - 1] === right[column - 1];
      let cost = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (same ? 0 : 1),
      );
      const swapped = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      if (swapped) cost = Math.min(cost, at(beforeLast, column - 2) + 1);
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return at(last, right.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
