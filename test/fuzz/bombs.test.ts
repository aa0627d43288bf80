// The time and memory of the built program for small responses that hold more than any program should.

import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { tryOr } from '../../src/errors.ts';
import { cpuSeconds } from '../support/cpu.ts';
import { programUser, runProgram, startProgram, TELL_USAGE } from '../support/program.ts';
import { onLinux } from '../support/requirements.ts';
import type { ScriptedResponse } from '../support/scripted-server.ts';
import { pushToScript } from '../support/uploads.ts';
import { account, type Environment } from '../support/users.ts';
import { bombs, envelopeOf } from './hostile-response.ts';

/** Runs a command that has to fail with 1 and one line, within 5 s of CPU time and 400 MiB. */
async function expectCheapFailure(argv: readonly string[], env: Environment, message: RegExp) {
  const limited = { ...env, ...TELL_USAGE };
  const { stdout, stderr, exitCode } = await runProgram(argv, { env: limited });
  const lines = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('hint: '));
  const { cpu, peak } = JSON.parse(lines.pop() ?? '');
  expect(cpu).toBeLessThan(5);
  expect(peak).toBeLessThan(400);
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
  expect(lines).toEqual([expect.stringMatching(message)]);
}

/** Returns the seconds of CPU time that a process has used; undefined if it has ended, or without /proc. */
function cpuOf(id: number | undefined): number | undefined {
  const stat = tryOr(() => readFileSync(`/proc/${id}/stat`, 'utf8'), '');
  const [user, system] = stat.split(') ')[1]?.split(' ').slice(11, 13).map(Number) ?? [];
  return user === undefined || system === undefined ? undefined : (user + system) / 100;
}

/**
 * Interrupts a command at each moment, in milliseconds after it is ready. It may have ended before the signal. How much
 * it still computes counts: other work on the machine changes how long that takes.
 */
async function expectQuickEnd(moments: readonly number[], start: () => Promise<Started>) {
  for (const moment of moments) {
    const { child, ended } = await start();
    await Promise.race([sleep(moment), ended]);
    const before = cpuOf(child.pid) ?? 0;
    let cpu = before;
    child.kill('SIGINT');
    const timer = setInterval(() => {
      cpu = cpuOf(child.pid) ?? cpu;
    }, 5);
    const { exitCode } = await ended;
    clearInterval(timer);
    // If it cannot end by itself, it kills itself with the signal.
    expect([1, 130, 'SIGINT']).toContain(child.signalCode ?? exitCode);
    expect(cpu - before, `after ${moment} ms`).toBeLessThan(1);
  }
}

type Started = ReturnType<typeof startProgram>;

const headers = { 'content-encoding': 'gzip' };
const page = Buffer.from(envelopeOf(`{"id":1,"name":"${'x'.repeat(60e6)}"}`, 1));
const RESPONSES: readonly (readonly [kind: string, response: ScriptedResponse])[] = [
  ...Object.entries(bombs(22_000_000)).map(([kind, body]) => [kind, { body, headers }] as const),
  ['pages of 60 MB', { body: page }],
];

describe.each(RESPONSES)('a response of %s', (kind, response) => {
  const commands = ['images list --json', 'images list -o ndjson', 'my-images -o yaml', 'login'];
  onLinux.each(commands)('ends %s in time and with little memory (only on Linux)', async (line) => {
    const { env } = await programUser(() => response);
    const problem = kind === 'nested' ? 'JSON nested deeper than 50' : 'more than 4 MiB of JSON';
    const message = new RegExp(`returned 200 with ${problem}`);
    await expectCheapFailure(
      line.split(' '),
      line === 'login' ? account(env.IMGCTL_BASE_URL) : env,
      message,
    );
  });

  it('computes for less than a second after SIGINT at any moment', async () => {
    await expectQuickEnd([0, 40, 100, 250], async () => {
      const service = new EventEmitter();
      const requested = once(service, 'request');
      const { env } = await programUser(() => {
        service.emit('request');
        return response;
      });
      const started = startProgram(['images', 'list', '--json'], { env });
      await requested;
      return started;
    });
  });
});

it('a WebDAV storage that sends the most XML that is read ends a push within 5 s', async () => {
  const nested = `${'<response>'.repeat(45)}${'</response>'.repeat(45)}`.repeat(2_200);
  const folder = '<response><href>/bucket/</href><collection/></response>';
  const body = `<multistatus xmlns="DAV:">${folder}${nested}</multistatus>`;
  const { push } = await pushToScript('dav', ({ method }) =>
    method === 'PROPFIND' ? { status: 207, body } : { status: 500 },
  );
  const seconds = await cpuSeconds(async () => expect((await push()).exitCode).toBe(1));
  expect(seconds).toBeLessThan(5);
});
