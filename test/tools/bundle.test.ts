// What the bundle replaces in libraries, which a new version of a library may silently undo.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { expect, it } from 'vitest';

/** For each alias: a module that imports it, and how. */
const IMPORTS: Readonly<Record<string, readonly [string, string]>> = {
  './client-h2.js': ['undici/lib/dispatcher/client.js', "require('./client-h2.js')"],
  '../web/fetch/body.js': ['undici/lib/dispatcher/client-h1.js', "require('../web/fetch/body.js')"],
  'when-exit': ['atomically/dist/utils/temp.js', "import whenExit from 'when-exit'"],
};

const ROOT = path.resolve(import.meta.dirname, '../..');

it('the bundle has aliases only for HTTP/2, the body of fetch and when-exit', async () => {
  const { default: config } = (await import(path.join(ROOT, 'rolldown.config.mjs'))) as {
    default: { resolve: { alias: object } };
  };
  expect(Object.keys(config.resolve.alias).sort()).toEqual(Object.keys(IMPORTS).sort());
});

it.each(Object.entries(IMPORTS))(
  'the alias %s names a module that its library imports',
  (_, [file, statement]) => {
    expect(readFileSync(path.join(ROOT, 'node_modules', file), 'utf8')).toContain(statement);
  },
);

it('undici has its Pool at the path that the bundle imports', () => {
  const require = createRequire(import.meta.url);
  expect(require('undici/lib/dispatcher/pool.js')).toBe(require('undici').Pool);
});
