// Waits take as long as they should while the clock of the machine is set, as NTP does after a virtual machine boots.

import fs from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { CLOCK_CHANGES, fakeIo, runCli } from '../support/io.ts';
import type { Handler, Script } from '../support/scripted-server.ts';
import { scriptedUser } from '../support/users.ts';
import { REQUEST, record, START, SUBMIT, SUBMITTED } from './packages/sync-harness.ts';

/** Runs a line, and sets the clock once before one of its sleeps. @returns all that it does and shows */
async function runAt(script: Handler | Script, line: string, change: number, moment: number) {
  const { env, server } = await scriptedUser(script);
  const io = fakeIo({ time: START, env });
  // Another imgctl that does not end.
  const holder = path.join(
    env.IMGCTL_CONFIG_DIR,
    'config.json.lock',
    '00000000-0000-4000-8000-00000000000a',
  );
  fs.mkdirSync(path.dirname(holder));
  const sleep = io.sleep;
  io.sleep = async (milliseconds, signal) => {
    if (io.sleeps.length === moment) io.setClock(change);
    fs.writeFileSync(holder, '');
    fs.utimesSync(holder, 0, io.sleeps.length);
    return sleep(milliseconds, signal);
  };
  const { stderr, ...result } = await runCli(line.split(' '), io);
  const shown = stderr
    .replaceAll(new URL(server.baseUrl).host, 'AT')
    .replaceAll(env.IMGCTL_CONFIG_DIR, '.');
  const waited = io.elapsed() - START;
  return { ...result, stderr: shown, waited, requests: server.requests.length };
}

const PENDING = record({ status: 'PENDING' });
const DONE = record({ status: 'PROCESSED' });
const sync = (...checks: Script[string][]) =>
  ({ [SUBMIT]: SUBMITTED, [REQUEST]: checks.flat() }) as Script;

const LATER = { status: 503, headers: { 'retry-after': '20' } };

it.each<[string, Handler | Script, string, number, number]>([
  ['sync --wait', sync(...Array(12).fill(PENDING), DONE), 'sync --wait', 0, 131_375],
  ['sync --wait, to its limit', sync(PENDING), 'sync --wait --wait-timeout 5m', 7, 300_000],
  ['sync --wait, without a request', sync({ status: 404 }), 'sync --wait', 5, 71_375],
  [
    'sync --wait, told to wait',
    sync(LATER, LATER, PENDING),
    'sync --wait --wait-timeout 5m',
    7,
    300_000,
  ],
  ['a limit of requests', () => ({ status: 429 }), 'images list', 6, 60_000],
  ['the lock of another imgctl', {}, 'config set output json', 1, 20_000],
])(
  '%s takes as long as ever if the clock is set meanwhile',
  async (_what, script, line, exitCode, waited) => {
    const usual = await runAt(script, line, 0, 0);
    expect(usual).toMatchObject({ exitCode });
    expect(Math.round(usual.waited / 1_000)).toBe(Math.round(waited / 1_000));
    for (const [index, change] of CLOCK_CHANGES.entries()) {
      // Each of these moments, with the clock set back and set forward.
      const moment = [0, 1, 4][index >> 1] ?? 0;
      expect(await runAt(script, line, change, moment), `by ${change} ms`).toEqual(usual);
    }
  },
);
