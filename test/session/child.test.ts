// Programs that are run: their ends, their limit.

import { expect, it } from 'vitest';
import { runChild } from '../../src/session/child.ts';
import { fakeIo } from '../support/io.ts';

const io = () => fakeIo({ env: { PATH: process.env.PATH } });

it('takes arguments as they are, and hands over the input', async () => {
  const args = ['-c', 'echo "$0"; cat; echo said >&2; exit 3', '$(x) "'];
  const result = await runChild(io(), { command: 'sh', args, input: 'given\n', stderr: 'pipe' });
  expect(result).toMatchObject({
    stdout: '$(x) "\ngiven\n',
    stderr: 'said\n',
    exitCode: 3,
    failure: 'ended with exit code 3',
  });
});

it('does not mind a program that reads nothing', async () => {
  const input = 'x'.repeat(1_000_000);
  const result = await runChild(io(), { command: 'true', args: [], input, stderr: 'pipe' });
  expect(result).toMatchObject({ exitCode: 0, failure: undefined });
});

it('ends a program that takes too long, and one that never began', async () => {
  const slow = await runChild(io(), { command: 'exec sleep 60', stderr: 'pipe', limit: 50 });
  expect(slow).toMatchObject({ exitCode: undefined, failure: 'did not end within 0.05 s' });
  const none = await runChild(io(), { command: '/nonexistent', args: [], stderr: 'pipe' });
  expect(none).toMatchObject({ failure: 'could not be started', cause: { code: 'ENOENT' } });
});
