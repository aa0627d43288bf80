// Measures and cuts text by the cells that it takes on a terminal, as cli-table3 does.

import stringWidth from 'string-width';
import { ASCII } from './text.ts';

/** Cells of a name's start that stay when it is cut: they tell the distribution. */
const MIN_HEAD = 8;

/** Returns the number of cells; the text must not contain control characters. */
export function displayWidth(text: string): number {
  return ASCII.test(text) ? text.length : stringWidth(text);
}

/** Cuts a text that is wider than `width` cells in the middle: its end holds the release and the build. */
export function cutMiddle(text: string, width: number, unicode: boolean): string {
  if (displayWidth(text) <= width) return text;
  const ellipsis = (unicode ? '…' : '...').slice(0, width);
  const room = width - ellipsis.length;
  const head = Math.min(room, Math.max(MIN_HEAD, Math.ceil(room / 3)));
  return startOf(text, head) + ellipsis + endOf(text, room - head);
}

function startOf(text: string, cells: number): string {
  if (ASCII.test(text)) return text.slice(0, cells);
  return fitting(charactersOf(text.slice(0, unitsFor(cells))), cells)
    .join('')
    .toWellFormed();
}

function endOf(text: string, cells: number): string {
  if (ASCII.test(text)) return text.slice(text.length - cells);
  const characters = charactersOf(text.slice(-unitsFor(cells))).reverse();
  return fitting(characters, cells).reverse().join('').toWellFormed();
}

/** UTF-16 units that surely fill a number of cells: segmenting a long text takes quadratic time. */
function unitsFor(cells: number): number {
  return 16 * cells + 64;
}

/** Returns what a reader sees as characters. */
function charactersOf(text: string): string[] {
  return Array.from(new Intl.Segmenter('en').segment(text), ({ segment }) => segment);
}

function fitting(characters: readonly string[], cells: number): string[] {
  let used = 0;
  const end = characters.findIndex((character) => {
    used += stringWidth(character);
    return used > cells;
  });
  return characters.slice(0, end < 0 ? undefined : end);
}
