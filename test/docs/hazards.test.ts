// docs/hazards.md: every row names tests of the built program, and these exist.

import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const DOCS = resolve(import.meta.dirname, '../../docs');
const PAGE = readFileSync(resolve(DOCS, 'hazards.md'), 'utf8');

/** The tables' rows: the hazard, the promise, the tests. */
const ROWS = PAGE.split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| Hazard '))
  .map((line) => line.slice(2, -2).split(/(?<!\\) \| /));

/** Each file with the titles that follow it: ``[name](file) `title`, `title`; [name]...`` */
function testsIn(cell: string): { file: string; titles: string[] }[] {
  return [...cell.matchAll(/\]\(([^)]+)\)((?:,? `[^`]+`)*)/g)].map(
    ([, file = '', titles = '']) => ({
      file,
      titles: [...titles.matchAll(/`([^`]+)`/g)].map(([, title = '']) => title),
    }),
  );
}

it('has a row for every hazard', () => {
  expect(ROWS.length).toBeGreaterThanOrEqual(33);
});

describe.each(ROWS)('%s', (_hazard, promise = '', cell = '') => {
  it('has a promise and tests that exist', () => {
    expect(promise).not.toBe('');
    const tests = testsIn(cell);
    expect(tests).not.toEqual([]);
    for (const { file, titles } of tests) {
      expect(file).toMatch(/^\.\.\/test\/(e2e|hardening)\/[\w-]+\.test\.ts$/);
      const path = resolve(DOCS, file);
      expect(existsSync(path), file).toBe(true);
      expect(titles, file).not.toEqual([]);
      const source = readFileSync(path, 'utf8');
      const quoted = titles.map((title) => [`('${title}'`, `(\`${title}\``, `'${title}',`]);
      for (const forms of quoted) {
        expect(
          forms.some((form) => source.includes(form)),
          `${file}: ${forms[0]}`,
        ).toBe(true);
      }
    }
  });
});
