// Runs inspect and validate on thousands of damaged packages.
//
// FUZZ_PACKAGES (2000) or FUZZ_SECONDS limit it, FUZZ_SEED (1) selects the trials, FUZZ_PACKAGE runs one trial.

import { expect, it } from 'vitest';
import { runPackageTrial } from './package-trial.ts';
import { smallest } from './trial.ts';

const MAX_FAULTS = 10;
/** Kinds of findings that any run of this many trials meets. */
const MIN_CODES = 35;

const { FUZZ_PACKAGES = '2000', FUZZ_SECONDS, FUZZ_SEED = '1', FUZZ_PACKAGE } = process.env;

it('inspect and validate end as specified, whatever the package holds', async () => {
  const deadline = FUZZ_SECONDS === undefined ? undefined : Date.now() + Number(FUZZ_SECONDS) * 1e3;
  const isLeft = (trials: number) =>
    deadline === undefined ? trials < Number(FUZZ_PACKAGES) : Date.now() < deadline;
  const found = new Map<string, string>();
  const exitCodes = new Set<number>();
  const codes = new Set<string>();
  let trials = 0;
  while (isLeft(trials) && found.size < MAX_FAULTS) {
    trials += 1;
    const seed = FUZZ_PACKAGE ?? `${FUZZ_SEED}/${trials}`;
    const trial = await runPackageTrial(seed);
    exitCodes.add(trial.exitCode);
    for (const code of trial.codes) codes.add(code);
    for (const fault of trial.faults) {
      if (!found.has(fault))
        found.set(fault, (await smallest(runPackageTrial, seed, fault)).report);
    }
    if (FUZZ_PACKAGE !== undefined) break;
  }
  process.stdout.write(`fuzz: ${trials} damaged packages, ${codes.size} kinds of findings\n`);
  expect(trials).toBeGreaterThan(0);
  expect([...found].map(([fault, report]) => `\n${fault}\n${report}\n`).join('')).toBe('');
  // With fewer the mutations would be too weak.
  if (trials >= 2_000) {
    expect([...exitCodes].sort()).toEqual([0, 1]);
    expect(codes.size).toBeGreaterThan(MIN_CODES);
  }
});
