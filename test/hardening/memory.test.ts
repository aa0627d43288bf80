// The memory of a long listing in ndjson.

import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { freshHome, runBuilt, startEmulatorProcess } from '../support/cli.ts';
import { report } from './home.ts';

const TELL_USAGE = path.join(import.meta.dirname, '../../bench/tell-usage.cjs');
const RUNS = 3;
/** 35 MB, in MiB. */
const MAX_GROWTH = 35e6 / 2 ** 20;

/** Returns the median of the peaks of several runs, in MiB. */
async function peakOf(images: number): Promise<number> {
  const emulator = await startEmulatorProcess('--images', String(images));
  const account = { ...freshHome(), IMGCTL_BASE_URL: emulator.baseUrl };
  const login = { ...account, IMGCTL_USERNAME: 'demo', IMGCTL_PASSWORD: 'demo' };
  const IMGCTL_TOKEN = (await runBuilt(['token'], { env: login })).stdout.trim();
  const env = { ...account, IMGCTL_TOKEN, NODE_OPTIONS: `--require="${TELL_USAGE}"` };
  const peaks: number[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    const { stdout, stderr, exitCode } = await runBuilt(['images', 'list', '-o', 'ndjson'], {
      env,
    });
    expect(exitCode).toBe(0);
    expect(stdout.split('\n')).toHaveLength(images + 1);
    peaks.push(JSON.parse(stderr).peak);
  }
  await emulator.stop();
  return peaks.sort((a, b) => a - b)[(RUNS - 1) / 2] ?? Number.NaN;
}

it.skipIf(!existsSync('/proc/self/status'))(
  'images list -o ndjson takes at most 35 MB more for 100 times the images (skipped without /proc)',
  async () => {
    const small = await peakOf(1_000);
    const large = await peakOf(100_000);
    report(`peak memory: ${small.toFixed(1)} MiB, of 100 times the images ${large.toFixed(1)} MiB`);
    expect(large - small).toBeLessThan(MAX_GROWTH);
  },
);
