// The real Io: the environment of the process.

import { expect, it } from 'vitest';
import { environmentOf } from '../src/process-io.ts';

it('environmentOf finds names of any case on Windows only', () => {
  const env = { imgctl_password: 'a' };
  expect(environmentOf({ env, platform: 'win32' })).toEqual({ IMGCTL_PASSWORD: 'a' });
  expect(environmentOf({ env, platform: 'linux' })).toEqual(env);
});
