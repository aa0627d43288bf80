// The lock: one holder at a time, and none forever.

import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { withLock, withLockIfPossible } from '../../src/files/lock.ts';
import { fakeIo, impatientIo, temporaryDirectory } from '../support/io.ts';

const PATIENCE = 60_000;

/** Leaves the lock of a holder that was killed `age` seconds ago. */
function leaveLock(file: string, age = 60): void {
  mkdirSync(`${file}.lock`);
  const time = Date.now() / 1000 - age;
  utimesSync(`${file}.lock`, time, time);
}

/** Lets eight compete for the lock. @returns how many held it at the same time, at most */
async function contend(file: string): Promise<number> {
  let holding = 0;
  let most = 0;
  const action = async () => {
    holding += 1;
    most = Math.max(most, holding);
    await new Promise(setImmediate);
    holding -= 1;
  };
  const io = impatientIo();
  await Promise.all(Array.from({ length: 8 }, () => withLock(file, PATIENCE, io, action)));
  return most;
}

describe('the lock', () => {
  it('has one holder at a time and leaves nothing behind', async () => {
    const directory = temporaryDirectory();
    expect(await contend(path.join(directory, 'config.json'))).toBe(1);
    expect(readdirSync(directory)).toEqual([]);
  });

  it('is released if the action fails', async () => {
    const file = path.join(temporaryDirectory(), 'config.json');
    const failing = withLock(file, PATIENCE, fakeIo(), async () => {
      throw new Error('of the action');
    });
    await expect(failing).rejects.toThrow('of the action');
    expect(existsSync(`${file}.lock`)).toBe(false);
  });

  it.each([
    ['a minute ago', 60],
    ['while the clock was a day ahead', -86_400],
  ])('of a holder that died %s is taken over by one at a time', async (_when, age) => {
    const directory = temporaryDirectory();
    const file = path.join(directory, 'config.json');
    leaveLock(file, age);
    expect(await contend(file)).toBe(1);
    expect(readdirSync(directory)).toEqual([]);
  });

  it('is taken over even if the last takeover was killed', async () => {
    const file = path.join(temporaryDirectory(), 'config.json');
    leaveLock(file);
    leaveLock(`${file}.takeover`);
    expect(await contend(file)).toBe(1);
    expect(existsSync(`${file}.lock`)).toBe(false);
  });

  it('is waited for no longer than the patience', async () => {
    const file = path.join(temporaryDirectory(), 'config.json');
    mkdirSync(`${file}.lock`);
    const io = fakeIo({ time: 0 });
    await expect(withLock(file, 1_000, io, async () => 'done')).rejects.toMatchObject({
      code: 'timeout',
      message: `another imgctl has held ${file}.lock for 1 s`,
      hint: 'if no other imgctl is running, remove that directory',
    });
    // Once more at the limit itself.
    expect(io.sleeps).toEqual(Array(11).fill(100));
    expect(existsSync(`${file}.lock`)).toBe(true);
  });

  it('is not taken over during another takeover', async () => {
    const file = path.join(temporaryDirectory(), 'config.json');
    leaveLock(file);
    mkdirSync(`${file}.takeover.lock`);
    await expect(
      withLock(file, 1_000, fakeIo({ time: 0 }), async () => 'done'),
    ).rejects.toMatchObject({
      code: 'timeout',
    });
    expect(existsSync(`${file}.lock`)).toBe(true);
  });

  // Not even root can make a directory there.
  it.skipIf(!existsSync('/proc/self'))('is not waited for if none can be made', async () => {
    const io = fakeIo({ time: 0 });
    const locked = withLock('/proc/self/config.json', PATIENCE, io, async () => 'done');
    await expect(locked).rejects.toMatchObject({ code: 'ENOENT' });
    expect(io.sleeps).toEqual([]);
  });

  it('is not waited for after an interrupt', async () => {
    const file = path.join(temporaryDirectory(), 'config.json');
    mkdirSync(`${file}.lock`);
    const io = fakeIo();
    io.interrupt();
    const interrupted = { code: 'interrupted' };
    await expect(withLock(file, PATIENCE, io, async () => 1)).rejects.toMatchObject(interrupted);
    await expect(withLockIfPossible(file, PATIENCE, io, async () => 1)).rejects.toMatchObject(
      interrupted,
    );
  });

  it('is optional for withLockIfPossible if none can be made', async () => {
    const file = path.join(temporaryDirectory(), 'file');
    writeFileSync(file, '');
    const below = path.join(file, 'config.json');
    expect(await withLockIfPossible(undefined, PATIENCE, fakeIo(), async () => 1)).toBe(1);
    expect(await withLockIfPossible(below, PATIENCE, fakeIo(), async () => 2)).toBe(2);
    await expect(withLock(below, PATIENCE, fakeIo(), async () => 3)).rejects.toThrow();
  });
});
