// Runs commands against thousands of hostile responses.
//
// FUZZ_RESPONSES (20000) or FUZZ_SECONDS limit it, FUZZ_SEED (1) selects the trials, FUZZ_CASE runs one trial.

import { expect, it } from 'vitest';
import { createTrials, smallest } from './trial.ts';

const MAX_FAULTS = 10;

const { FUZZ_RESPONSES = '20000', FUZZ_SECONDS, FUZZ_SEED = '1', FUZZ_CASE } = process.env;

it('commands end as specified, whatever the service sends', async () => {
  const run = await createTrials();
  const deadline = FUZZ_SECONDS === undefined ? undefined : Date.now() + Number(FUZZ_SECONDS) * 1e3;
  const isLeft = (responses: number) =>
    deadline === undefined ? responses < Number(FUZZ_RESPONSES) : Date.now() < deadline;
  const found = new Map<string, string>();
  const exitCodes = new Set<number>();
  let responses = 0;
  let trials = 0;
  while (isLeft(responses) && found.size < MAX_FAULTS) {
    trials += 1;
    const seed = FUZZ_CASE ?? `${FUZZ_SEED}/${trials}`;
    const { faults, exitCode, mutatedResponses } = await run(seed);
    responses += mutatedResponses;
    exitCodes.add(exitCode);
    for (const fault of faults) {
      if (!found.has(fault)) found.set(fault, (await smallest(run, seed, fault)).report);
    }
    if (FUZZ_CASE !== undefined) break;
  }
  process.stdout.write(`fuzz: ${responses} mutated responses in ${trials} trials\n`);
  expect(trials).toBeGreaterThan(0);
  expect([...found].map(([fault, report]) => `\n${fault}\n${report}\n`).join('')).toBe('');
  // With fewer exit codes the mutations would be too weak.
  if (responses >= 5_000) expect([...exitCodes].sort()).toEqual([0, 1, 3, 4, 5, 6, 7]);
});
