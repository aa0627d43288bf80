// logout: deletes tokens and leaves the settings.

import { describe, expect, it } from 'vitest';
import { emulatorUser, PASSWORD } from '../support/users.ts';

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

  it('deletes the token of one profile, or all tokens with --all', async () => {
    const { imgctl } = await emulatorUser();
    for (const profile of ['one', 'two', 'three']) {
      await imgctl(['login', '--profile', profile], { env: PASSWORD });
    }
    await imgctl(['logout', '--profile', 'one']);
    expect((await imgctl(['whoami', '--profile', 'one'])).exitCode).toBe(4);
    expect((await imgctl(['whoami', '--profile', 'two'])).exitCode).toBe(0);
    const all = await imgctl(['logout', '--all']);
    expect(all).toEqual({ stdout: '', stderr: 'imgctl: deleted 2 tokens\n', exitCode: 0 });
    expect((await imgctl(['whoami', '--profile', 'two'])).exitCode).toBe(4);
  });

  it.each([[[]], [['--all']]])('works without a home and settings: %j', async (argv) => {
    const { imgctl } = await emulatorUser();
    const env = { IMGCTL_CONFIG_DIR: undefined, IMGCTL_BASE_URL: undefined };
    expect(await imgctl(['logout', ...argv], { env })).toMatchObject({ stdout: '', exitCode: 0 });
  });
});
