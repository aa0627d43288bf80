// The real Io: the environment of the process.

import { describe, expect, it } from 'vitest';
import { environmentOf } from '../src/io.ts';

describe('environmentOf', () => {
  const env = { imgctl_password: 'a', NODE_TLS_REJECT_UNAUTHORIZED: '0' };

  it('finds names of any case on Windows only', () => {
    const windows = environmentOf({ env: { ...env }, platform: 'win32' });
    expect(windows).toEqual({ IMGCTL_PASSWORD: 'a', NODE_TLS_REJECT_UNAUTHORIZED: '0' });
    const linux = environmentOf({ env: { ...env }, platform: 'linux' });
    expect(linux).toEqual(env);
  });

  it('hides NODE_TLS_REJECT_UNAUTHORIZED from Node', () => {
    const own = { ...env };
    environmentOf({ env: own, platform: 'linux' });
    expect(own).toEqual({ imgctl_password: 'a' });
  });
});
