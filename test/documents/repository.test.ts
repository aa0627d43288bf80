// What CONTRIBUTING.md and docs/ say about this repository: files, tests, sections, messages and the first test.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { codeBlocks, ROOT, readPage } from '../support/documents.ts';

const FOLDER = 'docs/development';
const DOCUMENTS = readdirSync(join(ROOT, FOLDER)).map((name) => `${FOLDER}/${name}`);

/** Returns the texts of all TypeScript files below a folder. */
const sourcesIn = (folder: string) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readPage(join(folder, file)));

it.each(['CONTRIBUTING.md', ...DOCUMENTS])('%s names existing files', (document) => {
  const named =
    readPage(document).match(/\b(?:src|test|tools|bench|bin|docs)\/[\w./@-]+\.\w+/g) ?? [];
  expect(named.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
});

it('docs/development/hazards.md links to existing tests in every row', () => {
  const lines = readPage(`${FOLDER}/hazards.md`).split('\n');
  for (const row of lines.filter((line) => /^\| (?!Hazard )/.test(line))) {
    const files = [...row.matchAll(/\]\(([^)]+)\)/g)].map(([, file = '']) => file);
    expect([row, files]).not.toEqual([row, []]);
    expect(files.filter((file) => !existsSync(join(ROOT, FOLDER, file)))).toEqual([]);
  }
});

it('docs/development/testing.md shows test/first.test.ts as it is', () => {
  const [shown] = codeBlocks(readPage(`${FOLDER}/testing.md`), 'ts');
  expect(readPage('test/first.test.ts')).toContain(shown);
});

it('docs/development/service.md has each section that src and test name', () => {
  const headings = readPage(`${FOLDER}/service.md`).matchAll(/^##+ ([\d.]+) /gm);
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
  const cells = [...readPage('docs/troubleshooting.md').matchAll(/^\| (`.*?) \|/gm)];
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
