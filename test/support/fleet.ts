// Many machines of one account, each with a home of its own, against a service that allows few token requests.

import { expect } from 'vitest';
import type { EmulatorOptions } from '../../src/emulator/service-options.ts';
import { account, type CliProcess, type Environment, LIST, startCli, type User } from './cli.ts';
import { serve } from './emulator.ts';
import type { CliResult } from './io.ts';

export const IMAGES = 20;
/** Token requests that the service allows. */
export const ALLOWED = 5;

export interface Counts {
  tokenRequests: number;
  lists: number;
}

/** A service that counts its requests; `onCount` is called after each. */
export async function fleetService(
  options: Partial<EmulatorOptions> = {},
  onCount: (counts: Counts) => void = () => {},
) {
  const counts: Counts = { tokenRequests: 0, lists: 0 };
  const service = await serve({
    images: IMAGES,
    tokenLimit: ALLOWED,
    users: ['demo', 'alice'].map((name) => ({ name, password: name })),
    onRequest: ({ method }) => {
      counts[method === 'POST' ? 'tokenRequests' : 'lists'] += 1;
      onCount(counts);
    },
    ...options,
  });
  return { ...service, tokenRequests: () => counts.tokenRequests };
}

/** Returns the environments of `count` new machines. */
export function machinesOf(
  count: number,
  baseUrl: string,
  env: Environment,
  name = 'demo',
): (User & Environment)[] {
  return Array.from({ length: count }, () => ({ ...account(baseUrl, name), ...env }));
}

/** Lists all images on all machines at once: each waits until the last one is started. */
export function listOn(machines: readonly Environment[]): CliProcess[] {
  const barrier = { prelude: 'read -r _', stdin: { open: true } } as const;
  const processes = machines.map((env) => startCli(LIST, { env, ...barrier }));
  for (const { child } of processes) child.stdin?.end('\n');
  return processes;
}

export function endOf(processes: readonly CliProcess[]): Promise<CliResult[]> {
  return Promise.all(processes.map(({ ended }) => ended));
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
