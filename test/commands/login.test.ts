// imgctl login: what it asks for, what it keeps, and what it says of the limit.

import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { fakeTerminal, temporaryDirectory } from '../support/io.ts';
import { PASSWORD, startAccount, TOKEN_REQUEST } from './account.ts';

describe('imgctl login', () => {
  it('asks for what it was not given, and keeps all but the password', async () => {
    const { emulator, imgctl, requests } = await startAccount();
    const env = { IMGCTL_BASE_URL: undefined, IMGCTL_USERNAME: undefined };
    const stdin = fakeTerminal(`${emulator.baseUrl}/\rdemo\rdemo\r`);
    // The clock stands still: what is left of the token is told to the minute.
    const io = { env, stdin, time: Date.now() };
    const { stdout, stderr, exitCode } = await imgctl(['login'], io);
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 0 });
    expect(stderr).toBe(
      `Base URL: User name: Password: \nimgctl: logged in to ${emulator.baseUrl} as demo; the token is valid for 24 h\n`,
    );
    const later = await imgctl(['config', 'list', '--json'], { env });
    expect(JSON.parse(later.stdout)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          key: 'base-url',
          value: emulator.baseUrl,
          origin: 'profile default',
        }),
        expect.objectContaining({ key: 'username', value: 'demo', origin: 'profile default' }),
        expect.objectContaining({ key: 'password-command', value: null, origin: null }),
      ]),
    );
    expect((await imgctl(['whoami'], { env })).exitCode).toBe(0);
    expect(requests).toEqual([TOKEN_REQUEST]);
  });

  it.each([
    ['standard input', ['--password-stdin'], { stdin: 'demo\r\nmore\n' }],
    ['IMGCTL_PASSWORD', [], { env: PASSWORD }],
    ['a command', ['--password-command', 'echo demo; echo more'], {}],
    [
      'the command before the variable',
      ['--password-command', 'echo demo'],
      {
        env: { IMGCTL_PASSWORD: 'wrong' },
      },
    ],
  ])('takes the password from %s', async (_source, argv, io) => {
    const { imgctl } = await startAccount();
    expect(await imgctl(['login', ...argv], io)).toMatchObject({ stdout: '', exitCode: 0 });
  });

  it('keeps the password command, so that commands renew by themselves', async () => {
    const { emulator, imgctl, requests } = await startAccount();
    await imgctl(['login', '--password-command', 'echo demo']);
    emulator.expireTokens();
    expect((await imgctl(['my-images'])).exitCode).toBe(0);
    expect(requests.filter((request) => request === TOKEN_REQUEST)).toHaveLength(2);
  });

  it('says how many token requests are left when it is two or fewer', async () => {
    const { imgctl } = await startAccount();
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

  it.each([
    [['--password-stdin', '--password-command', 'x'], {}, 'contradict'],
    [['--username', ''], { env: PASSWORD }, 'username must not be empty'],
    [['--password-command', ''], {}, 'password-command must not be empty'],
    [['--username', 'a:b'], { env: PASSWORD }, 'use a user name without a colon'],
    [['--password-stdin'], { stdin: '' }, 'standard input gave no password'],
    [['--password-command', 'exit 3'], {}, 'the password command ended with exit code 3'],
    [[], {}, 'cannot prompt for the password without a terminal'],
    [[], { env: { ...PASSWORD, IMGCTL_TOKEN: 'T' } }, 'unset IMGCTL_TOKEN'],
  ])('%j: refuses and sends nothing', async (argv, io, message) => {
    const { imgctl, requests } = await startAccount();
    const { stdout, stderr, exitCode } = await imgctl(['login', ...argv], io);
    expect({ stdout, exitCode, requests }).toEqual({ stdout: '', exitCode: 2, requests: [] });
    expect(stderr).toContain(message);
  });

  it.each(['', 'ftp://images.example', 'http://images.example'])(
    'asks nothing else after a base URL that cannot be used: %j',
    async (answer) => {
      const { imgctl } = await startAccount();
      const env = { IMGCTL_BASE_URL: undefined, IMGCTL_USERNAME: undefined };
      const stdin = fakeTerminal(`${answer}\rdemo\rdemo\r`);
      const { stderr, exitCode } = await imgctl(['login'], { env, stdin });
      expect(exitCode).toBe(2);
      expect(stderr).toMatch(/^Base URL: \n?imgctl: .+\nhint: .+\n$/);
    },
  );

  it('asks nothing after a given one that cannot be used, and names the profile in the remedy', async () => {
    const { imgctl } = await startAccount();
    const env = { IMGCTL_BASE_URL: 'http://images.example', IMGCTL_USERNAME: undefined };
    const argv = ['login', '--profile', 'work'];
    const { stderr } = await imgctl(argv, { env, stdin: fakeTerminal('demo\rdemo\r') });
    expect(stderr).toBe(
      'imgctl: plain http would send credentials unprotected to images.example\n' +
        'hint: use https://images.example, or accept it with: imgctl config set allow-http true --profile work\n',
    );
  });

  it('keeps nothing of a login that failed', async () => {
    const { imgctl } = await startAccount();
    const failed = await imgctl(['login'], { env: { IMGCTL_PASSWORD: 'wrong' } });
    expect(failed.exitCode).toBe(4);
    const list = await imgctl(['config', 'list', '-o', 'csv']);
    expect(list.stdout).not.toContain('profile default');
    expect((await imgctl(['whoami'])).exitCode).toBe(4);
  });

  it.each([
    ['without a home', undefined],
    ['where no folder can be made', 'file/x'],
  ])('works %s, with one warning', async (_where, folder) => {
    const { imgctl } = await startAccount();
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
