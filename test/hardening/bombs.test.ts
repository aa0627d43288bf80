// The time and memory of the built program for small responses that unfold into millions of values.

import { EventEmitter, once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { bombs, envelopeOf } from '../support/bombs.ts';
import { runBuilt, scriptedService, startCli } from '../support/cli.ts';
import type { ScriptedResponse } from '../support/scripted-server.ts';
import { report } from './home.ts';

const TELL_USAGE = path.join(import.meta.dirname, '../../bench/tell-usage.cjs');
const COUNT = 22_000_000;
const MAX_SECONDS = 5;
/** In MiB. */
const MAX_MEMORY = 400;
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
  return { ...(command === 'login' ? user : env), NODE_OPTIONS: `--require="${TELL_USAGE}"` };
}

describe.each(KINDS)('a response of %s', (kind) => {
  it.skipIf(!existsSync('/proc/self/status')).each(COMMANDS)(
    'ends %s in time, with little memory and one line (skipped without /proc)',
    async (command) => {
      const env = await environment(kind, command);
      const start = performance.now();
      const { stdout, stderr, exitCode } = await runBuilt(command.split(' '), { env });
      const seconds = (performance.now() - start) / 1_000;
      const lines = stderr.trim().split('\n').filter(Boolean);
      const { peak } = JSON.parse(lines.pop() ?? '{}');
      report(`${kind}, ${command}: ${seconds.toFixed(2)} s, ${peak.toFixed(0)} MiB`);
      expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 1 });
      expect(lines.filter((line) => !line.startsWith('hint: '))).toHaveLength(1);
      expect(lines[0]).toMatch(/returned 200 with more than (4 MiB of JSON|100000 JSON values)/);
      expect(seconds).toBeLessThan(MAX_SECONDS);
      expect(peak).toBeLessThan(MAX_MEMORY);
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
