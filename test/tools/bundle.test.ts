// What the bundle replaces in libraries, which a new version of a library may silently undo.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
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

it('undici has its Pool at the path that the bundle imports', () => {
  const require = createRequire(import.meta.url);
  expect(require(`${PLACE}/pool.js`)).toBe(require('undici').Pool);
});
