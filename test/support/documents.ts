// The pages of this repository and their code blocks.

import { readFileSync } from 'node:fs';
import path from 'node:path';

export const ROOT = path.resolve(import.meta.dirname, '../..');

/** Returns the text of a file of the repository, such as `docs/push.md`. */
export const readPage = (name: string) => readFileSync(path.join(ROOT, name), 'utf8');

/** Returns the code blocks of a page in these languages [all]. */
export function codeBlocks(page: string, ...languages: string[]): string[] {
  const blocks = [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)];
  const own = blocks.filter(([, name = '']) => languages.length === 0 || languages.includes(name));
  return own.map(([, , code = '']) => code);
}
