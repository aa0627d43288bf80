// What the bundle replaces in libraries, which a new version of a library may silently undo.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { type RolldownOptions, rolldown } from 'rolldown';
import { expect, it } from 'vitest';
import { ROOT } from '../support/documents.ts';

const PLACE = 'undici/lib/dispatcher';

it.each([
  ['./client-h2.js', `${PLACE}/client.js`, "require('./client-h2.js')"],
  ['../web/fetch/body.js', `${PLACE}/client-h1.js`, "require('../web/fetch/body.js')"],
  ['when-exit', 'atomically/dist/utils/temp.js', "import whenExit from 'when-exit'"],
])('the alias %s names a module that its library imports', (alias, file, statement) => {
  expect(readFileSync(path.join(ROOT, 'rolldown.config.mjs'), 'utf8')).toContain(`'${alias}':`);
  expect(readFileSync(path.join(ROOT, 'node_modules', file), 'utf8')).toContain(statement);
});

it('the library is one file with nothing of the commands, and only two packages', async () => {
  const config = pathToFileURL(path.join(ROOT, 'rolldown.config.mjs')).href;
  const { library }: { library: RolldownOptions } = await import(config);
  const bundle = await rolldown({ ...library, cwd: ROOT });
  const { output } = await bundle.generate({ format: 'cjs', codeSplitting: false });
  const [chunk, ...others] = output;
  expect(others).toEqual([]);
  const used = Object.entries(chunk.modules).filter(([, { renderedLength }]) => renderedLength > 0);
  const names = used.map(([id]) => path.relative(ROOT, id).replaceAll('\\', '/'));
  const partOf = (name: string, folder: string) =>
    name.startsWith(`${folder}/`) ? [name.split('/')[1] ?? ''] : [];
  const packages = new Set(names.flatMap((name) => partOf(name, 'node_modules')));
  expect([...packages].sort()).toEqual(['lossless-json', 'undici']);
  const parts = names.flatMap((name) => partOf(name, 'src'));
  const ofProgram = ['main.ts', 'context.ts', 'console.ts', 'cli', 'commands', 'secrets', 'upload'];
  expect(parts.filter((part) => ofProgram.includes(part))).toEqual([]);
  expect(chunk.code).not.toMatch(/\brequire\(/);
});

it('undici has its Pool at the path that the bundle imports', () => {
  const require = createRequire(import.meta.url);
  expect(require(`${PLACE}/pool.js`)).toBe(require('undici').Pool);
});
