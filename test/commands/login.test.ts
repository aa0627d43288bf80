// login: prompts, sources of the password, stored settings and the token request limit.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { failed, fakeTerminal, runCli, temporaryDirectory } from '../support/io.ts';
import { emulatorUser, PASSWORD, scriptedUser, TOKEN_REQUEST } from '../support/users.ts';

const BASE_URL = 'Base URL (https:// if you leave it out)';
const WRONG = { IMGCTL_PASSWORD: 'wrong' };

describe('login', () => {
  it('prompts for what is missing and stores all but the password', async () => {
    const { emulator, imgctl, requests } = await emulatorUser();
    const env = { IMGCTL_BASE_URL: undefined, IMGCTL_USERNAME: undefined };
    const stdin = fakeTerminal(`${emulator.baseUrl}/\rdemo\rdemo\r`);
    const { stdout, stderr, exitCode } = await imgctl('login', { env, stdin, time: Date.now() });
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 0 });
    expect(stderr).toBe(
      `${BASE_URL}: User name: Password for demo at ${emulator.baseUrl}: \n✓ Logged in to ${emulator.baseUrl} as demo (token valid for 24 h)\n`,
    );
    const later = await imgctl(['config', 'list', '--json'], { env });
    const row = (key: string, value: string | null, origin: string | null) =>
      expect.objectContaining({ key, value, origin });
    expect(JSON.parse(later.stdout)).toEqual(
      expect.arrayContaining([
        row('base-url', emulator.baseUrl, 'profile default'),
        row('username', 'demo', 'profile default'),
        row('password-command', null, null),
      ]),
    );
    expect((await imgctl(['whoami'], { env })).exitCode).toBe(0);
    expect(requests).toEqual([TOKEN_REQUEST]);
  });

  it.each([
    ['standard input', ['--password-stdin'], { stdin: 'demo\r\nmore\n' }],
    ['a command before IMGCTL_PASSWORD', ['--password-command', 'echo demo'], { env: WRONG }],
  ])('reads the password from %s', async (_source, argv, io) => {
    const { imgctl } = await emulatorUser();
    expect(await imgctl(['login', ...argv], io)).toMatchObject({ stdout: '', exitCode: 0 });
  });

  it('stores the password command, which later renews the token', async () => {
    const { emulator, imgctl, requests } = await emulatorUser();
    await imgctl(['login', '--password-command', 'echo demo']);
    emulator.expireTokens();
    expect((await imgctl(['my-images'])).exitCode).toBe(0);
    expect(requests.filter((request) => request === TOKEN_REQUEST)).toHaveLength(2);
  });

  it('shows how many token requests are left if at most two are', async () => {
    const { imgctl } = await emulatorUser();
    const notes = [];
    for (let count = 1; count <= 6; count += 1) {
      const { stderr, exitCode } = await imgctl(['login'], { env: PASSWORD });
      notes.push(
        /\d token requests? left|token request limit reached/.exec(stderr)?.[0] ?? exitCode,
      );
    }
    expect(notes).toEqual([
      0,
      0,
      '2 token requests left',
      '1 token request left',
      '0 token requests left',
      'token request limit reached',
    ]);
  });

  it('ignores a remembered limit with --ignore-limit, and the service decides', async () => {
    const { imgctl, requests } = await emulatorUser({ tokenLimit: 1 });
    const login = (line: string) => imgctl(line, { env: PASSWORD });
    expect((await login('login')).exitCode).toBe(0);
    const refused = await login('login');
    expect(refused).toEqual(failed(6, 'token request limit reached'));
    expect(refused.stderr).toContain(', or ask the service now: imgctl login --ignore-limit\n');
    expect(requests).toHaveLength(1);
    expect(await login('login --ignore-limit')).toEqual(failed(6, 'too many requests'));
    expect(requests).toHaveLength(2);
  });

  it('asks the service if the clock was 3 h ahead when the limit was reached', async () => {
    const HOUR = 3_600_000;
    const { imgctl, requests } = await emulatorUser({ tokenLimit: 1, tokenWindow: HOUR });
    const login = (time: number) => imgctl('login', { env: PASSWORD, time });
    const now = Date.now();
    expect((await login(now + 3 * HOUR)).exitCode).toBe(0);
    expect(await login(now)).toEqual(failed(6, 'too many requests'));
    const refused = await login(now);
    expect(refused).toEqual(failed(6, 'token request limit reached'));
    expect(refused.stderr).toMatch(/try again in (?:1 h|\d\d min)/);
    expect(requests).toHaveLength(2);
  });

  it.each([
    [['--password-stdin', '--password-command', 'x'], {}, 'cannot be used with option'],
    [['--username', ''], { env: PASSWORD }, 'username must not be empty'],
    [['--password-command', ''], {}, 'password-command must not be empty'],
    [['--username', 'a:b'], { env: PASSWORD }, 'use a user name without a colon'],
    [['--password-stdin'], { stdin: '' }, 'standard input gave no password'],
    [['--password-command', 'exit 3'], {}, 'exit code 3\nhint: run it by hand: exit 3\n'],
    [[], {}, 'cannot prompt for the password without a terminal'],
    [[], { env: { ...PASSWORD, IMGCTL_TOKEN: 'T' } }, 'unset IMGCTL_TOKEN'],
  ])('rejects %j without a request', async (argv, io, message) => {
    const { imgctl, requests } = await emulatorUser();
    expect(await imgctl(['login', ...argv], io)).toEqual(failed(2, message));
    expect(requests).toEqual([]);
  });

  it.each(['ftp://images.example', 'http://images.example'])(
    'prompts for nothing else after an invalid base URL: %j',
    async (typed) => {
      const { imgctl } = await emulatorUser();
      const env = { IMGCTL_BASE_URL: undefined, IMGCTL_USERNAME: undefined };
      const stdin = fakeTerminal(`${typed}\rdemo\rdemo\r`);
      const { stderr, exitCode } = await imgctl(['login'], { env, stdin });
      expect(exitCode).toBe(2);
      expect(stderr).toMatch(
        /^Base URL [^:]*: ?\S* if you leave it out\): \n?imgctl: .+\nhint: .+\n$/,
      );
    },
  );

  it('prompts for nothing with an invalid IMGCTL_BASE_URL and names the profile in the hint', async () => {
    const { imgctl } = await emulatorUser();
    const env = { IMGCTL_BASE_URL: 'http://images.example', IMGCTL_USERNAME: undefined };
    const argv = ['login', '--profile', 'work'];
    const { stderr } = await imgctl(argv, { env, stdin: fakeTerminal('demo\rdemo\r') });
    expect(stderr).toBe(
      'imgctl: plain http would expose credentials sent to images.example\n' +
        'hint: use https://images.example, or allow plain http: imgctl config set allow-http true --profile work\n',
    );
  });

  it('stores no token if it fails', async () => {
    const { imgctl } = await emulatorUser();
    expect((await imgctl('login', { env: WRONG })).exitCode).toBe(4);
    expect((await imgctl(['whoami'])).exitCode).toBe(4);
  });

  it.each([
    ['without a home', undefined],
    ['if it cannot create its folder', 'file/x'],
  ])('works %s, with one warning', async (_where, folder) => {
    const { imgctl } = await emulatorUser();
    const directory = temporaryDirectory();
    writeFileSync(path.join(directory, 'file'), 'mine');
    const place = { IMGCTL_CONFIG_DIR: folder && path.join(directory, folder) };
    for (const argv of [['login'], ['images', 'list', '-q', '--limit', '1'], ['sync']]) {
      const { stderr, exitCode } = await imgctl(argv, { env: { ...PASSWORD, ...place } });
      expect(exitCode).toBe(0);
      expect(stderr.match(/warning: /g)).toHaveLength(1);
    }
    expect(readdirSync(directory)).toEqual(['file']);
  });
});

