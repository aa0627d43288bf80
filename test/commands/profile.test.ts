// profile: list, use and delete.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type FakeIoOptions, failed, runCli, temporaryDirectory } from '../support/io.ts';
import { fakeKeychain } from '../support/keychain.ts';
import { unixOnly } from '../support/platform.ts';
import { unusedPort } from '../support/sockets.ts';
import { emulatorUser, PASSWORD } from '../support/users.ts';

/** Returns a user with this config.json. */
function userWith(config: unknown) {
  const directory = temporaryDirectory();
  const file = path.join(directory, 'config.json');
  writeFileSync(file, JSON.stringify(config));
  const imgctl = (argv: readonly string[], env: FakeIoOptions['env'] = {}) =>
    runCli(['profile', ...argv], { env: { IMGCTL_CONFIG_DIR: directory, ...env } });
  return { directory, imgctl, config: () => JSON.parse(readFileSync(file, 'utf8')) };
}

const TWO = {
  profile: 'staging',
  profiles: {
    default: { 'base-url': 'https://images.example', username: 'alice' },
    staging: { 'base-url': 'nonsense', 'password-command': 'echo x' },
  },
};

describe('profile list', () => {
  it('prints the stored settings and marks the default', async () => {
    const { imgctl } = userWith(TWO);
    const env = { IMGCTL_PROFILE: 'default', IMGCTL_USERNAME: 'bob' };
    const { stdout, stderr, exitCode } = await imgctl(['list', '--json'], env);
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    expect(JSON.parse(stdout).map(Object.values)).toEqual([
      ['default', false, 'https://images.example', 'alice', 'none', null],
      ['staging', true, 'nonsense', null, 'none', 'command'],
    ]);
    const table = (await imgctl(['list'])).stdout.split('\n');
    expect(table[0]).toMatch(/^NAME +DEFAULT +BASE_URL +USERNAME +TOKEN +PASSWORD$/i);
    expect(table[1]).toMatch(/^default +https:/);
    expect(table[2]).toMatch(/^staging +\* +nonsense/);
    expect((await imgctl(['list', '-q'])).stdout).toBe('default\nstaging\n');
  });

  it('prints the state of each token without a request', async () => {
    const { emulator, imgctl, requests } = await emulatorUser({ tokenTtl: 3_600_000 });
    const time = Date.now();
    await imgctl(['login', '--profile', 'one'], { env: PASSWORD, time });
    const sent = requests.length;
    const stateAt = async (later: number) => {
      const { stdout } = await imgctl(['profile', 'list', '--json'], { time: time + later });
      return JSON.parse(stdout);
    };
    expect(await stateAt(0)).toEqual([
      expect.objectContaining({ name: 'one', base_url: emulator.baseUrl, token: 'valid' }),
    ]);
    expect(await stateAt(48 * 3_600_000)).toEqual([expect.objectContaining({ token: 'expired' })]);
    expect(requests).toHaveLength(sent);
  });

  it('prints a hint if there are no profiles', async () => {
    const { imgctl } = userWith({});
    expect(await imgctl(['list'])).toEqual({
      stdout: '',
      stderr: 'imgctl: no profiles yet\nhint: create one with: imgctl login\n',
      exitCode: 0,
    });
    expect((await imgctl(['list', '--json'])).stdout).toBe('[]\n');
  });
});

describe('profile use', () => {
  it('changes the default and nothing else', async () => {
    const { imgctl, config } = userWith({ ...TWO, future: 1 });
    expect((await imgctl(['use', 'default'])).stderr).toBe(
      'imgctl: the default profile is now default\n',
    );
    expect(config()).toEqual({ ...TWO, profile: 'default', future: 1 });
    const other = await imgctl(['use', 'staging'], { IMGCTL_PROFILE: 'x' });
    expect(other.stderr).toContain('IMGCTL_PROFILE=x overrides it');
    expect(config().profile).toBe('staging');
  });

  it('accepts the profile default without settings', async () => {
    const { imgctl, config } = userWith({ profile: 'a', profiles: { a: {} } });
    expect((await imgctl(['use', 'default'])).exitCode).toBe(0);
    expect(config().profile).toBe('default');
  });
});

