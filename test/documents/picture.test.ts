// docs/terminal.svg is up to date, well-formed and harmless.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { parseXml } from '../../src/xml.ts';
import { ROOT } from '../support/documents.ts';
import { temporaryDirectory } from '../support/io.ts';
import { NO_SCRIPT } from '../support/pseudo-terminal.ts';

const PICTURE = readFileSync(path.join(ROOT, 'docs/terminal.svg'), 'utf8');

it.skipIf(NO_SCRIPT)(`docs/terminal.svg is up to date (npm run picture)${NO_SCRIPT}`, () => {
  const file = path.join(temporaryDirectory(), 'terminal.svg');
  execFileSync(process.execPath, [path.join(ROOT, 'tools/picture.mjs'), file]);
  expect(readFileSync(file, 'utf8')).toBe(PICTURE);
});

it('docs/terminal.svg is well-formed, has a title and a description and loads nothing', () => {
  const limits = { bytes: 1e6, nodes: 1e5, depth: 50 };
  const { name, children } = parseXml(Buffer.from(PICTURE), limits);
  expect([name, ...children.slice(0, 2).map((child) => child.name)]).toEqual([
    'svg',
    'title',
    'desc',
  ]);
  expect(PICTURE).not.toMatch(/href|src=|\bon\w+=|@import|url\(|<script/);
});
