// Runs the built program and measures its time and peak memory.

import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { report } from '../hardening/home.ts';
import { type Environment, runBuilt } from '../support/cli.ts';

const TELL_USAGE = path.join(import.meta.dirname, '../../bench/tell-usage.cjs');
const MAX_SECONDS = 5;
/** In MiB. */
const MAX_MEMORY = 400;

/** The peak memory of a process is read there. */
export const canMeasure = existsSync('/proc/self/status');

/** Runs a command that has to fail with 1, in time and with little memory. Returns its messages without hints. */
export async function expectCheapFailure(
  name: string,
  argv: readonly string[],
  env: Environment,
): Promise<{ readonly stdout: string; readonly messages: readonly string[] }> {
  const start = performance.now();
  const { stdout, stderr, exitCode } = await runBuilt(argv, {
    env: { ...env, NODE_OPTIONS: `--require="${TELL_USAGE}"` },
  });
  const seconds = (performance.now() - start) / 1_000;
  const lines = stderr.trim().split('\n').filter(Boolean);
  const { peak } = JSON.parse(lines.pop() ?? '{}');
  report(`${name}: ${seconds.toFixed(2)} s, ${peak.toFixed(0)} MiB`);
  expect(exitCode).toBe(1);
  expect(seconds).toBeLessThan(MAX_SECONDS);
  expect(peak).toBeLessThan(MAX_MEMORY);
  return { stdout, messages: lines.filter((line) => !line.startsWith('hint: ')) };
}
