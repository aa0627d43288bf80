// Runs Stryker on each area, and fails if tests notice too few changes.
// Usage: npm run test:mutation -- [AREA or FILE...]   (default: every area; a FILE is changed instead of its whole area)

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { AREAS } from './areas.mjs';

const STRYKER = 'tools/mutation/node_modules/@stryker-mutator/core/bin/stryker.js';
const CONFIG = 'tools/mutation/stryker.config.mjs';

const chosen = process.argv.slice(2);
const areas = Object.entries(AREAS).map(([name, area]) => {
  const isWhole = chosen.length === 0 || chosen.includes(name);
  const files = area.files.filter((file) => isWhole || chosen.includes(file));
  return { ...area, name, files };
});

for (const { name, files, tests, minShare } of areas.filter((area) => area.files.length > 0)) {
  const env = { ...process.env, MUTATION_TESTS: tests.join(',') };
  const argv = [STRYKER, 'run', CONFIG, '--mutate', files.join(',')];
  const { status } = spawnSync(process.execPath, argv, { env, stdio: 'inherit' });
  if (status !== 0) throw new Error(`Stryker failed on ${name}`);
  judge(name, minShare);
}

function judge(name, minShare) {
  const { files } = JSON.parse(readFileSync('reports/mutation.json', 'utf8'));
  let allKilled = 0;
  let all = 0;
  for (const [file, { mutants }] of Object.entries(files)) {
    // A mutant that never ends counts as killed.
    const killed = mutants.filter(({ status }) => ['Killed', 'Timeout'].includes(status)).length;
    process.stdout.write(`${file}: ${killed} of ${mutants.length}\n`);
    allKilled += killed;
    all += mutants.length;
  }
  const share = (100 * allKilled) / all;
  process.stdout.write(`${name}: ${allKilled} of ${all}, ${share.toFixed(1)} %\n`);
  if (!(share >= minShare)) process.exitCode = 1;
}
