// Counts the mutants that were killed, area by area, and fails where that is less than 90 %.

import { readFileSync } from 'node:fs';
import { AREAS } from './areas.mjs';

const LEAST = 90;

const { files } = JSON.parse(readFileSync('reports/mutation.json', 'utf8'));

for (const [area, names] of Object.entries(AREAS)) {
  const mutants = names.flatMap((name) => files[name].mutants);
  // A mutant that never ends is as good as killed.
  const killed = mutants.filter(({ status }) => ['Killed', 'Timeout'].includes(status));
  const share = (100 * killed.length) / mutants.length;
  process.stdout.write(`${area}: ${killed.length} of ${mutants.length}, ${share.toFixed(1)} %\n`);
  if (!(share >= LEAST)) process.exitCode = 1;
}
