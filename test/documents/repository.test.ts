// What CONTRIBUTING.md and docs/ say about this repository: files, tests, sections, messages and the first test.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const FOLDER = 'docs/development';
const DOCUMENTS = readdirSync(join(ROOT, FOLDER)).map((name) => `${FOLDER}/${name}`);

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

/** Returns the texts of all TypeScript files below a folder. */
const sourcesIn = (folder: string) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => read(join(folder, file)));

it.each(['CONTRIBUTING.md', ...DOCUMENTS])('%s names existing files', (document) => {
  const named = read(document).match(/\b(?:src|test|tools|bench|bin|docs)\/[\w./@-]+\.\w+/g) ?? [];
  expect(named.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
});

it('docs/development/hazards.md links to existing tests in every row', () => {
  const lines = read(`${FOLDER}/hazards.md`).split('\n');
  for (const row of lines.filter((line) => /^\| (?!Hazard )/.test(line))) {
    const files = [...row.matchAll(/\]\(([^)]+)\)/g)].map(([, file = '']) => file);
    expect([row, files]).not.toEqual([row, []]);
    expect(files.filter((file) => !existsSync(join(ROOT, FOLDER, file)))).toEqual([]);
  }
});

it('docs/development/testing.md shows test/first.test.ts as it is', () => {
  const [, shown] = /^```ts\n(.*?)^```$/ms.exec(read(`${FOLDER}/testing.md`)) ?? [];
  expect(read('test/first.test.ts')).toContain(shown);
});

it('docs/development/service.md has each section that src and test name', () => {
  const headings = read(`${FOLDER}/service.md`).matchAll(/^##+ ([\d.]+) /gm);
  const sections = new Set([...headings].map(([, number]) => number));
  const named = ['src', 'test'].flatMap(sourcesIn).flatMap((source) => {
    const comments = source.match(/^.*\bsections? \d.*$/gim) ?? [];
    const own = comments.filter((line) => !/RFC|DSP0243/.test(line));
    return own.flatMap((line) => line.match(/(?<=[ (])\d(\.\d)?(?![\d.]*\d)(?=[ ,;:.)])/g) ?? []);
  });
  expect(named.length).toBeGreaterThan(30);
  expect(named.filter((number) => !sections.has(number))).toEqual([]);
});

it('every message in docs/troubleshooting.md is in the source', () => {
  const source = sourcesIn('src').join('');
  const cells = [...read('docs/troubleshooting.md').matchAll(/^\| (`.*?) \|/gm)];
  // The words in capitals stand for values, and … for the rest of a message.
  const parts =
    cells
      .map(([, cell]) => cell)
      .join()
      .match(/(?<=`)[^`]+(?=`)/g) ?? [];
  const missing = parts
    .flatMap((message) => message.split(/\b(?:[A-Z]{2,}|N)\b|…|[()"]|\d+ h/))
    .map((part) => part.replace(/^[ :]+|[ :]+$/g, ''))
    .filter((part) => /[a-z]{3}/.test(part) && !source.includes(part));
  expect(missing).toEqual([]);
});
