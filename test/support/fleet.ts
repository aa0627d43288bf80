// Many processes of the built program, each with a home of its own, against a service that allows 5 token requests.

import { expect } from 'vitest';
import type { EmulatorOptions } from '../../src/emulator/options.ts';
import { account, type CliProcess, type Environment, LIST, startCli } from './cli.ts';
import { serve } from './emulator.ts';
import type { CliResult } from './io.ts';

export const IMAGES = 20;

/** A service that counts its token requests. */
export async function fleetService(options: Partial<EmulatorOptions> = {}) {
  let requests = 0;
  const service = await serve({
    images: IMAGES,
    tokenLimit: 5,
    users: ['demo', 'alice'].map((name) => ({ name, password: name })),
    onRequest: ({ method }) => {
      if (method === 'POST') requests += 1;
    },
    ...options,
  });
  return { ...service, tokenRequests: () => requests };
}

/** Starts `count` machines that list all images. */
export function startMachines(
  count: number,
  baseUrl: string,
  env: Environment,
  name = 'demo',
): CliProcess[] {
  return Array.from({ length: count }, () =>
    startCli(LIST, { env: { ...account(baseUrl, name), ...env } }),
  );
}

/** The same, with at most `limit` of them at a time: they share the processors of one machine. */
export async function runMachines(
  count: number,
  limit: number,
  baseUrl: string,
  env: Environment,
): Promise<CliResult[]> {
  const results: CliResult[] = [];
  const next = async (): Promise<void> => {
    for (let left = count / limit; left > 0; left -= 1) {
      results.push(...(await endOf(startMachines(1, baseUrl, env))));
    }
  };
  await Promise.all(Array.from({ length: limit }, next));
  return results;
}

export function endOf(machines: readonly CliProcess[]): Promise<CliResult[]> {
  return Promise.all(machines.map(({ ended }) => ended));
}

/** Expects that each printed the complete list and nothing else. */
export function expectComplete(results: readonly CliResult[]): void {
  for (const { stdout, stderr, exitCode } of results) {
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(JSON.parse(stdout)).toHaveLength(IMAGES);
  }
}

/** Expects a complete list, or one clear line about the limit; and perhaps one warning. */
export function expectCompleteOrLimited(results: readonly CliResult[], warning: RegExp): void {
  for (const { stdout, stderr, exitCode } of results) {
    const lines = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('hint: '));
    const rest = lines.filter((line) => !warning.test(line));
    expect(lines.length - rest.length).toBeLessThanOrEqual(1);
    if (exitCode === 0) {
      expect(rest).toEqual([]);
      expect(JSON.parse(stdout)).toHaveLength(IMAGES);
    } else {
      const line = expect.stringMatching(/too many requests|token request limit reached/);
      expect({ exitCode, rest, stdout }).toEqual({ exitCode: 6, rest: [line], stdout: '' });
    }
  }
}
