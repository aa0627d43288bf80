// Twenty processes with an expired token send one token request.

import { expect, it } from 'vitest';
import { account, runBuilt } from '../support/cli.ts';
import { serve } from '../support/emulator.ts';

const PROCESSES = 20;

it('twenty processes with a password command send one token request', async () => {
  const requests: string[] = [];
  const emulator = await serve({ onRequest: ({ method }) => requests.push(method) });
  const { IMGCTL_PASSWORD, ...user } = account(emulator.baseUrl);
  const env = { ...user, IMGCTL_PASSWORD_COMMAND: `echo ${IMGCTL_PASSWORD}` };
  expect((await runBuilt(['login'], { env })).exitCode).toBe(0);
  emulator.expireTokens();
  requests.length = 0;

  const argv = ['images', 'list', '--limit', '1', '-q'];
  const results = await Promise.all(
    Array.from({ length: PROCESSES }, () => runBuilt(argv, { env })),
  );
  const success = { stdout: expect.stringMatching(/^\d+\n$/), stderr: '', exitCode: 0 };
  expect(results).toEqual(results.map(() => success));
  expect(requests.filter((method) => method === 'POST')).toHaveLength(1);
});
