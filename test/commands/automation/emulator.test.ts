// emulator: options, output and end of the command. test/emulator tests the service.

import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { whyNotListening } from '../../../src/commands/automation/emulator.ts';
import { testImage } from '../../support/catalogue-page.ts';
import { basic } from '../../support/emulator.ts';
import { hintOf } from '../../support/errors.ts';
import {
  type FakeIoOptions,
  failed,
  fakeIo,
  runCli,
  temporaryDirectory,
} from '../../support/io.ts';
import { unixOnly } from '../../support/platform.ts';

/** Runs the command in this process and waits until it listens. */
async function emulate(options: readonly string[] = [], settings: FakeIoOptions = {}) {
  const io = fakeIo(settings);
  const ended = runCli(['emulator', '--port', '0', ...options], io);
  onTestFinished(async () => {
    io.interrupt();
    await ended;
  });
  await expect.poll(() => io.stdout.text).toMatch(/\n$/);
  const [baseUrl = ''] = /http:[^" ]+/.exec(io.stdout.text) ?? [];
  const login = async (name: string, password: string) => {
    const options = { method: 'POST', headers: basic(name, password) };
    const response = await fetch(`${baseUrl}/auth/request-token`, options);
    const record = (await response.json()) as Record<string, unknown>;
    return { record, token: `${record.token}`, headers: response.headers };
  };
  const get = async (target: string, token?: string) => {
    const headers = { Authorization: `Bearer ${token}` };
    return (await (await fetch(`${baseUrl}${target}`, { headers })).json()) as never;
  };
  return { io, ended, baseUrl, login, get };
}

it('emulator prints one JSON line in a pipe, and stops when it is told to, even during a request', async () => {
  const stall = ['--fault', 'GET /v2/image=stall'];
  const { io, ended, baseUrl, get } = await emulate(stall, { errorColumns: 80 });
  expect(new URL(baseUrl).hostname).toBe('127.0.0.1');
  const stalled = expect(get('/v2/image')).rejects.toThrow();
  expect(await get('/v2')).toMatchObject({ status: 401 });
  io.interrupt('terminated');
  await stalled;
  const stdout = `{"base_url":"${baseUrl}"}\n`;
  expect(await ended).toEqual({ stdout, stderr: '', exitCode: 0 });
  await expect(get('/v2')).rejects.toThrow();
});

it.each([
  [[], {}, 'user demo, password demo', ['demo demo', 'images list', 'images latest .*']],
  [['--user', 'al:secret', '--images', '0'], {}, 'user al', ['al PASSWORD', 'images list']],
  [
    ['--uploads', 'up'],
    {},
    'user demo, password demo',
    ['demo demo', 'UPLOAD', 'images list', 'images latest .*', 'push YOUR.ova'],
  ],
  [
    ['--uploads', 'up', '--sample'],
    { npm_command: 'exec' },
    'user demo, password demo',
    [
      ...['demo demo', 'UPLOAD', 'images list', 'images latest .*', 'sync --wait'],
      'cp \\S+/up/demo/sample.ova my-image.ova',
      'push my-image.ova',
    ],
  ],
])('emulator %j shows on a terminal what to try, in order', async (options, env, user, lines) => {
  const { io } = await emulate(options, { columns: 80, env, cwd: temporaryDirectory() });
  const program = 'npm_command' in env ? 'npx imgctl' : 'imgctl';
  const exported = (line: string) => {
    const [name, password] = line.split(' ');
    return line === 'UPLOAD'
      ? 'export IMGCTL_UPLOAD_URL=.dav.http:\\S+/upload. IMGCTL_UPLOAD_USERNAME=demo IMGCTL_UPLOAD_PASSWORD=demo'
      : `export IMGCTL_BASE_URL=http:\\S+ IMGCTL_USERNAME=${name} IMGCTL_PASSWORD=${password}`;
  };
  const shown = lines.map((line, index) => {
    if (index === 0 || line === 'UPLOAD') return exported(line);
    const more = line === 'images list' ? ' -s updated_on,desc -n 5' : '';
    return line.startsWith('cp') ? line : `${program} ${line}${more}`;
  });
  const text = io.stdout.text;
  expect(text).toMatch(new RegExp(`^A copy of the service runs at http://\\S+ \\(${user}\\)\\.\n`));
  const lead = 'Try this in another terminal; it changes no profile:';
  expect(text).toMatch(new RegExp(`\n${lead}\n\n  ${shown.join('\n  ')}\n\nCtrl-C stops it\\.\n$`));
});

it('emulator shows variables for PowerShell on Windows', async () => {
  const { io, baseUrl } = await emulate(['--user', "o'hara:x"], { columns: 80, platform: 'win32' });
  const lines = [
    `  $env:IMGCTL_BASE_URL = '${baseUrl}'`,
    "  $env:IMGCTL_USERNAME = 'o''hara'",
    "  $env:IMGCTL_PASSWORD = 'PASSWORD'",
  ];
  expect(io.stdout.text).toContain(`\n\n${lines.join('\n')}\n`);
});

it('emulator says which host names it accepts if other machines can reach it', async () => {
  const { io } = await emulate(['--host', '0.0.0.0']);
  const names = 'accepted host names: localhost, 0.0.0.0 and the IP addresses of this machine';
  const hint = 'hint: to accept another name: imgctl emulator --host NAME';
  await expect.poll(() => io.stderr.text).toBe(`imgctl: ${names}\n${hint}\n`);
});

it.each([
  [[], 'UTC', '2026-11-20 Fri 19:00:00 EST'],
  [['--until', '2024-02-29'], 'UTC', '2024-02-28 Wed 19:00:00 EST'],
  [['--until', '2024-02-29'], 'Asia/Tokyo', '2024-02-28 Wed 19:00:00 EST'],
])(
  'emulator ends its catalogue today, or on the day of --until in UTC: %j in %s',
  async (until, zone, updated_on) => {
    vi.stubEnv('TZ', zone);
    onTestFinished(() => void vi.unstubAllEnvs());
    const time = Date.UTC(2026, 10, 21, 15);
    const { login, get } = await emulate(['--images', '25', ...until], { time });
    const { token } = await login('demo', 'demo');
    const newest = '/v2/image?per_page=1&expand=1&sort=updated_on,desc';
    expect(await get(newest, token)).toMatchObject({ data: [{ updated_on }] });
  },
);

it('emulator --from serves the images of a snapshot, and suggests no others', async () => {
  const cwd = temporaryDirectory();
  const head = { version: 1, taken_at: '2026-01-01T00:00:00Z', base_url: 'https://x.y' };
  writeFileSync(path.join(cwd, 'a.json'), JSON.stringify({ ...head, images: [testImage(7)] }));
  const { io, login, get } = await emulate(['--from', 'a.json'], { cwd, columns: 80 });
  expect(io.stdout.text).not.toContain('images latest');
  const { token } = await login('demo', 'demo');
  expect(await get('/v2/image?expand=1', token)).toMatchObject({ data: [{ id: 7 }] });
});

it('emulator passes its options on to the service', async () => {
  const { login, get } = await emulate([
    ...['--images', '3', '--user', 'a:b:c', '--user', 'x:y', '--denied-user', 'eve:e'],
    ...['--token-ttl', '90s', '--token-limit', '2', '--fault', 'GET /v2=503'],
  ]);
  const issued = await login('a', 'b:c');
  expect([issued.record.duration, issued.headers.get('x-ratelimit-limit')]).toEqual([90, '2']);
  const denied = { message: 'User is not authorized to access.' };
  expect((await login('eve', 'e')).record).toMatchObject(denied);
  expect((await login('demo', 'demo')).record).toMatchObject({ status: 401 });
  const meta = { user: 'a', pages: { total: 3 } };
  expect(await get('/v2/image', issued.token)).toMatchObject({ meta });
  expect(await get('/v2', issued.token)).toMatchObject({ status: 503 });
});

it('emulator --sample puts a valid package into the uploads, and leaves a file of that name', async () => {
  const cwd = temporaryDirectory();
  const file = path.join(cwd, 'uploads', 'alice', 'sample.ova');
  const options = ['--uploads', 'uploads', '--sample', '--user', 'alice:a'];
  await emulate(options, { cwd });
  expect(await runCli(['validate', file])).toMatchObject({ exitCode: 0, stdout: '' });
  writeFileSync(file, 'mine');
  await emulate(options, { cwd });
  expect(readFileSync(file, 'utf8')).toBe('mine');
});

it('emulator stops if it cannot write the sample', async () => {
  const cwd = temporaryDirectory();
  mkdirSync(path.join(cwd, 'up'));
  writeFileSync(path.join(cwd, 'up', 'demo'), '');
  const message = `imgctl: cannot write ${cwd}/up/demo/sample.ova: not a directory\n`;
  const line = 'emulator --port 0 --uploads up --sample'.split(' ');
  expect(await runCli(line, { cwd })).toEqual(failed(1, message));
});

it('emulator creates its folder for uploads', async () => {
  const cwd = temporaryDirectory();
  await emulate(['--uploads', 'new/uploads'], { cwd });
  expect(statSync(path.join(cwd, 'new/uploads')).isDirectory()).toBe(true);
});

unixOnly('such folders need Unix').each([
  ['/dev/null', 'cannot use /dev/null for uploads: not a directory'],
  ['/dev/null/x', 'cannot use /dev/null/x for uploads: not a directory'],
  // Node's own way to create folders never returns there.
  ['/proc/x', 'cannot use /proc/x for uploads: no such file or directory'],
])('emulator --uploads %j fails before it listens', async (uploads, message) => {
  const hint = 'use a folder such as: imgctl emulator --uploads ./uploads';
  const result = await runCli(['emulator', '--port', '0', '--sample', '--uploads', uploads]);
  expect(result).toEqual(failed(2, new RegExp(`^imgctl: ${message}\nhint: ${hint}\n$`)));
});

// An invalid --user may be a password.
it.each([
  ['--sample', '--images=1', '--sample needs --uploads'],
  ['--port', '65536', '65535'],
  ...['hunter2', ':x'].map((user) => ['--user', user, 'a user must be name:password']),
  ...['.:x', '..:x', 'a/b:x', 'a\\b:x'].map((user) => ['--user', user, 'must not be a path']),
  ...['soon', '2024-02-30'].map((day) => ['--until', day, `--until must be a date (got ${day})`]),
  ['--fault', 'GET /v2=oops', "unknown kind of fault 'oops'"],
  ['--sync-delay', 'soon', '--sync-delay'],
])('emulator rejects %s %s', async (option = '', value = '', named = '') => {
  const result = await runCli(['emulator', option, value]);
  expect(result).toEqual(failed(2, /^imgctl: .+\nhint: .+\n$/));
  expect(result.stderr).toContain(named);
  expect(result.stderr).not.toContain('hunter2');
});

it('emulator fails if the port is in use', async () => {
  const { port } = new URL((await emulate()).baseUrl);
  const message = `cannot listen on 127.0.0.1:${port}: another program uses that port`;
  const hint = 'use a free port with: imgctl emulator --port 0';
  const result = await runCli(['emulator', '--port', port]);
  expect(result).toEqual(failed(2, `imgctl: ${message}\nhint: ${hint}\n`));
});

it('emulator says that the user may not use a port of the system', () => {
  const refused = Object.assign(new Error(), { code: 'EACCES' });
  const hint = 'use a free port with: imgctl emulator --port 0';
  const [reason, facts] = whyNotListening(refused);
  expect([reason, hintOf({ facts })]).toEqual(['this user may not use that port', hint]);
});

it.each([
  ['192.0.2.1', 'it is not an address of this machine'],
  ['nowhere.invalid', 'the name has no address'],
])('emulator cannot listen on %s: %s', async (host, reason) => {
  const message = `cannot listen on ${host}:0: ${reason}`;
  const hint = 'use an address of this machine: imgctl emulator --host 127.0.0.1';
  const result = await runCli(['emulator', '--host', host, '--port', '0']);
  expect(result).toEqual(failed(2, `imgctl: ${message}\nhint: ${hint}\n`));
});
