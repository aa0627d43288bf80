// imgctl logout: the token is gone, the settings are not, and other profiles keep theirs.

import { describe, expect, it } from 'vitest';
import { PASSWORD, startAccount } from './account.ts';

const login = ['login'];

describe('imgctl logout', () => {
  it('forgets the token and keeps the settings', async () => {
    const { imgctl } = await startAccount();
    await imgctl(login, { env: PASSWORD });
    const first = await imgctl(['logout']);
    expect(first).toEqual({ stdout: '', stderr: 'imgctl: logged out\n', exitCode: 0 });
    const settings = { IMGCTL_BASE_URL: undefined, IMGCTL_USERNAME: undefined };
    const whoami = await imgctl(['whoami', '--json'], { env: settings });
    expect(JSON.parse(whoami.stdout)).toMatchObject({ username: 'demo', token: 'none' });
    expect(whoami.exitCode).toBe(4);
    const second = await imgctl(['logout']);
    expect(second).toMatchObject({ stderr: 'imgctl: there was no token to forget\n', exitCode: 0 });
  });

  it('finds the token by a base URL that is written otherwise', async () => {
    const { emulator, imgctl } = await startAccount();
    await imgctl(login, { env: PASSWORD });
    const env = { IMGCTL_BASE_URL: `${emulator.baseUrl.toUpperCase()}//` };
    expect((await imgctl(['logout'], { env })).stderr).toBe('imgctl: logged out\n');
  });

  it('leaves other profiles alone, unless told to forget all', async () => {
    const { imgctl } = await startAccount();
    for (const profile of ['one', 'two', 'three']) {
      await imgctl([...login, '--profile', profile], { env: PASSWORD });
    }
    await imgctl(['logout', '--profile', 'one']);
    expect((await imgctl(['whoami', '--profile', 'one'])).exitCode).toBe(4);
    expect((await imgctl(['whoami', '--profile', 'two'])).exitCode).toBe(0);
    const all = await imgctl(['logout', '--all']);
    expect(all).toEqual({ stdout: '', stderr: 'imgctl: 2 tokens forgotten\n', exitCode: 0 });
    expect((await imgctl(['whoami', '--profile', 'two'])).exitCode).toBe(4);
  });

  it.each([[[]], [['--all']]])('works without a home and without settings: %j', async (argv) => {
    const { imgctl } = await startAccount();
    const env = { IMGCTL_CONFIG_DIR: undefined, IMGCTL_BASE_URL: undefined };
    expect(await imgctl(['logout', ...argv], { env })).toMatchObject({ stdout: '', exitCode: 0 });
  });
});
