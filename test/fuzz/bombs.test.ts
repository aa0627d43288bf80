// The time and memory of the built program for small responses and packages that hold more than any program should.

import { EventEmitter, once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { bombs, envelopeOf } from '../support/bombs.ts';
import {
  type Environment,
  freshHome,
  runBuilt,
  scriptedService,
  startCli,
} from '../support/cli.ts';
import { temporaryDirectory } from '../support/io.ts';
import { packTar, sampleMembers } from '../support/package-writer.ts';
import type { ScriptedResponse } from '../support/scripted-server.ts';

const TELL_USAGE = path.join(import.meta.dirname, '../../bench/tell-usage.cjs');
/** The peak memory of a process is read there. */
const canMeasure = existsSync('/proc/self/status');

/** Runs a command that has to fail with 1 and one line, within 5 s and 400 MiB. */
async function expectCheapFailure(argv: readonly string[], env: Environment, message: RegExp) {
  const start = performance.now();
  const limited = { ...env, NODE_OPTIONS: `--require="${TELL_USAGE}"` };
  const { stdout, stderr, exitCode } = await runBuilt(argv, { env: limited });
  expect(performance.now() - start).toBeLessThan(5_000);
  const lines = stderr.trim().split('\n').filter(Boolean);
  expect(JSON.parse(lines.pop() ?? '').peak).toBeLessThan(400);
  expect([exitCode, argv[0] === 'validate' ? '' : stdout]).toEqual([1, '']);
  const messages = lines.filter((line) => !line.startsWith('hint: '));
  expect(messages).toEqual([expect.stringMatching(message)]);
}

/** Interrupts a command at each moment, in milliseconds after it is ready. It may have ended before the signal. */
async function expectQuickEnd(moments: readonly number[], start: () => Promise<Started>) {
  for (const moment of moments) {
    const { child, ended } = await start();
    await Promise.race([sleep(moment), ended]);
    const interrupted = performance.now();
    child.kill('SIGINT');
    const { exitCode } = await ended;
    // If it cannot end by itself, it kills itself with the signal.
    expect([1, 130, 'SIGINT']).toContain(child.signalCode ?? exitCode);
    expect(performance.now() - interrupted, `after ${moment} ms`).toBeLessThan(1_000);
  }
}

type Started = ReturnType<typeof startCli>;

const headers = { 'content-encoding': 'gzip' };
const page = Buffer.from(envelopeOf(`{"id":1,"name":"${'x'.repeat(60e6)}"}`, 1));
const RESPONSES: readonly (readonly [kind: string, response: ScriptedResponse])[] = [
  ...Object.entries(bombs(22_000_000)).map(([kind, body]) => [kind, { body, headers }] as const),
  ['pages of 60 MB', { body: page }],
];

describe.each(RESPONSES)('a response of %s', (_kind, response) => {
  const commands = ['images list --json', 'images list -o ndjson', 'my-images -o yaml', 'login'];
  it.skipIf(!canMeasure).each(commands)('ends %s in time and with little memory', async (line) => {
    const { env, user } = await scriptedService(() => response);
    const message = /returned 200 with more than (4 MiB of JSON|100000 JSON values)/;
    await expectCheapFailure(line.split(' '), line === 'login' ? user : env, message);
  });

  it('ends within a second after SIGINT at any moment', async () => {
    await expectQuickEnd([0, 20, 40, 60, 80, 100, 150, 200, 250, 300], async () => {
      const service = new EventEmitter();
      const requested = once(service, 'request');
      const { env } = await scriptedService(() => {
        service.emit('request');
        return response;
      });
      const started = startCli(['images', 'list', '--json'], { env });
      await requested;
      return started;
    });
  });
});

const [descriptor, , disk] = sampleMembers('vm');
const around = (content: string) => ({
  'vm.ovf': `<Envelope xmlns="http://schemas.dmtf.org/ovf/envelope/1">${content}</Envelope>`,
});
const withSample = (name: string, content: string | Uint8Array) => {
  return { 'vm.ovf': descriptor.content, [name]: content };
};

/** Returns the sample's disk with a directory of 1,000,000 tables that are all the same. */
function repeatedTables(): Buffer {
  const bytes = Buffer.from(disk.content);
  const directory = Number(bytes.readBigUInt64LE(bytes.length - 1024 + 56)) * 512;
  const tables = Buffer.alloc(4_000_000).fill(bytes.subarray(directory, directory + 4));
  bytes.writeBigUInt64LE(BigInt(Math.ceil(bytes.length / 512)), 56);
  bytes.writeBigUInt64LE(BigInt((tables.length / 4) * 512 * 128), 12);
  return Buffer.concat([bytes, tables]);
}

function manyMembers(): Buffer {
  const content = Buffer.alloc(0);
  return packTar(Array.from({ length: 1e5 }, (_, index) => ({ name: `${index}`, content })));
}

const file = '<File id="a" href="b"/>';
const entities = `<!DOCTYPE a [<!ENTITY b "${'x'.repeat(1e4)}"><!ENTITY c "${'&b;'.repeat(1e4)}">]>`;
const digest = `SHA256(x)= ${'0'.repeat(64)}\n`;
const PACKAGES: Readonly<Record<string, () => Readonly<Record<string, string | Uint8Array>>>> = {
  'a descriptor nested 1,000,000 deep': () => around('<a>'.repeat(1e6) + '</a>'.repeat(1e6)),
  'a descriptor of 5,000,000 elements': () => around('<a/>'.repeat(5e6)),
  'a descriptor of 1,000,000 files': () => around(`<References>${file.repeat(1e6)}</References>`),
  'an attribute of 60 MB': () => around(`<a b="${'x'.repeat(60e6)}"/>`),
  'an entity in an entity': () => ({ 'vm.ovf': `${entities}${around('&c;')['vm.ovf']}` }),
  'a manifest of 2,000,000 lines': () => withSample('vm.mf', digest.repeat(2e6)),
  'an archive of 100,000 members': () => ({ 'vm.ova': manyMembers() }),
  'a disk of 1,000,000 equal tables': () => withSample(disk.name, repeatedTables()),
};

describe.each(Object.entries(PACKAGES))('a package with %s', (_name, files) => {
  /** Returns the path of the package. */
  const write = () => {
    const folder = temporaryDirectory();
    const contents = Object.entries(files());
    for (const [name, content] of contents) writeFileSync(path.join(folder, name), content);
    return path.join(folder, contents[0]?.[0] ?? '');
  };

  it.skipIf(!canMeasure)('fails in time, with little memory (skipped without /proc)', async () => {
    const message = /\.ov[af] is invalid: \d+ errors?$/;
    await expectCheapFailure(['validate', write()], freshHome(), message);
  });

  it('ends within a second after SIGINT at any moment', async () => {
    const argv = ['validate', write()];
    const start = async () => startCli(argv, { env: freshHome() });
    await expectQuickEnd([60, 120, 180, 300, 500], start);
  });
});
