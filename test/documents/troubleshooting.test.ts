// The messages in docs/troubleshooting.md are those of the program.

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '../..');

it('every message in docs/troubleshooting.md is in the source', () => {
  const files = readdirSync(path.join(ROOT, 'src'), { recursive: true, encoding: 'utf8' });
  const texts = files.filter((name) => name.endsWith('.ts'));
  const source = texts.map((name) => readFileSync(path.join(ROOT, 'src', name), 'utf8')).join('');
  const page = readFileSync(path.join(ROOT, 'docs/troubleshooting.md'), 'utf8');
  const cells = [...page.matchAll(/^\| (`.*?) \|/gm)].map(([, cell = '']) => cell);
  // The words in capitals stand for values, and … for the rest of a message.
  const parts = cells.join().match(/(?<=`)[^`]+(?=`)/g) ?? [];
  const missing = parts
    .flatMap((message) => message.split(/\b(?:[A-Z]{2,}|N)\b|…|[()"]|\d+ h/))
    .map((part) => part.replace(/^[ :]+|[ :]+$/g, ''))
    .filter((part) => /[a-z]{3}/.test(part) && !source.includes(part));
  expect(missing).toEqual([]);
});
