// Runs the end-to-end tests on each supported version of Node, and prints one line per version.
// Usage: node tools/matrix.mjs [version...]   (default: 20 22 24 26)   Fetches each Node from the npm registry.

import { spawnSync } from 'node:child_process';
import { delimiter, dirname, join } from 'node:path';
import { fetchNode } from './fetch-package.mjs';
import { ROOT } from './release.mjs';

const VITEST = join(ROOT, 'node_modules/vitest/vitest.mjs');
const lines = process.argv.length > 2 ? process.argv.slice(2) : ['20', '22', '24', '26'];

for (const line of lines) if (!passesOn(fetchNode(line))) process.exitCode = 1;

/** Runs vitest and everything that tests start with this Node; returns true if all tests pass. */
function passesOn(node) {
  const start = performance.now();
  const PATH = `${dirname(node)}${delimiter}${process.env.PATH}`;
  const { status, stdout, stderr } = spawnSync(node, [VITEST, 'run', '--project', 'e2e'], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...process.env, PATH },
  });
  if (status !== 0) process.stderr.write(`${stdout}${stderr}`);
  const version = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim();
  const tally = /^tests: (.*)$/m.exec(stdout)?.[1] ?? 'no result';
  const seconds = Math.round((performance.now() - start) / 1000);
  process.stdout.write(`Node ${version}: ${tally} (${seconds} s)\n`);
  return status === 0;
}
