// The time and memory of the built program for small responses that unfold into millions of values.

import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { report } from '../hardening/home.ts';
import { bombs, envelopeOf } from '../support/bombs.ts';
import { scriptedService, startCli } from '../support/cli.ts';
import type { ScriptedResponse } from '../support/scripted-server.ts';
import { canMeasure, expectCheapFailure } from './measured.ts';

const COUNT = 22_000_000;
const MAX_SECONDS_TO_END = 1;

const KINDS = ['objects', 'arrays', 'numbers', 'nested', 'pages of 60 MB'];
const COMMANDS = ['images list --json', 'images list -o ndjson', 'my-images -o yaml', 'login'];
/** Milliseconds after the request; most runs end within 300. */
const MOMENTS = [0, 20, 40, 60, 80, 100, 150, 200, 250, 300];

const responses = new Map<string, ScriptedResponse>();

beforeAll(() => {
  const headers = { 'content-encoding': 'gzip' };
  for (const [kind, body] of Object.entries(bombs(COUNT))) {
    expect(body.length).toBeLessThan(66_000);
    responses.set(kind, { body, headers });
  }
  const name = 'x'.repeat(60e6);
  responses.set('pages of 60 MB', {
    body: Buffer.from(envelopeOf(`{"id":1,"name":"${name}"}`, 1)),
  });
});

/** Returns the environment of a user whose service sends one of the responses. */
async function environment(kind: string, command: string, onRequest = () => {}) {
  const { env, user } = await scriptedService(() => {
    onRequest();
    return responses.get(kind) ?? {};
  });
  return command === 'login' ? user : env;
}

describe.each(KINDS)('a response of %s', (kind) => {
  it.skipIf(!canMeasure).each(COMMANDS)(
    'ends %s in time, with little memory and one line (skipped without /proc)',
    async (command) => {
      const env = await environment(kind, command);
      const name = `${kind}, ${command}`;
      const { stdout, messages } = await expectCheapFailure(name, command.split(' '), env);
      expect(stdout).toBe('');
      expect(messages).toEqual([
        expect.stringMatching(/returned 200 with more than (4 MiB of JSON|100000 JSON values)/),
      ]);
    },
  );

  it('ends within a second after SIGINT at any moment', async () => {
    const times: number[] = [];
    for (const moment of MOMENTS) {
      const service = new EventEmitter();
      const env = await environment(kind, 'images list', () => service.emit('request'));
      const requested = once(service, 'request');
      const { child, ended } = startCli(['images', 'list', '--json'], { env });
      await requested;
      await Promise.race([sleep(moment), ended]);
      const start = performance.now();
      child.kill('SIGINT');
      const { exitCode, stdout } = await ended;
      expect(stdout).toBe('');
      // It may have ended before the signal. If it cannot end by itself, it kills itself with the signal.
      expect([1, 130, 'SIGINT']).toContain(child.signalCode ?? exitCode);
      if (exitCode !== 1) times.push((performance.now() - start) / 1_000);
    }
    const slowest = Math.max(...times);
    report(`${kind}: ${times.length} times interrupted, ${slowest.toFixed(2)} s at most`);
    expect(slowest).toBeLessThan(MAX_SECONDS_TO_END);
  });
});
