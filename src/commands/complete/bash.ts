// The command line of bash: its words without quotes, and candidates as readline inserts them.

export interface BashLine {
  /** Without the program. */
  readonly words: readonly string[];
  /** The word at the cursor, without quotes. */
  readonly current: string;
  /** The quote that is still open, or ''. */
  readonly quote: string;
  /** What stands before that quote in the same word. */
  readonly before: string;
  /** The part of the word, as typed, that readline leaves alone: it splits words at = and : too. */
  readonly settled: string;
}

/** Parses a line up to the cursor; nothing is expanded. `breaks`: COMP_WORDBREAKS. */
export function parseBash(line: string, breaks: string): BashLine {
  const words: string[] = [];
  let word: string | undefined;
  let start = 0;
  let quote = '';
  let before = '';
  let settled = '';
  for (let index = 0; index < line.length; index += 1) {
    const char = line.charAt(index);
    if (quote === '' && /\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
      continue;
    }
    if (word === undefined) {
      start = index;
      settled = '';
    }
    word ??= '';
    if (char === quote) quote = '';
    else if (quote === '' && (char === "'" || char === '"')) {
      quote = char;
      before = word;
    } else if (char === '\\' && quote !== "'") {
      index += 1;
      const next = line.charAt(index);
      // Between double quotes a backslash is special only before these.
      word += quote === '"' && !/[\\"$`]/.test(next) ? char + next : next;
    } else {
      word += char;
      if (quote === '' && breaks.includes(char)) settled = line.slice(start, index + 1);
    }
  }
  return {
    words: words.slice(1),
    current: word ?? '',
    quote,
    before,
    settled: word === undefined ? '' : settled,
  };
}

/** The text as readline inserts it; undefined if that is impossible. */
export function replyBash(text: string, { quote, before, settled }: BashLine): string | undefined {
  if (quote === '') {
    const quoted = quoteBash(text);
    return quoted.startsWith(settled) ? quoted.slice(settled.length) : undefined;
  }
  const rest = text.slice(before.length);
  // Between quotes there is no harmless way to write these.
  if (/[\u0001-\u001f\u007f-\u009f]/.test(rest) || (quote === '"' && rest.includes('!'))) {
    return undefined;
  }
  const escaped = quote === "'" ? rest.replaceAll("'", "'\\''") : rest.replace(/[\\"$`]/g, '\\$&');
  // Readline closes the quote, unless the text seems to do that.
  return escaped.endsWith(quote) ? escaped + quote : escaped;
}

/** The text as one word of bash, nothing in it expanded. */
export function quoteBash(text: string): string {
  if (/[\u0001-\u001f\u007f-\u009f]/.test(text)) {
    const escaped = text
      .replace(/[\\']/g, '\\$&')
      .replace(/[\u0001-\u001f\u007f-\u009f]/g, (character) =>
        [...Buffer.from(character)]
          .map((byte) => `\\${byte.toString(8).padStart(3, '0')}`)
          .join(''),
      );
    return `$'${escaped}'`;
  }
  return text.replace(/[^\w.,:=@/+\u0080-\uffff-]/g, '\\$&');
}
