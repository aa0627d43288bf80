// The real Io: the environment of the process.

import fs from 'node:fs';
import { promisify } from 'node:util';
import { expect, it, onTestFinished, vi } from 'vitest';
import { takeEnvironment, workingDirectory, writeInThread } from '../src/process-io.ts';

it('takeEnvironment finds names of any case on Windows only', () => {
  const env = { imgctl_password: 'a' };
  expect(takeEnvironment({ env, platform: 'win32' })).toEqual({ IMGCTL_PASSWORD: 'a' });
  expect(takeEnvironment({ env, platform: 'linux' })).toEqual(env);
});

it.each([
  ['/gone', '/gone'],
  ['', '/dev/null'],
  ['work', '/dev/null'],
  [undefined, '/dev/null'],
])('workingDirectory of a removed one is PWD=%s only if that is absolute', (PWD, expected) => {
  const cwd = () => {
    throw new Error('uv_cwd');
  };
  expect(workingDirectory({ cwd, env: { PWD } })).toBe(expected);
});

it('writeInThread writes all bytes to a terminal that is full, or takes a part of them', async () => {
  const taken: string[] = [];
  const results: [string | undefined, number][] = [
    ['EAGAIN', 0],
    [undefined, 2],
    [undefined, 4],
  ];
  const write = vi.spyOn(fs, 'write');
  onTestFinished(() => write.mockRestore());
  write.mockImplementation(((_fd: number, bytes: Buffer, done: (...result: unknown[]) => void) => {
    const [code, count] = results.shift() ?? ['EIO', 0];
    taken.push(`${bytes.subarray(0, count)}`);
    done(code ? Object.assign(new Error(code), { code }) : null, count, bytes);
  }) as typeof fs.write);
  await promisify(writeInThread(1))('abcdef');
  expect(taken).toEqual(['', 'ab', 'cdef']);
});