describe('login at a terminal', () => {
  const NOTHING = { IMGCTL_BASE_URL: undefined, IMGCTL_USERNAME: undefined };

  /** Also returns what the default profile stores. */
  async function storedUser(options?: Parameters<typeof emulatorUser>[0]) {
    const user = await emulatorUser(options);
    const file = path.join(user.directory, 'config.json');
    const stored = () => JSON.parse(readFileSync(file, 'utf8')).profiles.default;
    return { ...user, stored };
  }

  const REFUSED = 'the service says: Invalid username and password combination';

  it('asks for a wrong password again', async () => {
    const { imgctl, requests } = await emulatorUser();
    const { stderr, exitCode } = await imgctl('login', { stdin: fakeTerminal('a\rb\rdemo\r') });
    expect(exitCode).toBe(0);
    expect(stderr.match(/^Password for demo at .*: $/gm)).toHaveLength(3);
    expect(stderr).toContain(`\nimgctl: warning: ${REFUSED} (2 attempts left)\n`);
    expect(stderr).toContain(`\nimgctl: warning: ${REFUSED} (1 attempt left)\n`);
    expect(requests).toHaveLength(3);
  });

  it('gives up after three wrong passwords', async () => {
    const { imgctl, requests } = await emulatorUser();
    const result = await imgctl('login', { stdin: fakeTerminal('a\rb\rc\rdemo\r') });
    expect(result.stderr).toContain(
      `imgctl: ${REFUSED}\nhint: check the user name and password, then: imgctl login\n`,
    );
    expect(result.exitCode).toBe(4);
    expect(requests).toHaveLength(3);
  });

  it('asks no more often than the service allows token requests', async () => {
    const { imgctl, requests } = await emulatorUser({ tokenLimit: 2 });
    const result = await imgctl('login', { stdin: fakeTerminal('a\rb\rdemo\r') });
    expect(result.exitCode).toBe(4);
    expect(requests).toHaveLength(2);
  });

  it('does not ask again if the password was not typed', async () => {
    const { imgctl, requests } = await emulatorUser();
    const stdin = fakeTerminal('demo\r');
    expect(await imgctl('login', { env: WRONG, stdin })).toEqual(
      failed(4, `imgctl: ${REFUSED}\nhint: check IMGCTL_PASSWORD and the user name demo\n`),
    );
    expect(requests).toHaveLength(1);
  });

  it('saves what was typed before the request, so that the next login asks only for the password', async () => {
    const { emulator, imgctl, stored } = await storedUser();
    const { baseUrl } = emulator;
    const login = (typed: string) => imgctl('login', { env: NOTHING, stdin: fakeTerminal(typed) });
    const failedLogin = await login(`${baseUrl}\rdemo\ra\rb\rc\r`);
    expect(failedLogin.exitCode).toBe(4);
    expect(failedLogin.stderr).toContain(
      `hint: check the password, or log in as another user: imgctl login --base-url ${baseUrl} --username NAME\n`,
    );
    expect(stored()).toEqual({ 'base-url': baseUrl, username: 'demo' });
    const next = await login('demo\r');
    expect(next.exitCode).toBe(0);
    expect(next.stderr).toMatch(/^Password for demo at /);
  });

  it('saves the options of a failed login too, but not the password command', async () => {
    const { emulator, imgctl, stored } = await storedUser();
    const { baseUrl } = emulator;
    const command = ['login', '--base-url', baseUrl, '-u', 'demo', '--password-command', 'echo x'];
    expect((await imgctl(command, { env: NOTHING })).exitCode).toBe(4);
    expect(stored()).toEqual({ 'base-url': baseUrl, username: 'demo' });
  });

  it('replaces what the profile has only after success', async () => {
    const { emulator, imgctl, stored } = await storedUser({
      users: ['alice', 'bob'].map((name) => ({ name, password: name })),
    });
    const { baseUrl } = emulator;
    const env = { ...NOTHING, IMGCTL_BASE_URL: baseUrl };
    await imgctl('config set username alice', { env });
    const login = (password: string) =>
      imgctl('login --username bob', { env: { ...env, IMGCTL_PASSWORD: password } });
    expect((await login('wrong')).exitCode).toBe(4);
    expect(stored()).toEqual({ 'base-url': baseUrl, username: 'alice' });
    expect((await login('bob')).exitCode).toBe(0);
    expect(stored()).toEqual({ 'base-url': baseUrl, username: 'bob' });
  });

  it('saves nothing if it is interrupted at the prompt for the password', async () => {
    const { emulator, imgctl, directory } = await emulatorUser();
    const stdin = fakeTerminal(`${emulator.baseUrl}\rdemo\r\u0003`);
    expect((await imgctl('login', { env: NOTHING, stdin })).exitCode).toBe(130);
    expect(readdirSync(directory)).toEqual([]);
  });

  it('adds https:// to a base URL without a scheme', async () => {
    const { imgctl } = await emulatorUser();
    const stdin = fakeTerminal('127.0.0.1:9\rdemo\rdemo\r');
    const { stderr, exitCode } = await imgctl('login --retries 0', { env: NOTHING, stdin });
    expect(stderr).toContain('Password for demo at https://127.0.0.1:9: ');
    expect(exitCode).toBe(3);
    expect(stderr).toContain(
      'base URL (https://127.0.0.1:9); to change it: imgctl login --base-url URL\n',
    );
    expect(stderr).not.toContain('imgctl config');
  });

  it('explains that it cannot send a one-time password', async () => {
    const { server, env } = await scriptedUser(() => ({
      status: 401,
      json: { error: 'authentication error', message: 'One-time password required.', status: 401 },
    }));
    const account = { ...env, IMGCTL_TOKEN: undefined, IMGCTL_USERNAME: 'demo', ...PASSWORD };
    const result = await runCli(['login'], { env: account, stdin: fakeTerminal('demo\r') });
    expect(result).toEqual(failed(4, 'needs a one-time password, which imgctl cannot send'));
    expect(server.requests).toHaveLength(1);
  });
});
