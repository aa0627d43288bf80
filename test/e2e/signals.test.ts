// SIGINT and SIGTERM to the built program: in a wait, in a request, while it reads, and to the service itself.

import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseFault } from '../../src/emulator/faults.ts';
import {
  account,
  COMMAND,
  freshHome,
  runBuilt,
  startCli,
  startEmulatorProcess,
} from '../support/cli.ts';
import { serve } from '../support/emulator.ts';

const SIGNALS = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const;

/** A service that never answers such a request, and the moment at which one has arrived. */
async function stall(method: string, path: string) {
  let arrived = () => {};
  const arrival = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  const { baseUrl } = await serve({
    faults: [parseFault(`${method} ${path}=stall`)],
    onRequest: (request) => {
      if (request.method === method) arrived();
    },
  });
  return { baseUrl, arrival };
}

/** A script for --require: no thread is left for looking up names, since all wait for a pipe's other end. */
function haltedLookups(pipe: string): string {
  return `
    require('node:child_process').execFileSync('mkfifo', ['${pipe}']);
    for (let thread = 0; thread < 4; thread += 1) require('node:fs').open('${pipe}', () => {});
    const dns = require('node:dns');
    const { lookup } = dns;
    dns.lookup = (...words) => {
      process.stderr.write('looking up\\n');
      return lookup(...words);
    };`;
}

describe.each(SIGNALS)('%s', (signal, exitCode) => {
  it('in the wait for a sync: ends at once with the command that resumes', async () => {
    const { baseUrl } = await serve({ syncDelay: 3_600_000 });
    const env = account(baseUrl);
    const sync = startCli(['sync', '--wait'], { env });
    await sync.waitFor('stderr', 'sync 1: PENDING');
    sync.child.kill(signal);
    const result = await sync.ended;
    expect(result).toMatchObject({ stdout: '', exitCode });
    expect(result.stderr).toMatch(
      /; the sync request 1 goes on\nhint: .*imgctl sync-status 1 --wait\n$/,
    );
  });

  it('in a request that stalls: ends at once', async () => {
    const { baseUrl, arrival } = await stall('GET', '/v2/image');
    const list = startCli(['images', 'list'], { env: account(baseUrl) });
    await Promise.race([arrival, list.ended]);
    list.child.kill(signal);
    const result = await list.ended;
    expect(result).toMatchObject({ stdout: '', exitCode });
    expect(result.stderr).toMatch(/^imgctl: .+\n$/);
  });

  // NODE_OPTIONS bring the look-up to a halt, which the single executable does not heed.
  it.skipIf(COMMAND.length === 1)('in the look-up of a name: ends at once', async () => {
    const home = freshHome();
    const halt = path.join(home.HOME, 'halt.cjs');
    writeFileSync(halt, haltedLookups(path.join(home.HOME, 'pipe')));
    const env = { ...home, IMGCTL_TOKEN: 'T', NODE_OPTIONS: `--require ${halt}` };
    const list = startCli(['images', 'list', '--base-url', 'https://images.example'], { env });
    await list.waitFor('stderr', 'looking up');
    list.child.kill(signal);
    expect((await list.ended).stderr).toMatch(/^looking up\nimgctl: .+\n$/);
    expect(list.child.signalCode).toBe(signal);
  });

  it('in a submit that stalls: says how to find out whether it arrived', async () => {
    const { baseUrl, arrival } = await stall('PATCH', '/v2/user/image/vm');
    const sync = startCli(['sync', '--wait'], { env: account(baseUrl) });
    await Promise.race([arrival, sync.ended]);
    sync.child.kill(signal);
    const result = await sync.ended;
    expect(result.exitCode).toBe(exitCode);
    expect(result.stderr).toMatch(/the sync may have been submitted: .*\nhint: .*imgctl my-images/);
  });

  it('to the service: ends cleanly, also with a request in hand', async () => {
    const emulator = await startEmulatorProcess('--fault', '* /*=stall');
    const { hostname, port, host } = new URL(emulator.baseUrl);
    const socket = net.connect(Number(port), hostname);
    socket.on('error', () => {}); // closed or reset, as the system likes
    await once(socket, 'connect');
    socket.write(`GET /v2 HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    emulator.child.kill(signal);
    expect(await emulator.ended).toMatchObject({ stderr: '', exitCode: 0 });
    await closed;
  });
});

describe('besides', () => {
  it('a password command is left at once', async () => {
    const env = { ...freshHome(), IMGCTL_PASSWORD_COMMAND: 'echo asked >&2; exec sleep 600' };
    const argv = ['login', '--base-url', 'http://127.0.0.1:9', '--username', 'demo'];
    const login = startCli(argv, { env });
    await login.waitFor('stderr', 'asked');
    login.child.kill('SIGINT');
    expect(await login.ended).toEqual({
      stdout: '',
      stderr: 'asked\nimgctl: interrupted\n',
      exitCode: 130,
    });
  });

  it('a standard input that stays open does not keep a command that failed', async () => {
    const env = freshHome();
    const result = await runBuilt(['whoami', 'extra'], { env, stdin: { open: true } });
    expect(result).toMatchObject({ stdout: '', exitCode: 2 });
  });
});
