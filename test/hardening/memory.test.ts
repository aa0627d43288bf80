// The memory of a long listing, and of a long session with the MCP server.

import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { account, runBuilt, startEmulatorProcess } from '../support/cli.ts';
import { connect } from '../support/mcp-client.ts';

const TELL_USAGE = path.join(import.meta.dirname, '../../bench/tell-usage.cjs');
const RUNS = 3;
/** In MiB, as the memory of processes. */
const MAX_LIST_GROWTH = 35e6 / 2 ** 20;
const MAX_MCP_GROWTH = 20e6 / 2 ** 20;

const CALLS = 1_000;
/** Until then V8 compiles the code and grows its heap to the size that it needs. */
const WARM_UP = 300;
/** Of the last calls of a measurement. */
const SAMPLES = 100;

async function userOf(images: number) {
  const emulator = await startEmulatorProcess('--images', String(images));
  onTestFinished(async () => {
    await emulator.stop();
  });
  return account(emulator.baseUrl);
}

/** Returns the median of the peaks of several listings. */
async function peakOf(images: number): Promise<number> {
  const user = await userOf(images);
  const IMGCTL_TOKEN = (await runBuilt(['token'], { env: user })).stdout.trim();
  const env = { ...user, IMGCTL_TOKEN, NODE_OPTIONS: `--require="${TELL_USAGE}"` };
  const peaks: number[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    const listed = await runBuilt(['images', 'list', '-o', 'ndjson'], { env });
    expect(listed.exitCode).toBe(0);
    expect(listed.stdout.split('\n')).toHaveLength(images + 1);
    peaks.push(JSON.parse(listed.stderr).peak);
  }
  return peaks.sort((a, b) => a - b)[(RUNS - 1) / 2] ?? Number.NaN;
}

function residentOf(pid: number | null): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

describe.skipIf(!existsSync('/proc/self/status'))('memory (skipped without /proc)', () => {
  it('of images list -o ndjson grows by at most 35 MB with 100 times the images', async () => {
    const small = await peakOf(1_000);
    expect((await peakOf(100_000)) - small).toBeLessThan(MAX_LIST_GROWTH);
  });

  it('of the MCP server grows by less than 20 MB in 1,000 calls', async () => {
    const { call, pid } = await connect(await userOf(500));
    const measure = async (calls: number) => {
      const sizes: number[] = [];
      for (let count = 0; count < calls; count += 1) {
        const [text, limit] = [count % 2 === 0 ? ['ubuntu'] : [], 1 + (count % 40)];
        expect(await call('images_list', { text, limit })).toMatchObject({ isError: false });
        sizes.push(residentOf(pid));
      }
      // Garbage that V8 has yet to collect comes and goes.
      return Math.min(...sizes.slice(-SAMPLES));
    };
    const before = await measure(WARM_UP);
    expect((await measure(CALLS)) - before).toBeLessThan(MAX_MCP_GROWTH);
  });
});
