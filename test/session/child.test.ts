// Programs that imgctl runs: input, output, and how they end.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { environmentOf } from '../../src/io.ts';
import { runChild } from '../../src/session/child.ts';
import { fakeIo, temporaryDirectory } from '../support/io.ts';
import { unixOnly } from '../support/platform.ts';

const io = () => fakeIo({ env: { PATH: process.env.PATH } });

describe('runChild', () => {
  unixOnly('sh is Unix')('passes arguments unchanged, and the input', async () => {
    const args = ['-c', 'echo "$0"; cat; echo said >&2; exit 3', '$(x) "'];
    const result = await runChild(io(), { command: 'sh', args, input: 'given\n', stderr: 'pipe' });
    expect(result).toMatchObject({
      stdout: '$(x) "\ngiven\n',
      stderr: 'said\n',
      exitCode: 3,
      failure: 'ended with exit code 3',
    });
  });

  unixOnly('sh is Unix')('accepts a program that does not read its input', async () => {
    const input = 'x'.repeat(1_000_000);
    const result = await runChild(io(), { command: 'true', args: [], input, stderr: 'pipe' });
    expect(result).toMatchObject({ exitCode: 0, failure: undefined });
  });

  unixOnly('sh is Unix').each([
    ['linux', { IMGCTL_PASSWORD: 's3cret', IMGCTL_TOKEN: 's3cret' }],
    ['win32', { imgctl_Password: 's3cret', Imgctl_Token: 's3cret' }],
  ] as const)('hides the password and the token on %s: %j', async (platform, secrets) => {
    const env = environmentOf({
      platform,
      env: { PATH: process.env.PATH, ...secrets, Other: 'x' },
    });
    const result = await runChild(fakeIo({ env }), { command: 'env', stderr: 'pipe' });
    expect(result.stdout).toMatch(/^other=x$/im);
    expect(result.stdout).not.toMatch(/imgctl_|s3cret/i);
  });

  unixOnly('process groups are Unix').each([
    ['takes too long', async () => {}],
    ['is interrupted', async (interrupt: () => void) => interrupt()],
  ])('kills the children of a program that %s', async (_how, stop) => {
    const used = io();
    const file = path.join(temporaryDirectory(), 'child');
    const command = `sleep 60 & echo $! > ${file}.new; mv ${file}.new ${file}; wait`;
    const ended = runChild(used, { command, stderr: 'inherit', limit: 1_000 }).catch(() => {});
    while (!existsSync(file)) await new Promise(setImmediate);
    const child = Number(readFileSync(file, 'utf8'));
    // A dead process may still wait for its parent to notice.
    const isRunning = () => {
      const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', `${child}`], { encoding: 'utf8' });
      return /^[^Z]/.test(stdout);
    };
    expect(isRunning()).toBe(true);
    await stop(() => used.interrupt());
    await ended;
    await expect.poll(isRunning, { timeout: 5_000 }).toBe(false);
  });

  it('reports a program that takes too long or does not start', async () => {
    const slow = await runChild(io(), { command: 'exec sleep 60', stderr: 'pipe', limit: 50 });
    expect(slow).toMatchObject({ exitCode: undefined, failure: 'did not end within 0.05 s' });
    const none = await runChild(io(), { command: '/nonexistent', args: [], stderr: 'pipe' });
    expect(none).toMatchObject({ failure: 'could not be started', cause: { code: 'ENOENT' } });
  });
});
