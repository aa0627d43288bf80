// How the built program compiles undici's parser on Node 20; goes with Node 20.

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { cataloguePage, testImages } from '../support/catalogue-page.ts';
import { COMMAND, runBuilt, scriptedService } from '../support/cli.ts';
import { temporaryDirectory } from '../support/io.ts';

/** Reports whether V8's flags differ from those at the start, which makes it refuse stored code. */
const HOOK = `
  const { Script } = require('node:vm');
  const cachedData = new Script('0').createCachedData();
  // V8 would find the same script in memory, and compares only the length of another one.
  let count = 0;
  const differ = () => new Script(String(++count), { cachedData }).cachedDataRejected;
  const seen = [];
  const { Module } = WebAssembly;
  WebAssembly.Module = function (bytes) { seen.push(differ()); return new Module(bytes); };
  process.on('exit', () => process.stderr.write(JSON.stringify([...seen, differ()])));
`;

// The single executable ignores NODE_OPTIONS.
it.skipIf(COMMAND.length === 1)(
  'undici’s parser is compiled once, on Node 20 with flags that are back to normal at the end',
  async () => {
    const hook = path.join(temporaryDirectory(), 'hook.cjs');
    writeFileSync(hook, HOOK);
    const { env } = await scriptedService(({ url }) => ({
      json: cataloguePage(url, testImages(250)),
    }));
    const hooked = { ...env, NODE_OPTIONS: `--require=${hook}` };
    const { stderr } = await runBuilt(['images', 'list', '-o', 'ndjson'], { env: hooked });
    const isNode20 = process.versions.node.startsWith('20.');
    expect(JSON.parse(stderr)).toEqual([isNode20, false]);
  },
);
