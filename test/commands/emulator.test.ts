// emulator: options, output and end of the command. test/emulator tests the service.

import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type FakeIoOptions, failed, fakeIo, runCli, temporaryDirectory } from '../support/io.ts';

/** Runs the command in this process and waits until it listens. */
async function emulate(options: readonly string[] = [], settings: FakeIoOptions = {}) {
  const io = fakeIo(settings);
  const ended = runCli(['emulator', '--port', '0', ...options], io);
  onTestFinished(async () => {
    io.interrupt();
    await ended;
  });
  await expect.poll(() => io.stdout.text, { interval: 5, timeout: 10_000 }).toMatch(/\n$/);
  const { base_url: baseUrl } = JSON.parse(io.stdout.text) as { base_url: string };
  const login = (pair: string) =>
    fetch(`${baseUrl}/auth/request-token`, {
      method: 'POST',
      headers: { Authorization: `Basic ${Buffer.from(pair).toString('base64')}` },
    });
  return { io, ended, baseUrl, login };
}

describe('emulator', () => {
  it('prints one JSON line and exits 0 when terminated', async () => {
    const { io, ended, baseUrl } = await emulate();
    expect(baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect((await fetch(`${baseUrl}/v2`)).status).toBe(401);
    io.interrupt('terminated');
    expect(await ended).toEqual({
      stdout: `{"base_url":"${baseUrl}"}\n`,
      stderr: '',
      exitCode: 0,
    });
    await expect(fetch(`${baseUrl}/v2`)).rejects.toThrow();
  });

  it.each([
    [[], 'demo', ' (password: demo)'],
    [['--user', 'alice:secret'], 'alice', ''],
  ])('says on a terminal how to log in and how to stop: %j', async (options, name, password) => {
    const { io, baseUrl } = await emulate(options, { errorColumns: 80 });
    const login = `imgctl login --base-url ${baseUrl} -u ${name}${password}`;
    const stderr = `imgctl: log in from another terminal: ${login}\nimgctl: stop the service with Ctrl-C\n`;
    await expect.poll(() => io.stderr.text, { timeout: 10_000 }).toBe(stderr);
  });

  it('ends its catalogue today, or on the day of --until', async () => {
    const time = Date.UTC(2026, 10, 21, 15);
    const newest = async (options: readonly string[]) => {
      const { baseUrl, login } = await emulate(['--images', '25', ...options], { time });
      const { token } = (await (await login('demo:demo')).json()) as { token: string };
      const url = `${baseUrl}/v2/image?per_page=1&expand=1&sort=updated_on,desc`;
      const response = await fetch(url, { headers: { Authorization: `Bearer ${token}` } });
      const { data } = (await response.json()) as { data: { updated_on: string }[] };
      return data[0]?.updated_on;
    };
    expect(await newest([])).toBe('2026-11-20 Fri 19:00:00 EST');
    expect(await newest(['--until', '2024-02-29'])).toBe('2024-02-28 Wed 19:00:00 EST');
  });

  it('passes its options on to the service', async () => {
    const { baseUrl, login } = await emulate([
      ...['--images', '3', '--user', 'a:b:c', '--user', 'x:y', '--denied-user', 'eve:e'],
      ...['--token-ttl', '90s', '--token-limit', '2', '--fault', 'GET /v2=503'],
    ]);
    const issued = await login('a:b:c');
    expect(issued.headers.get('x-ratelimit-limit')).toBe('2');
    const { token, duration } = (await issued.json()) as { token: string; duration: number };
    expect(duration).toBe(90);
    expect((await login('eve:e')).status).toBe(401);
    expect((await login('demo:demo')).status).toBe(401);
    const headers = { Authorization: `Bearer ${token}` };
    const list = await fetch(`${baseUrl}/v2/image`, { headers });
    expect(await list.json()).toMatchObject({ meta: { user: 'a', pages: { total: 3 } } });
    expect((await fetch(`${baseUrl}/v2`, { headers })).status).toBe(503);
  });

  it('with --sample puts a valid package into the uploads, and leaves a file of that name', async () => {
    const cwd = temporaryDirectory();
    const file = path.join(cwd, 'uploads', 'alice', 'sample.ova');
    const options = ['--uploads', 'uploads', '--sample', '--user', 'alice:a'];
    expect((await emulate(options, { cwd })).io.stderr.text).toBe('');
    expect(await runCli(['validate', file])).toMatchObject({ exitCode: 0, stdout: '' });
    writeFileSync(file, 'mine');
    await emulate(options, { cwd });
    expect(readFileSync(file, 'utf8')).toBe('mine');
  });

  it('refuses --sample without --uploads', async () => {
    const stderr =
      'imgctl: --sample needs --uploads\nhint: name a folder with: imgctl emulator --uploads ./uploads --sample\n';
    expect(await runCli(['emulator', '--sample'])).toEqual({ stdout: '', stderr, exitCode: 2 });
  });

  it.each<[string, string, string]>([
    ['--port', '65536', '65535'],
    ...['alice', ':x', '.:x', '..:x', 'a/b:x', 'a\\b:x'].map((user): [string, string, string] => [
      '--user',
      user,
      'name:password',
    ]),
    ['--fault', 'GET /v2=oops', 'GET /v2=oops'],
    ['--sync-delay', 'soon', '--sync-delay'],
  ])('rejects %s %s', async (option, value, named) => {
    const result = await runCli(['emulator', '--port', '0', option, value]);
    expect(result).toEqual(failed(2, /^imgctl: .+\n(hint: .+\n)?$/));
    expect(result.stderr).toContain(named);
  });

  it('does not print an invalid --user, which may be a password', async () => {
    const { stderr } = await runCli(['emulator', '--user', 'hunter2']);
    expect(stderr).toMatch(/^imgctl: .*name:password\n/);
    expect(stderr).not.toContain('hunter2');
  });

  it('fails if the port is in use', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    onTestFinished(async () => {
      holder.close();
      await once(holder, 'close');
    });
    const { port } = holder.address() as { port: number };
    const stderr = `imgctl: cannot listen on 127.0.0.1:${port}: another program uses that port\nhint: use a free port with: imgctl emulator --port 0\n`;
    const result = await runCli(['emulator', '--port', String(port)]);
    expect(result).toEqual({ stdout: '', stderr, exitCode: 2 });
  });
});
