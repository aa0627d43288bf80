// The real Io: the environment, the streams and the machine of the process.

import { EventEmitter } from 'node:events';
import fs from 'node:fs';
import { Writable } from 'node:stream';
import { promisify } from 'node:util';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { ImgctlError } from '../src/errors.ts';
import { BrokenPipeError, systemClock, systemOf } from '../src/io.ts';
import { processIo, takeEnvironment, workingDirectory, writeInThread } from '../src/process-io.ts';
import { hintOf } from './support/errors.ts';

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

/** A process whose streams write in this way. */
function processWriting(write: (done: (error: Error) => void) => void): NodeJS.Process {
  const stream = () => new Writable({ write: (_chunk, _encoding, done) => write(done) });
  const { pid, ppid, platform, arch, versions } = process;
  return Object.assign(new EventEmitter(), {
    ...{ pid, ppid, platform, arch, versions, env: {}, cwd: () => '/work' },
    ...{ stdout: stream(), stderr: stream() },
  }) as unknown as NodeJS.Process;
}

const failingWith = (code: string) =>
  processWriting((done) => done(Object.assign(new Error('write'), { code })));

it.each(['stdout', 'stderr'] as const)(
  'a write to %s that fails says what to check',
  async (name) => {
    const io = processIo(failingWith('ENOSPC'));
    const thrown = await io[name].write('x').catch((reason: unknown) => reason);
    const message = 'cannot write the output: no space left on device';
    expect(thrown).toMatchObject({ code: 'failed', message });
    expect(hintOf(thrown as ImgctlError)).toBe(
      'check the file or device that it goes to, and the free space',
    );
  },
);

it.each(['EPIPE', 'ERR_STREAM_DESTROYED'])(
  'a write that fails with %s has no reader',
  async (code) => {
    const io = processIo(failingWith(code));
    await expect(io.stdout.write('x')).rejects.toThrow(BrokenPipeError);
  },
);

it('the system names its version of Node, and where that runs', () => {
  const versions = { ...process.versions, node: '20.19.0' };
  const { runtime } = systemOf({ ...process, platform: 'linux', arch: 'x64', versions });
  expect(runtime).toBe('Node 20.19.0 on linux x64');
});

it('a signal ends writes to stdout at once, to stderr after 300 ms, and counts again after 100 ms', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const stuck = processWriting(() => {});
  const io = processIo(stuck);
  const ended: string[] = [];
  for (const name of ['stdout', 'stderr'] as const) {
    io[name].write('x').catch(({ code }) => ended.push(`${name}: ${code}`));
  }
  const after = async (milliseconds: number) => {
    vi.advanceTimersByTime(milliseconds);
    await new Promise(setImmediate);
    return [stuck.listenerCount('SIGTERM'), ...ended];
  };
  stuck.emit('SIGTERM', 'SIGTERM');
  expect(await after(99)).toEqual([1, 'stdout: terminated']);
  expect(await after(1)).toEqual([0, 'stdout: terminated']);
  expect(await after(199)).toEqual([0, 'stdout: terminated']);
  expect(await after(1)).toEqual([0, 'stdout: terminated', 'stderr: terminated']);
});

it('any number of requests may wait for the signal of a run, without a warning of Node', async () => {
  const onWarning = vi.fn();
  process.on('warning', onWarning);
  onTestFinished(() => void process.off('warning', onWarning));
  const { signal } = new AbortController();
  systemClock(signal);
  for (let count = 0; count < 11; count += 1) signal.addEventListener('abort', () => count);
  await new Promise(setImmediate);
  expect(onWarning).not.toHaveBeenCalled();
});
