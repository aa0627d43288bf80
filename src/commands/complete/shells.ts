// Parses what each shell passes, and formats the completions that it expects. Every record ends in NUL, as names may
// contain line breaks: the mode, the text before a path in its word, then the candidates.

import { printable } from '../../output/text.ts';
import type { Candidate } from './candidates.ts';

type Format = (candidates: readonly Candidate[]) => readonly string[];

/** Returns the words before the cursor without the program, the word up to it, and a formatter of candidates. */
export function readRequest(shell: string, passed: readonly string[]) {
  if (shell === 'bash') {
    const [breaks = '', text = ''] = passed;
    const line = parseBash(text, breaks);
    const format: Format = (candidates) => formatBash(candidates, line);
    return { ...line, format };
  }
  if (shell === 'powershell') {
    const [encoded = ''] = passed;
    const words = Buffer.from(encoded, 'base64').toString().split('\0');
    const bare = words.pop() ?? '';
    const current = words.pop() ?? '';
    const format: Format = (candidates) => formatPowershell(candidates, current, bare);
    return { words, current, format };
  }
  const words = passed.slice(0, -1);
  const current = passed.at(-1) ?? '';
  return { words, current, format: shell === 'fish' ? formatFish : formatZsh };
}

function formatBash(candidates: readonly Candidate[], line: BashLine): string[] {
  return candidates
    .filter(({ value }) => value.startsWith(line.current))
    .flatMap(({ value }) => replyBash(value, line) ?? []);
}

/** Returns each value, then its line in the list; zsh selects by its own rules. */
function formatZsh(candidates: readonly Candidate[]): string[] {
  const width = Math.max(0, ...candidates.map(({ value }) => value.length));
  return candidates.flatMap(({ value, description }) =>
    description === undefined
      ? [value, value]
      : [value, `${value.padEnd(width)}  -- ${printable(description)}`],
  );
}

/** A tab starts the description, so no value can contain one; fish selects by its own rules. */
function formatFish(candidates: readonly Candidate[]): string[] {
  return candidates
    .filter(({ value }) => !value.includes('\t'))
    .map(({ value, description }) =>
      description === undefined ? value : `${value}\t${printable(description)}`,
    );
}

/**
 * Returns the text to insert, the text to list, and the description. To PowerShell a comma starts another word:
 * `bare` is the part of the current word that it replaces.
 */
function formatPowershell(
  candidates: readonly Candidate[],
  current: string,
  bare: string,
): string[] {
  const part = bare.replace(/^['"]+|['"]+$/g, '');
  const settled = current.endsWith(part) ? current.length - part.length : 0;
  return candidates
    .filter(({ value }) => value.toLowerCase().startsWith(current.toLowerCase()))
    .filter(({ value }) => value.length > settled)
    .flatMap(({ value, description, isText }) => {
      const rest = value.slice(settled);
      const shown = printable(value);
      return [isText ? quotePowershell(rest) : rest, shown, printable(description ?? value)];
    });
}

/** Quotes the text as one argument, without expansion; PowerShell treats typographic quotes as quotes. */
export function quotePowershell(text: string): string {
  if (/^[\w./][\w./+=:-]*$/.test(text)) return text;
  if (!/[\u0001-\u001f\u007f-\u009f]/.test(text)) {
    return `'${text.replace(/['\u2018-\u201b]/g, '$&$&')}'`;
  }
  const escaped = text
    .replace(/[`"$\u201c-\u201e]/g, '`$&')
    .replace(/[\u0001-\u001f\u007f-\u009f]/g, (character) => `$([char]${character.charCodeAt(0)})`);
  return `"${escaped}"`;
}

/** The command line of bash: its words without quotes. */
interface BashLine {
  /** Without the program. */
  readonly words: readonly string[];
  /** The word at the cursor, without quotes. */
  readonly current: string;
  /** The quote that is still open, or ''. */
  readonly quote: string;
  /** The text before that quote in the same word. */
  readonly before: string;
  /** The part of the word, as typed, that readline does not replace: it also splits words at = and :. */
  readonly settled: string;
}

/** Parses a line up to the cursor without expansion. `breaks` is COMP_WORDBREAKS. */
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

/** Returns the text for readline to insert; undefined if that is impossible. */
export function replyBash(text: string, { quote, before, settled }: BashLine): string | undefined {
  if (quote === '') {
    const quoted = quoteBash(text);
    return quoted.startsWith(settled) ? quoted.slice(settled.length) : undefined;
  }
  const rest = text.slice(before.length);
  // Between quotes these cannot be written safely.
  if (/[\u0001-\u001f\u007f-\u009f]/.test(rest) || (quote === '"' && rest.includes('!'))) {
    return undefined;
  }
  const escaped = quote === "'" ? rest.replaceAll("'", "'\\''") : rest.replace(/[\\"$`]/g, '\\$&');
  // Readline closes the quote, unless the text seems to close it.
  return escaped.endsWith(quote) ? escaped + quote : escaped;
}

/** Quotes the text as one word of bash, without expansion. */
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
