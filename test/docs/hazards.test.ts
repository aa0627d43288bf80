// docs/development/hazards.md links to existing tests.

import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';

const DOCS = resolve(import.meta.dirname, '../../docs/development');

const rows = readFileSync(resolve(DOCS, 'hazards.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| Hazard '));

it.each(rows)('docs/development/hazards.md links to existing tests: %s', (row) => {
  const files = [...row.matchAll(/\]\(([^)]+)\)/g)].map(([, file = '']) => file);
  expect(files).not.toEqual([]);
  expect(files.filter((file) => !existsSync(resolve(DOCS, file)))).toEqual([]);
});
