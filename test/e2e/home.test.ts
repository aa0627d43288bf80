// The promises of docs/development/hazards.md about files in a home, and about the processes that share it.

import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseFault } from '../../src/emulator/faults.ts';
import { catalogueOf, cataloguePage, testImages } from '../support/catalogue-page.ts';
import {
  account,
  COMMAND,
  issue,
  LIST,
  runBuilt,
  scriptedService,
  startCli,
  withClockAhead,
} from '../support/cli.ts';
import { serve } from '../support/emulator.ts';
import { modeOf } from '../support/files.ts';
import { runCli } from '../support/io.ts';
import { errorResponse } from '../support/scripted-server.ts';
import { TOKEN_REQUEST } from '../support/users.ts';

// The single executable ignores NODE_OPTIONS.
const withNodeOptions = it.skipIf(COMMAND.length === 1);

/** Returns a user who logged in (in this process, which is faster) and the paths of the files. */
async function loggedIn() {
  const service = await scriptedService({
    [TOKEN_REQUEST]: [issue('T1'), issue('T2')],
    'GET /v2/image': { json: cataloguePage(new URL('http://x/v2/image?expand=1'), testImages(1)) },
  });
  const env = service.user;
  expect(await runCli(['login'], { env })).toMatchObject({ exitCode: 0 });
  const folder = path.join(env.HOME, '.config/imgctl');
  const name = readdirSync(path.join(folder, 'tokens')).find((each) => /^_token\./.test(each));
  return {
    service,
    env,
    settings: path.join(folder, 'config.json'),
    token: path.join(folder, 'tokens', name ?? ''),
  };
}

const addByteOrderMark = (file: string) =>
  writeFileSync(file, `\ufeff${readFileSync(file, 'utf8')}`);

describe('the token file', () => {
  const IGNORED = /^imgctl: warning: .* is ignored\n$/;
  const link = (file: string) => {
    const target = path.join(path.dirname(file), '../target');
    renameSync(file, target);
    symlinkSync(target, file);
  };

  it.each<[string, (file: string) => void, RegExp, number]>([
    ['readable by others is made private', (file) => chmodSync(file, 0o644), /^$/, 1],
    ['with a byte order mark is read', addByteOrderMark, /^$/, 1],
    ['behind a link is replaced, even in a snap', link, IGNORED, 2],
    ['that is empty is replaced', (file) => writeFileSync(file, ''), IGNORED, 2],
    ['that is truncated is replaced', (file) => writeFileSync(file, '{"token": "s3c'), IGNORED, 2],
    ['of another shape is replaced', (file) => writeFileSync(file, '{"s3c": 1}'), IGNORED, 2],
  ])('%s', async (_what, change, stderr, requests) => {
    const { service, env, token } = await loggedIn();
    change(token);
    const inSnap = { ...env, SNAP: '/snap/imgctl/1' };
    const result = await runBuilt(['images', 'list', '-q'], { env: inSnap });
    expect(result).toEqual({ stdout: '1\n', stderr: expect.stringMatching(stderr), exitCode: 0 });
    expect(result.stderr).not.toContain('s3c');
    expect(service.sent().filter((each) => each === TOKEN_REQUEST)).toHaveLength(requests);
    expect(readFileSync(token, 'utf8')).toContain(`T${requests}`);
    expect([statSync(token).isFile(), modeOf(token)]).toEqual([true, '600']);
    if (change === link) {
      expect(readFileSync(path.join(token, '../../target'), 'utf8')).toContain('T1');
    }
  });

  it('stays unchanged if it is a directory, and the run still uses the new token', async () => {
    const { env, token } = await loggedIn();
    rmSync(token);
    mkdirSync(token);
    const result = await runBuilt(['images', 'list', '-q'], { env });
    expect(result).toMatchObject({ stdout: '1\n', exitCode: 0 });
    expect(result.stderr).toContain('it is used for this run only');
    expect(readdirSync(token)).toEqual([]);
  });
});

