// Runs the end-to-end tests on each supported line of Node, and prints one line of result per Node.
// Usage: node tools/matrix.mjs [line...]   (default: 20 22 24 26)   Fetches the Nodes from the npm registry.

import { spawnSync } from 'node:child_process';
import { delimiter, dirname, join } from 'node:path';
import { fetchNode } from './fetch-package.mjs';
import { ROOT } from './release.mjs';

const VITEST = join(ROOT, 'node_modules/vitest/vitest.mjs');
const lines = process.argv.length > 2 ? process.argv.slice(2) : ['20', '22', '24', '26'];

for (const line of lines) if (!passesOn(fetchNode(line))) process.exitCode = 1;

/** Runs vitest on that Node, and also what a test starts by process.execPath or as `node`. */
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
