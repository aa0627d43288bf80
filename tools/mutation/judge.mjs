// Counts the killed mutants per area, and fails if an area is below 90 %.

import { readFileSync } from 'node:fs';
import { AREAS } from './areas.mjs';

const MIN_SHARE = 90;

const { files } = JSON.parse(readFileSync('reports/mutation.json', 'utf8'));

for (const [area, names] of Object.entries(AREAS)) {
  const mutants = names.flatMap((name) => files[name].mutants);
  // A mutant that never ends counts as killed.
  const killed = mutants.filter(({ status }) => ['Killed', 'Timeout'].includes(status));
  const share = (100 * killed.length) / mutants.length;
  process.stdout.write(`${area}: ${killed.length} of ${mutants.length}, ${share.toFixed(1)} %\n`);
  if (!(share >= MIN_SHARE)) process.exitCode = 1;
}