/** A script for --require that reports the mode of each staging file as it is created. */
const REPORT_MODES = `
  const fs = require('node:fs');
  const { openSync, writeFileSync } = fs;
  const report = (file, { size, mode }) => {
    if (size > 0 || !/\\.new/.test(file)) return;
    process.stderr.write('created ' + (mode & 0o777).toString(8) + '\\n');
  };
  fs.openSync = (file, ...rest) => {
    const descriptor = openSync(file, ...rest);
    report(file, fs.fstatSync(descriptor));
    return descriptor;
  };
  // Newer versions of Node open the file in it without openSync.
  fs.writeFileSync = (file, text, options) => {
    writeFileSync(file, '', options);
    if (typeof file === 'string') report(file, fs.statSync(file));
    writeFileSync(file, text);
  };`;

withNodeOptions(
  'login creates files with mode 600 and folders with 700, whatever the umask',
  async () => {
    const { baseUrl } = await serve();
    const user = account(baseUrl);
    const script = path.join(user.HOME, 'report.cjs');
    writeFileSync(script, REPORT_MODES);
    const env = { ...user, NODE_OPTIONS: `--require ${script}` };
    const { stderr, exitCode } = await runBuilt(['login'], { env, prelude: 'umask 0' });
    expect(exitCode).toBe(0);
    const modes = stderr.match(/created .*/g) ?? [];
    expect(modes.length).toBeGreaterThan(2);
    expect(new Set(modes)).toEqual(new Set(['created 600']));
    const folder = path.join(user.HOME, '.config/imgctl');
    expect([folder, path.join(folder, 'tokens')].map(modeOf)).toEqual(['700', '700']);
  },
);

describe('the settings file', () => {
  it.each([
    ['is empty', '', 'line 1, column 1'],
    ['is truncated', '{\n"s3cret": "s3', 'line 2, column 14'],
    ['is an array', '["s3cret"]', 'JSON object'],
    ['has another shape', '{"profiles": {"a": {"timeout": {"s3cret": 1}}}}', 'timeout is not'],
  ])('causes an error and stays unchanged if it %s', async (_how, text, place) => {
    const { service, env, settings } = await loggedIn();
    writeFileSync(settings, text);
    for (const line of ['images list', 'config set timeout 5s']) {
      const result = await runBuilt(line.split(' '), { env });
      expect(result).toMatchObject({ stdout: '', exitCode: 2 });
      expect(result.stderr).toContain(settings);
      expect(result.stderr).toContain(place);
      expect(result.stderr).not.toContain('s3cret');
    }
    expect(readFileSync(settings, 'utf8')).toBe(text);
    expect(service.sent()).toEqual([TOKEN_REQUEST]);
  });

  it('is read with a byte order mark', async () => {
    const { env, settings } = await loggedIn();
    addByteOrderMark(settings);
    const result = await runBuilt(['config', 'get', 'username'], { env });
    expect(result).toEqual({ stdout: 'demo\n', stderr: '', exitCode: 0 });
  });

  it('holds the settings of ten processes that each set one', async () => {
    const { env, settings } = await loggedIn();
    const names = Array.from({ length: 10 }, (_, index) => `p${index}`);
    const set = (name: string) =>
      runBuilt(['config', 'set', 'timeout', '5s', '--profile', name], { env });
    const results = await Promise.all(names.map(set));
    expect(results.map(({ exitCode }) => exitCode)).toEqual(names.map(() => 0));
    const { profiles } = JSON.parse(readFileSync(settings, 'utf8'));
    expect(Object.keys(profiles).sort()).toEqual(['default', ...names].sort());
    expect(modeOf(settings)).toBe('600');
  });
});

withNodeOptions(
  'ten processes whose clocks are 10 s apart add every name to a lock file',
  async () => {
    const { env } = await scriptedService(catalogueOf(testImages(1)));
    const envs = [env, withClockAhead(env, 10_000), withClockAhead(env, -10_000)];
    const names = Array.from({ length: 10 }, (_, index) => `n${index}`);
    const file = path.join(env.HOME, 'images.lock.json');
    const add = (name: string, index: number) =>
      runBuilt(['images', 'lock', 'add', name, 'image', '--file', file], {
        env: envs[index % 3] ?? env,
      });
    const results = await Promise.all(names.map(add));
    expect(results.filter(({ exitCode }) => exitCode !== 0)).toEqual([]);
    expect(Object.keys(JSON.parse(readFileSync(file, 'utf8')).images).sort()).toEqual(names);
  },
);

