// The real Io: the environment of the process.

import { expect, it } from 'vitest';
import { environmentOf } from '../src/io.ts';

it('environmentOf finds names of any case on Windows only', () => {
  const env = { imgctl_password: 'a' };
  expect(environmentOf({ env, platform: 'win32' })).toEqual({ IMGCTL_PASSWORD: 'a' });
  expect(environmentOf({ env, platform: 'linux' })).toEqual(env);
});

it('environmentOf hides NODE_TLS_REJECT_UNAUTHORIZED from Node', () => {
  const env = { NODE_TLS_REJECT_UNAUTHORIZED: '0' };
  const seen = environmentOf({ env, platform: 'linux' });
  expect({ seen, env }).toEqual({ seen: { NODE_TLS_REJECT_UNAUTHORIZED: '0' }, env: {} });
});
