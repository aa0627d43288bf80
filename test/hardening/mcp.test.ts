// The memory of a long session with the MCP server.

import { existsSync, readFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { account, startEmulatorProcess } from '../support/cli.ts';
import { connect } from '../support/mcp-client.ts';
import { report } from './home.ts';

const CALLS = 1_000;
/** Until then V8 compiles the code and grows its heap to the size that it needs. */
const WARM_UP = 300;
/** Of the last calls of a measurement. */
const SAMPLES = 100;
/** 20 MB, in MiB. */
const MAX_GROWTH = 20e6 / 2 ** 20;

/** Returns the resident memory of a process in MiB. */
function residentOf(pid: number | null): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

it.skipIf(!existsSync('/proc/self/status'))(
  'the MCP server grows by less than 20 MB in 1,000 calls (skipped without /proc)',
  async () => {
    const emulator = await startEmulatorProcess('--images', '500');
    onTestFinished(async () => {
      await emulator.stop();
    });
    const { call, pid } = await connect(account(emulator.baseUrl));
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
    const after = await measure(CALLS);
    report(
      `memory of the MCP server: ${before.toFixed(1)} MiB, after 1,000 calls ${after.toFixed(1)} MiB`,
    );
    expect(after - before).toBeLessThan(MAX_GROWTH);
  },
);
