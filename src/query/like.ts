// The pattern of `like`: % for any run of characters, case ignored, in time linear in pattern plus text.

/** Whether a whole text matches the pattern; % is its one wildcard, and there is no escape for it. */
export function likePredicate(pattern: string): (text: string) => boolean {
  const parts = foldCase(pattern).split('%');
  const first = parts[0] ?? '';
  const last = parts.at(-1) ?? '';
  if (parts.length === 1) return (text) => foldCase(text) === first;
  const middle = parts.slice(1, -1).filter((part) => part !== '');
  const searches = middle.map(endOfFirst);
  return (text) => {
    const folded = foldCase(text);
    const end = folded.length - last.length;
    if (end < first.length || !folded.startsWith(first) || !folded.endsWith(last)) return false;
    let position = first.length;
    for (const search of searches) {
      position = search(folded, position, end);
      if (position === -1) return false;
    }
    return true;
  };
}

/** Whether a text holds another, literally but for the case. */
export function containsPredicate(part: string): (text: string) => boolean {
  const search = endOfFirst(foldCase(part));
  return (text) => {
    const folded = foldCase(text);
    return search(folded, 0, folded.length) !== -1;
  };
}

/**
 * Upper case, since it depends on each character alone: lower case writes a Greek sigma differently at
 * the end of a word, so that a part would not be found in its whole.
 */
function foldCase(text: string): string {
  return text.toUpperCase();
}

type Search = (text: string, start: number, end: number) => number;

/**
 * Finds where the first occurrence of the part in text[start, end) ends; -1 without one.
 * Knuth, Morris and Pratt's search: indexOf takes pattern times text for some patterns.
 */
function endOfFirst(part: string): Search {
  const borders = bordersOf(part);
  return (text, start, end) => {
    let matched = 0;
    for (let index = start; index < end; index += 1) {
      if (matched === part.length) return index;
      matched = extend(part, borders, matched, text.charCodeAt(index));
    }
    return matched === part.length ? end : -1;
  };
}

/** For each length of a beginning of the part: the longest shorter beginning that it ends with. */
function bordersOf(part: string): Uint32Array {
  const borders = new Uint32Array(part.length + 1);
  let matched = 0;
  for (let length = 2; length <= part.length; length += 1) {
    matched = extend(part, borders, matched, part.charCodeAt(length - 1));
    borders[length] = matched;
  }
  return borders;
}

/** How much of the part is matched after one more character. */
function extend(part: string, borders: Uint32Array, matched: number, unit: number): number {
  let length = matched;
  while (length > 0 && part.charCodeAt(length) !== unit) length = borders[length] ?? 0;
  return part.charCodeAt(length) === unit ? length + 1 : 0;
}
