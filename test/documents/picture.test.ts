// docs/terminal.svg is up to date and harmless.

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { SaxesParser } from 'saxes';
import { expect, it } from 'vitest';
import { temporaryDirectory } from '../support/io.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const PICTURE = readFileSync(path.join(ROOT, 'docs/terminal.svg'), 'utf8');

it('docs/terminal.svg is up to date (npm run picture)', async () => {
  const file = path.join(temporaryDirectory(), 'terminal.svg');
  const script = path.join(ROOT, 'tools/picture.mjs');
  await promisify(execFile)(process.execPath, [script, file]);
  expect(readFileSync(file, 'utf8')).toBe(PICTURE);
});

it('docs/terminal.svg is well-formed, has a title and a description and loads nothing', () => {
  const elements: string[] = [];
  const attributes = new Set<string>();
  const parser = new SaxesParser({ xmlns: true });
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', (tag) => {
    elements.push(tag.name);
    for (const name of Object.keys(tag.attributes)) attributes.add(name);
  });
  parser.write(PICTURE).close();
  expect(elements.slice(0, 3)).toEqual(['svg', 'title', 'desc']);
  expect([...new Set(elements)].sort()).toEqual([
    'desc',
    'rect',
    'style',
    'svg',
    'text',
    'title',
    'tspan',
  ]);
  expect([...attributes].filter((name) => /href|^on|src/i.test(name))).toEqual([]);
  expect(PICTURE).not.toMatch(/@import|url\(/);
});