it.each([
  ['default', 'imgctl login --profile default'],
  ['staging', 'imgctl login'],
])('whoami --profile %s hints at a login to that profile', async (profile, command) => {
  const directory = temporaryDirectory();
  writeFileSync(path.join(directory, 'config.json'), JSON.stringify(TWO));
  const env = { IMGCTL_CONFIG_DIR: directory, IMGCTL_BASE_URL: 'https://images.example' };
  const { stderr } = await runCli(['whoami', '--profile', profile], { env });
  expect(stderr).toMatch(new RegExp(`\nhint: run: ${command}\n$`));
});

describe.each(['use', 'delete'])('profile %s', (action) => {
  it.each([
    ['stagin', 'did you mean staging?'],
    ['../../x', 'see: imgctl profile list'],
    ['constructor', 'see: imgctl profile list'],
  ])('exits 5 for the unknown profile %s', async (name, hint) => {
    const { imgctl, config } = userWith(TWO);
    expect(await imgctl([action, name])).toEqual({
      stdout: '',
      stderr: `imgctl: unknown profile '${name}'\nhint: ${hint}\n`,
      exitCode: 5,
    });
    expect(config()).toEqual(TWO);
  });
});

describe('profile delete', () => {
  unixOnly('the keychain is a shell script')(
    'deletes settings, tokens and stored password of that profile only',
    async () => {
      const { env, imgctl } = await emulatorUser({ tokenLimit: 100 });
      const keychain = fakeKeychain('secret-tool');
      const login = ['login', '--store-password', '--password-stdin'];
      const io = (profile: string) => ({
        stdin: 'demo',
        env: { PATH: keychain.PATH, IMGCTL_PROFILE: profile },
      });
      for (const profile of ['work', 'work2']) await imgctl(login, io(profile));
      const tokens = path.join(env.IMGCTL_CONFIG_DIR ?? '', 'tokens');
      // A token of another user of the profile, and the leftover of a killed process.
      writeFileSync(path.join(tokens, 'work.0123456789abcdef.json'), '{}');
      writeFileSync(path.join(tokens, '.work.0123456789abcdef.json.1.aa.new'), '{}');
      expect(await imgctl(['profile', 'delete', 'work'], io('work2'))).toEqual({
        stdout: '',
        stderr: 'imgctl: deleted profile work\n',
        exitCode: 0,
      });
      expect(readdirSync(tokens).filter((name) => /^\.?work\./.test(name))).toEqual([]);
      expect(Object.keys(keychain.held())).toEqual([expect.stringContaining('profile\nwork2\n')]);
      const list = await imgctl(['profile', 'list', '-o', 'csv'], io('work2'));
      expect(list.stdout).toMatch(/^name,.*\r\nwork2,false,.*,valid,keychain\r\n$/);
    },
  );

  it('removes the default with its profile', async () => {
    const { imgctl, config } = userWith(TWO);
    expect((await imgctl(['delete', 'staging'])).stderr).toBe(
      'imgctl: deleted profile staging\nimgctl: this was the default profile\nhint: select another with: imgctl profile use NAME\n',
    );
    expect(config()).toEqual({ profiles: { default: TWO.profiles.default } });
  });

  it('leaves the profile if it cannot delete the stored password', async () => {
    const config = { profiles: { work: { 'stored-password': 'keychain' } } };
    const user = userWith(config);
    const result = await user.imgctl(['delete', 'work'], { PATH: '/nonexistent' });
    expect(result).toEqual(failed(2, /^imgctl: secret-tool, .* is not installed/));
    expect(user.config()).toEqual(config);
  });
});

describe('images list --profile', () => {
  const { profiles } = TWO;
  const list = ['images', 'list', '--retries', '0', '--profile'];

  it.each([
    ['defalt', 'did you mean default?'],
    ['nothing-like-it', 'see: imgctl profile list'],
  ])('rejects the unknown profile %s', async (name, hint) => {
    const { directory } = userWith({ profiles });
    const env = { IMGCTL_CONFIG_DIR: directory };
    expect(await runCli([...list, name], { env })).toEqual({
      stdout: '',
      stderr: `imgctl: unknown profile '${name}'\nhint: ${hint} (to create it: imgctl login --profile ${name})\n`,
      exitCode: 2,
    });
  });

  it('accepts an unknown profile if IMGCTL_BASE_URL is set', async () => {
    const { directory } = userWith({ profiles });
    const { baseUrl } = await unusedPort();
    const env = { IMGCTL_CONFIG_DIR: directory, IMGCTL_BASE_URL: baseUrl, IMGCTL_TOKEN: 'T' };
    expect((await runCli([...list, 'defalt'], { env })).exitCode).toBe(3);
  });
});
