// docs/development/hazards.md links to existing tests.

import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';

const DOCS = resolve(import.meta.dirname, '../../docs/development');

it('docs/development/hazards.md links to existing tests in every row', () => {
  const lines = readFileSync(resolve(DOCS, 'hazards.md'), 'utf8').split('\n');
  for (const row of lines.filter((line) => /^\| (?!Hazard )/.test(line))) {
    const files = [...row.matchAll(/\]\(([^)]+)\)/g)].map(([, file = '']) => file);
    expect([row, files]).not.toEqual([row, []]);
    expect(files.filter((file) => !existsSync(resolve(DOCS, file)))).toEqual([]);
  }
});
