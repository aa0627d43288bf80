// imgctl doctor with the built program: before and after a login, without a secret in what it says.

import { expect, it } from 'vitest';
import { account, runBuilt } from '../support/cli.ts';
import { serve } from '../support/emulator.ts';

const PASSWORD = 'canary-of-a-password';

it('says what is missing, and nothing once it is there', async () => {
  const { baseUrl } = await serve({ users: [{ name: 'alice', password: PASSWORD }] });
  const { IMGCTL_PASSWORD: _, ...env } = account(baseUrl, 'alice', PASSWORD);
  const before = await runBuilt(['doctor', '-q'], { env });
  expect(before).toEqual({
    stdout: 'token\n',
    stderr: 'imgctl: something is wrong with: token\nhint: run: imgctl login\n',
    exitCode: 4,
  });
  await runBuilt(['login', '--password-stdin'], { env, stdin: PASSWORD });
  expect(await runBuilt(['doctor', '-q'], { env })).toEqual({
    stdout: '',
    stderr: '',
    exitCode: 0,
  });
  const token = (await runBuilt(['token'], { env })).stdout.trim();
  const full = await runBuilt(['doctor', '--debug', '--json'], {
    env: { ...env, IMGCTL_PASSWORD: PASSWORD },
  });
  expect(full.exitCode).toBe(0);
  expect(full.stdout).not.toContain(token);
  expect(full.stdout + full.stderr).not.toContain(PASSWORD);
});
