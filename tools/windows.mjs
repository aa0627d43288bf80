// Runs the Windows executable and the unit tests in Wine, and prints a table.
// Usage: node tools/windows.mjs [unit | NAME]   (default: everything; needs Linux on x64, root and mmdebstrap)
// The executable comes from `npm run executables -- win-x64`. IMGCTL_WINE names a folder with Wine to reuse.

import { copyFileSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { BUILD } from './release.mjs';
import { closeService, openService, SCENARIOS } from './windows/scenarios.mjs';
import { runUnitTests } from './windows/unit.mjs';
import { obstacle, prepare, stop, WORK } from './windows/wine.mjs';

const EXECUTABLE = join(BUILD, 'imgctl-win-x64/imgctl.exe');
const [only] = process.argv.slice(2);

const reason = obstacle();
if (reason !== undefined) {
  process.stderr.write(`Wine cannot run here: ${reason}\n`);
  process.exitCode = 1;
} else {
  prepare();
  for (const name of readdirSync(WORK).filter((entry) =>
    /^config\d|\.(?:out|err|in)$/.test(entry),
  )) {
    rmSync(join(WORK, name), { recursive: true });
  }
  try {
    if (only !== 'unit') await runScenarios();
    if (only === undefined || only === 'unit') await report('unit tests', runUnitTests);
  } finally {
    closeService();
    stop();
  }
}

async function runScenarios() {
  if (!existsSync(EXECUTABLE)) throw new Error(`${EXECUTABLE} is missing`);
  copyFileSync(EXECUTABLE, join(WORK, 'imgctl.exe'));
  await openService();
  for (const [name, check] of SCENARIOS) {
    if (only === undefined || only === name) await report(name, check);
  }
}

async function report(name, check) {
  const start = performance.now();
  let result;
  try {
    result = ['ok', await check()];
  } catch (error) {
    process.exitCode = 1;
    result = ['FAILED', error.message];
  }
  const seconds = ((performance.now() - start) / 1000).toFixed(0);
  const [verdict, detail] = result;
  process.stdout.write(
    `${name.padEnd(24)}${verdict.padEnd(8)}${seconds.padStart(4)} s  ${detail}\n`,
  );
}
