// Measures and cuts text by the cells that it takes on a terminal, as cli-table3 does.

import stringWidth from 'string-width';
import { ASCII } from './text.ts';

/** Cells of a name's start that stay when it is cut: they tell the distribution. */
const MIN_HEAD = 8;

/** Returns the number of cells; the text must not contain control characters. */
export function displayWidth(text: string): number {
  return ASCII.test(text) ? text.length : stringWidth(text);
}

/** Returns the cells of the start that usually stay: the end has the release and the build. */
export function usualHead(width: number): number {
  return Math.max(MIN_HEAD, Math.ceil((width - 1) / 3));
}

/**
 * Cuts a text in the middle to fit.
 * @param start cells of its start that stay, if they fit
 */
export function cutMiddle(
  text: string,
  width: number,
  unicode: boolean,
  start = usualHead(width),
): string {
  if (displayWidth(text) <= width) return text;
  const ellipsis = (unicode ? '…' : '...').slice(0, width);
  const room = width - ellipsis.length;
  const head = Math.min(room, start);
  // Surely enough to fill the width: dividing a long text takes quadratic time.
  const units = 16 * width + 64;
  const first = fitting(charactersOf(text.slice(0, units)), head);
  const end = fitting(charactersOf(text.slice(-units)).reverse(), room - head).reverse();
  return [...first, ellipsis, ...end].join('').toWellFormed();
}

/** Made once, and only for a text that needs it, as making it takes time. */
let segmenter: Intl.Segmenter | undefined;

function charactersOf(text: string): string[] {
  if (ASCII.test(text)) return text.split('');
  segmenter ??= new Intl.Segmenter('en');
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

function fitting(characters: readonly string[], cells: number): string[] {
  let used = 0;
  let end = 0;
  for (const character of characters) {
    used += displayWidth(character);
    if (used > cells) break;
    end += 1;
  }
  return characters.slice(0, end);
}
