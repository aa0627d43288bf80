// Files that CONTRIBUTING.md and docs/development name exist.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const FOLDER = 'docs/development';
const DOCUMENTS = readdirSync(join(ROOT, FOLDER)).map((name) => `${FOLDER}/${name}`);

it.each(['CONTRIBUTING.md', ...DOCUMENTS])('%s names existing files', (document) => {
  const text = readFileSync(join(ROOT, document), 'utf8');
  const named = text.match(/\b(?:src|test|tools|bench|bin|docs)\/[\w./@-]+\.\w+/g) ?? [];
  expect(named.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
});
