// The memory of a long listing.

import { expect } from 'vitest';
import { runProgram, startEmulatorProgram, TELL_USAGE } from '../support/program.ts';
import { onLinux } from '../support/requirements.ts';
import { account } from '../support/users.ts';

const RUNS = 3;
/** In MiB, as the memory of processes. */
const MAX_GROWTH = 35e6 / 2 ** 20;

/** Returns the median of the peaks of several listings. */
async function peakOf(images: number): Promise<number> {
  const emulator = await startEmulatorProgram('--images', String(images));
  const user = account(emulator.baseUrl);
  const IMGCTL_TOKEN = (await runProgram(['token'], { env: user })).stdout.trim();
  const env = { ...user, IMGCTL_TOKEN, ...TELL_USAGE };
  const peaks: number[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    const listed = await runProgram(['images', 'list', '-o', 'ndjson'], { env });
    expect(listed.exitCode).toBe(0);
    expect(listed.stdout.split('\n')).toHaveLength(images + 1);
    peaks.push(JSON.parse(listed.stderr).peak);
  }
  await emulator.stop();
  return peaks.sort((a, b) => a - b)[(RUNS - 1) / 2] ?? Number.NaN;
}

onLinux('a list of 100 times the images needs at most 35 MB more (only on Linux)', async () => {
  const small = await peakOf(1_000);
  expect((await peakOf(100_000)) - small).toBeLessThan(MAX_GROWTH);
});
