// Thousands of answers that no service should give: every command ends as it must, whatever comes.
//
// FUZZ_ANSWERS (20000) or FUZZ_SECONDS bound it, FUZZ_SEED (1) chooses it, FUZZ_CASE runs a single trial.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Laboratory, openLaboratory, smallest } from './trial.ts';

/** Kinds of faults, before the rest is not looked for. */
const MOST_KINDS = 10;

const { FUZZ_ANSWERS = '20000', FUZZ_SECONDS, FUZZ_SEED = '1', FUZZ_CASE } = process.env;

let laboratory: Laboratory;
beforeAll(async () => {
  laboratory = await openLaboratory();
});
afterAll(() => laboratory.close());

it('ends as it must, whatever the service answers', async () => {
  const deadline = FUZZ_SECONDS === undefined ? undefined : Date.now() + Number(FUZZ_SECONDS) * 1e3;
  const goesOn = (answers: number) =>
    deadline === undefined ? answers < Number(FUZZ_ANSWERS) : Date.now() < deadline;
  const found = new Map<string, string>();
  const exitCodes = new Set<number>();
  let answers = 0;
  let trials = 0;
  while (goesOn(answers) && found.size < MOST_KINDS) {
    trials += 1;
    const seed = FUZZ_CASE ?? `${FUZZ_SEED}/${trials}`;
    const { faults, exitCode, mutatedAnswers } = await laboratory.run(seed);
    answers += mutatedAnswers;
    exitCodes.add(exitCode);
    for (const fault of faults) {
      if (!found.has(fault)) found.set(fault, (await smallest(laboratory, seed, fault)).report);
    }
    if (FUZZ_CASE !== undefined) break;
  }
  process.stdout.write(`fuzz: ${answers} mutated answers in ${trials} trials\n`);
  expect(trials).toBeGreaterThan(0);
  expect([...found].map(([fault, report]) => `\n${fault}\n${report}\n`).join('')).toBe('');
  // Every way to end was gone, or the answers were not much of a test.
  if (answers >= 5_000) expect([...exitCodes].sort()).toEqual([0, 1, 3, 4, 5, 6, 7]);
});
