// The unit tests on Node for Windows: a copy of the project with packages for Windows.

import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { NODE_VERSION, TARGETS } from '../executables/targets.mjs';
import { fetchNode } from '../fetch-package.mjs';
import { ROOT } from '../release.mjs';
import { run } from '../run.mjs';
import { start, WORK } from './wine.mjs';

const PROJECT = join(WORK, 'project');
const SECONDS = 1_800;

/** Returns how many tests passed and were skipped, and why. @throws Error with the failures */
export async function runUnitTests() {
  const { integrity } = TARGETS['win-x64'];
  copyFileSync(fetchNode(NODE_VERSION, { platform: 'win-x64', integrity }), join(WORK, 'node.exe'));
  copyProject();
  const vitest =
    'wine ../node.exe node_modules/vitest/vitest.mjs run --project unit --testTimeout=300000';
  const running = start(['sh', '-c', `cd project && exec ${vitest}`], {
    input: '',
    seconds: SECONDS,
  });
  const { code, stdout, stderr } = await running.ended;
  const tally = /^tests: (.*)$/m.exec(stdout)?.[1];
  if (code !== 0 || tally === undefined)
    throw new Error(`${tally ?? code}\n${failures(stdout + stderr)}`);
  const reasons = [...stdout.matchAll(/^skipped on Windows: (.*)$/gm)].map(([, reason]) => reason);
  return `${tally}: ${[...new Set(reasons)].sort().join(', ')}`;
}

/** Copies what git knows, and installs the packages of the lock file for Windows. */
function copyProject() {
  rmSync(PROJECT, { recursive: true, force: true });
  mkdirSync(PROJECT);
  const copy = 'git ls-files -z | tar -c --null -T - | tar -x -C "$0"';
  run('sh', ['-c', copy, PROJECT], { cwd: ROOT });
  const options = ['--os=win32', '--cpu=x64', '--ignore-scripts', '--no-audit', '--no-fund'];
  run('npm', ['ci', ...options], { cwd: PROJECT });
}

function failures(output) {
  return output
    .split('\n')
    .filter((line) => /FAIL|Error/.test(line))
    .join('\n');
}