withNodeOptions('ten processes whose clocks are 10 s apart send one token request', async () => {
  const methods: string[] = [];
  const { baseUrl } = await serve({ onRequest: ({ method }) => methods.push(method) });
  const { IMGCTL_PASSWORD, ...user } = account(baseUrl);
  // The others look at the lock meanwhile.
  const env = { ...user, IMGCTL_PASSWORD_COMMAND: `sleep 0.5; echo ${IMGCTL_PASSWORD}` };

  const argv = ['images', 'list', '--limit', '1', '-q'];
  const envs = [env, withClockAhead(env, 10_000), withClockAhead(env, -10_000)];
  const results = await Promise.all(
    Array.from({ length: 10 }, (_, index) => runBuilt(argv, { env: envs[index % 3] ?? env })),
  );
  const success = { stdout: expect.stringMatching(/^\d+\n$/), stderr: '', exitCode: 0 };
  expect(results).toEqual(results.map(() => success));
  expect(methods.filter((method) => method === 'POST')).toHaveLength(1);
});

withNodeOptions.each([
  ['slow', -1, ['POST', 'GET', 'GET']],
  ['fast', 1, ['POST', 'GET', 'POST', 'GET']],
])('a clock that is a day %s causes at most one renewal', async (_how, days, expected) => {
  const methods: string[] = [];
  const { baseUrl } = await serve({ images: 1, onRequest: ({ method }) => methods.push(method) });
  const user = account(baseUrl);
  for (const env of [user, withClockAhead(user, days * 86_400_000)]) {
    expect(await runBuilt(LIST, { env })).toMatchObject({ stderr: '', exitCode: 0 });
  }
  expect(methods).toEqual(expected);
});

describe('a 401 during images list', () => {
  /** Issues T1, T2 and so on, and refuses these tokens for pages 2 and 3 of five images. */
  async function listing(...refused: string[]) {
    const pages: string[] = [];
    let issued = 0;
    const { user } = await scriptedService(({ method, url, headers }) => {
      issued += Number(method === 'POST');
      if (method === 'POST') return issue(`T${issued}`);
      const page = url.searchParams.get('page');
      const token = headers.authorization?.slice(7) ?? '';
      pages.push(`${page} with ${token}`);
      return page !== '1' && refused.includes(token)
        ? errorResponse(401, 'Valid token, but has expired.')
        : { json: cataloguePage(url, testImages(5)) };
    });
    const argv = ['images', 'list', '-q', '--per-page', '2'];
    return { result: await runBuilt(argv, { env: user }), pages: pages.sort(), issued };
  }

  it('causes one renewal, and every image is printed once', async () => {
    const { result, pages, issued } = await listing('T1');
    expect(result).toEqual({ stdout: '1\n2\n3\n4\n5\n', stderr: '', exitCode: 0 });
    const again = ['2 with T1', '2 with T2', '3 with T1', '3 with T2'];
    expect([issued, pages]).toEqual([2, ['1 with T1', ...again]]);
  });

  it('exits 4 without a list if it persists', async () => {
    const { result, issued } = await listing('T1', 'T2');
    expect(result).toMatchObject({ stdout: '', exitCode: 4 });
    expect(issued).toBe(2);
  });
});

it.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('login releases its lock at %s', async (signal, exitCode) => {
  const { baseUrl } = await serve({ faults: [parseFault('POST /auth/request-token=stall')] });
  const env = account(baseUrl);
  const entries = () => readdirSync(env.HOME, { recursive: true, encoding: 'utf8' });
  const locks = () => entries().filter((name) => name.endsWith('.lock'));
  const login = startCli(['login'], { env });
  await expect.poll(locks, { timeout: 30_000 }).toHaveLength(1);
  login.child.kill(signal);
  expect((await login.ended).exitCode).toBe(exitCode);
  expect(locks()).toEqual([]);
});
