// logout: deletes tokens and leaves the settings.

import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { emulatorUser, PASSWORD, TOKEN_REQUEST } from '../support/users.ts';

describe('logout', () => {
  it('deletes the token and leaves the settings', async () => {
    const { imgctl } = await emulatorUser();
    await imgctl('login', { env: PASSWORD });
    const first = await imgctl(['logout']);
    expect(first).toEqual({ stdout: '', stderr: 'imgctl: logged out\n', exitCode: 0 });
    const settings = { IMGCTL_BASE_URL: undefined, IMGCTL_USERNAME: undefined };
    const whoami = await imgctl(['whoami', '--json'], { env: settings });
    expect(JSON.parse(whoami.stdout)).toMatchObject({ username: 'demo', token: 'none' });
    expect(whoami.exitCode).toBe(4);
    const second = await imgctl(['logout']);
    expect(second).toMatchObject({ stderr: 'imgctl: you were not logged in\n', exitCode: 0 });
  });

  it('finds the token for another spelling of the base URL', async () => {
    const { emulator, imgctl } = await emulatorUser();
    await imgctl('login', { env: PASSWORD });
    const env = { IMGCTL_BASE_URL: `${emulator.baseUrl.toUpperCase()}//` };
    expect((await imgctl(['logout'], { env })).stderr).toBe('imgctl: logged out\n');
  });

  it('deletes the tokens of one profile, or all tokens with --all', async () => {
    const users = ['one', 'two', 'three'].map((name) => ({ name, password: 'demo' }));
    const { imgctl } = await emulatorUser({ users });
    const run = (command: string, name: string) =>
      imgctl(`${command} --profile ${name}`, { env: { ...PASSWORD, IMGCTL_USERNAME: name } });
    for (const { name } of users) await run('login', name);
    await run('logout', 'one');
    expect((await run('whoami', 'one')).exitCode).toBe(4);
    expect((await run('whoami', 'two')).exitCode).toBe(0);
    const all = await imgctl(['logout', '--all']);
    expect(all).toEqual({ stdout: '', stderr: 'imgctl: deleted 2 tokens\n', exitCode: 0 });
    expect((await run('whoami', 'two')).exitCode).toBe(4);
  });

  it('deletes the token of a user that the profile had before', async () => {
    const users = ['alice', 'bob'].map((name) => ({ name, password: 'demo' }));
    const { directory, imgctl } = await emulatorUser({ users });
    for (const { name } of users) {
      await imgctl(`login --username ${name}`, { env: PASSWORD });
    }
    const env = { IMGCTL_USERNAME: undefined };
    expect(await imgctl(['logout'], { env })).toEqual({
      stdout: '',
      stderr: 'imgctl: logged out (deleted 2 tokens)\n',
      exitCode: 0,
    });
    const left = readdirSync(path.join(directory, 'tokens'));
    expect(left.filter((name) => !name.startsWith('_limit.'))).toEqual([]);
  });

  it('names the profiles that used the same token, which one login gave to all', async () => {
    const { imgctl, requests } = await emulatorUser();
    await imgctl('login --profile one', { env: PASSWORD });
    expect((await imgctl('my-images --profile two', { env: PASSWORD })).exitCode).toBe(0);
    expect(requests.filter((request) => request === TOKEN_REQUEST)).toHaveLength(1);
    expect((await imgctl('logout --profile one')).stderr).toBe(
      'imgctl: logged out\nimgctl: also logged out, with the same token: two\n',
    );
    expect((await imgctl('whoami --profile two')).exitCode).toBe(4);
  });

  it.each([[[]], [['--all']]])('works without a home and settings: %j', async (argv) => {
    const { imgctl } = await emulatorUser();
    const env = { IMGCTL_CONFIG_DIR: undefined, IMGCTL_BASE_URL: undefined };
    expect(await imgctl(['logout', ...argv], { env })).toMatchObject({ stdout: '', exitCode: 0 });
  });
});
