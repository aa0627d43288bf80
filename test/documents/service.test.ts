// docs/development/service.md has the sections that comments in src and test name.

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '../..');

it('docs/development/service.md has each section that src and test name', () => {
  const text = readFileSync(path.join(ROOT, 'docs/development/service.md'), 'utf8');
  const sections = new Set([...text.matchAll(/^##+ ([\d.]+) /gm)].map(([, number]) => number));
  const files = ['src', 'test'].flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => path.join(ROOT, folder, file)),
  );
  const named = files.flatMap((file) => {
    const comments = readFileSync(file, 'utf8').match(/^.*\bsections? \d.*$/gim);
    const own = (comments ?? []).filter((line) => !line.includes('RFC'));
    return own.flatMap((line) => line.match(/(?<=[ (])\d(\.\d)?(?![\d.]*\d)(?=[ ,;:.)])/g) ?? []);
  });
  expect(named.length).toBeGreaterThan(30);
  expect(named.filter((number) => !sections.has(number))).toEqual([]);
});
