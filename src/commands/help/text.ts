// Blocks of help as text for a terminal.

import type { Block } from '../../declarations.ts';

/** A longer term gets its own line above its meaning. */
const MAX_TERM = 30;
/** In a terminal with less room beside the terms, each meaning is below its term, with this indent. */
const MIN_MEANING = 24;
const INDENT = 6;

/** Separates blocks by a blank line, except after a paragraph that introduces the next one. */
export function renderBlocks(blocks: readonly Block[], width: number): string {
  return blocks
    .map((block, index) => {
      const introduces = typeof block === 'string' && block.endsWith(':');
      const isLast = index === blocks.length - 1;
      return `${renderBlock(block, width)}\n${introduces || isLast ? '' : '\n'}`;
    })
    .join('');
}

function renderBlock(block: Block, width: number): string {
  if (typeof block === 'string') return wrap(block, width).join('\n');
  if ('shell' in block) return block.shell.map((line) => `  $ ${line}`).join('\n');
  if ('lines' in block) return block.lines.map((line) => `  ${line}`).join('\n');
  const longest = Math.max(...block.terms.map(([term]) => term.length));
  return block.terms.map(([term, meaning]) => renderTerm(term, meaning, longest, width)).join('\n');
}

/** Returns a term and, beside it, its meaning; `longest` is the length of the longest term of the list. */
export function renderTerm(term: string, meaning: string, longest: number, width: number): string {
  const beside = Math.min(MAX_TERM, longest) + 4;
  const column = width - beside < MIN_MEANING ? INDENT : beside;
  const start = `  ${term}`;
  const lines = wrap(meaning, width - column);
  const [first, ...rest] = start.length > column - 2 ? ['', ...lines] : lines;
  const indented = rest.map((line) => `\n${' '.repeat(column)}${line}`).join('');
  return `  ${`${start.padEnd(column)}${first}`.trim()}${indented}`;
}

/** Wraps the text at this width; a longer word gets its own line. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) {
      lines[lines.length - 1] = `${last} ${word}`;
    } else lines.push(word);
  }
  return lines;
}
