// The lock: one holder at a time, and none forever.

import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { advice } from '../../src/facts.ts';
import { replaceFile } from '../../src/files/atomic-file.ts';
import {
  announceWait,
  holdMutex,
  holdMutexIfPossible,
  MutexLostError,
  withMutex,
} from '../../src/files/mutex.ts';
import type { Io } from '../../src/io.ts';
import { thrownBy } from '../support/errors.ts';
import { fakeIo, impatientIo, temporaryDirectory } from '../support/io.ts';

const PATIENCE = 60_000;

const freshFile = () => path.join(temporaryDirectory(), 'config.json');
/** Names of holders. */
const [A, B] = ['00000000-0000-4000-8000-00000000000a', '00000000-0000-4000-8000-00000000000b'];
const neighbours = (file: string) => fs.readdirSync(path.dirname(file));

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
  await Promise.all(
    Array.from({ length: 8 }, () => withMutex(holdMutex(file, PATIENCE, io), action)),
  );
  return most;
}

describe('the lock', () => {
  const BOTH = [holdMutex, holdMutexIfPossible];

  it('has one holder at a time and leaves nothing behind', async () => {
    const file = freshFile();
    expect({ holding: await contend(file), left: neighbours(file) }).toEqual({
      holding: 1,
      left: [],
    });
  });

  it.each(BOTH)('is released if the action fails, which runs once: %o', async (lock) => {
    const file = freshFile();
    let runs = 0;
    const failing = withMutex(lock(file, PATIENCE, fakeIo()), async () => {
      runs += 1;
      throw new Error('of the action');
    });
    await expect(failing).rejects.toThrow('of the action');
    expect({ runs, left: neighbours(file) }).toEqual({ runs: 1, left: [] });
  });

  it.each([
    ['a minute ago', 60, []],
    ['while the clock was a day ahead', -86_400, []],
    ['after it wrote its file', 60, [A]],
    ['beside another one', 60, [A, B]],
  ])('of a holder that died %s is taken over by one at a time', async (_when, age, names) => {
    const file = freshFile();
    fs.mkdirSync(`${file}.lock`);
    for (const name of names) fs.writeFileSync(path.join(`${file}.lock`, name), '');
    const time = Date.now() / 1000 - age;
    fs.utimesSync(`${file}.lock`, time, time);
    expect({ holding: await contend(file), left: neighbours(file) }).toEqual({
      holding: 1,
      left: [],
    });
  });

  const SKEWS = [-10_000, 10_000];
  it.each(SKEWS)('of a living holder stays its own if clocks differ by %i ms', async (skew) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const file = freshFile();
    const events: string[] = [];
    let release = () => {};
    const first = withMutex(holdMutex(file, PATIENCE, fakeIo({ time: 0 })), async (assertHeld) => {
      events.push('first begins');
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      assertHeld();
      events.push('first ends');
    });
    await expect.poll(() => events).toEqual(['first begins']);
    const io = fakeIo({ time: skew });
    const sleep: Io['sleep'] = (milliseconds, signal) => {
      vi.advanceTimersByTime(milliseconds);
      // A suspension, which may have stopped the holder too.
      if (io.sleeps.length === 50) io.advance(PATIENCE);
      // Twice as long as a lock without renewal lives.
      if (io.sleeps.length === 100) release();
      return io.sleep(milliseconds, signal);
    };
    await withMutex(holdMutex(file, PATIENCE, { ...io, sleep }), async () => {
      events.push('second begins');
      release();
    });
    await first;
    expect(events).toEqual(['first begins', 'first ends', 'second begins']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('of a holder that was stopped is taken over, and the holder notices', async () => {
    const file = freshFile();
    // Its pauses take 1 ms and count as 100, so that it sees no renewal: the holder seems to be stopped.
    const watcher = impatientIo();
    const stopped = withMutex(holdMutex(file, PATIENCE, fakeIo()), async (confirmLost) => {
      confirmLost();
      await withMutex(holdMutex(file, PATIENCE, watcher), async (assertHeld) => {
        const message = `${file}.lock was removed, or another imgctl took it over`;
        const facts = advice('run the command again');
        // With ENOENT as its cause, it would be taken for a folder that cannot be written.
        const error = { code: 'failed', message, facts, cause: undefined };
        expect(thrownBy(confirmLost)).toMatchObject(error);
        assertHeld();
      });
      return neighbours(file);
    });
    expect(await stopped).toEqual([]);
  });

  it('is confirmed right before a file is put in place, so that a holder that hung overwrites nothing', async () => {
    const file = freshFile();
    const hung = withMutex(holdMutex(file, PATIENCE, fakeIo()), (assertHeld) =>
      replaceFile(file, 'of the one that hung', {
        assertHeld,
        create: async (staging) => {
          fs.writeFileSync(staging, 'of the one that hung');
          await withMutex(holdMutex(file, PATIENCE, impatientIo()), (confirmOther) =>
            replaceFile(file, 'of the other', { assertHeld: confirmOther }),
          );
        },
      }),
    );
    await expect(hung).rejects.toThrow(MutexLostError);
    expect(fs.readFileSync(file, 'utf8')).toBe('of the other');
    expect(neighbours(file)).toEqual(['config.json']);
  });

  it('of another process stays when one that lost its own lock ends', async () => {
    const file = freshFile();
    let isTaken = false;
    let isOver = false;
    let second: Promise<boolean> | undefined;
    await withMutex(holdMutex(file, PATIENCE, fakeIo()), async () => {
      second = withMutex(holdMutex(file, PATIENCE, impatientIo()), async (assertHeld) => {
        isTaken = true;
        await expect.poll(() => isOver).toBe(true);
        assertHeld();
        return true;
      });
      await expect.poll(() => isTaken).toBe(true);
    });
    isOver = true;
    expect(await second).toBe(true);
    expect(fs.existsSync(`${file}.lock`)).toBe(false);
  });

  it.each([
    ['a folder of another program', (lock: string, folder: string) => fs.renameSync(folder, lock)],
    ['a link to a folder', (lock: string, folder: string) => fs.symlinkSync(folder, lock)],
    ['a link to nothing', (lock: string) => fs.symlinkSync('nothing', lock)],
    ['a file', (lock: string) => fs.writeFileSync(lock, '')],
  ])('is not taken from %s, which stays as it is', async (_what, place) => {
    const file = freshFile();
    const folder = temporaryDirectory();
    for (const name of ['id_rsa', 'known_hosts']) fs.writeFileSync(path.join(folder, name), '');
    place(`${file}.lock`, folder);
    const entries = () =>
      [path.dirname(file), folder]
        .filter(fs.existsSync)
        .map((name) => fs.readdirSync(name, { recursive: true }));
    const before = entries();
    const io = fakeIo({ time: 0 });
    const locked = withMutex(holdMutex(file, PATIENCE, io), async () => 1);
    await expect(locked).rejects.toThrow(`${file}.lock was not created by imgctl`);
    expect(await withMutex(holdMutexIfPossible(file, PATIENCE, io), async () => 2)).toBe(2);
    expect(entries()).toEqual(before);
    expect(io.sleeps).toEqual([]);
  });

  it('is stale once it has not changed for 5 s', async () => {
    const file = freshFile();
    fs.mkdirSync(`${file}.lock`);
    fs.writeFileSync(path.join(`${file}.lock`, `${A}`), '');
    const io = fakeIo({ time: 0 });
    const onWait = vi.fn();
    expect(await withMutex(holdMutex(file, PATIENCE, io, onWait), async () => 'done')).toBe('done');
    // Each pause takes 100 ms.
    expect(io.sleeps).toHaveLength(51);
    expect(onWait).toHaveBeenCalledTimes(1);
  });

  it('is waited for no longer than the patience', async () => {
    const file = freshFile();
    fs.mkdirSync(`${file}.lock`);
    const io = fakeIo({ time: 0 });
    await expect(withMutex(holdMutex(file, 1_000, io), async () => 'done')).rejects.toMatchObject({
      code: 'locked',
      exitCode: 1,
      message: `another imgctl has locked ${file}.lock for 1 s`,
      facts: advice('if no other imgctl is running, remove that directory'),
    });
    // Once more at the limit itself.
    expect(io.sleeps).toEqual(Array(11).fill(100));
    expect(fs.existsSync(`${file}.lock`)).toBe(true);
  });

  it.each(BOTH)('is not waited for after an interrupt: %o', async (lock) => {
    const file = freshFile();
    fs.mkdirSync(`${file}.lock`);
    const io = fakeIo();
    io.interrupt();
    const interrupted = { code: 'interrupted' };
    await expect(withMutex(lock(file, PATIENCE, io), async () => 1)).rejects.toMatchObject(
      interrupted,
    );
  });

  it('fails at once if it cannot be made, and holdMutexIfPossible does without it', async () => {
    const file = path.join(temporaryDirectory(), 'file');
    fs.writeFileSync(file, '');
    const io = fakeIo({ time: 0 });
    // Not even root can make a directory in /proc.
    const files = [path.join(file, 'config.json'), '/proc/self/config.json'];
    for (const below of fs.existsSync('/proc/self') ? files : files.slice(0, 1)) {
      await expect(withMutex(holdMutex(below, PATIENCE, io), async () => 1)).rejects.toThrow(/^E/);
      expect(await withMutex(holdMutexIfPossible(below, PATIENCE, io), async () => 2)).toBe(2);
    }
    const isLocked = async () => fs.existsSync('undefined.lock');
    expect(await withMutex(holdMutexIfPossible(undefined, PATIENCE, io), isLocked)).toBe(false);
    expect(io.sleeps).toEqual([]);
  });

  type Fault = (folder: string) => void;
  const failing =
    (code: string, syscall: string): Fault =>
    () => {
      throw Object.assign(new Error(code), { code, syscall });
    };

  /** Holds the lock of a file, while the first call of a function of fs does something else. */
  async function holdWhile(
    name: 'mkdirSync' | 'readdirSync' | 'utimesSync' | 'writeFileSync',
    other: Fault,
  ) {
    const file = freshFile();
    const spy = vi.spyOn(fs, name);
    // The folder above the lock exists.
    if (name === 'mkdirSync') spy.mockImplementationOnce(() => undefined);
    spy.mockImplementationOnce(() => void other(`${file}.lock`));
    onTestFinished(() => spy.mockRestore());
    const held = await withMutex(holdMutex(file, PATIENCE, impatientIo()), async (assertHeld) => {
      assertHeld();
      return fs.readdirSync(`${file}.lock`);
    }).finally(() => expect(fs.existsSync(`${file}.lock`)).toBe(false));
    return held.length;
  }

  const released = failing('EEXIST', 'mkdir');
  const removed: Fault = (folder) => {
    fs.rmdirSync(folder);
    failing('ENOENT', 'open')(folder);
  };
  const broken: Fault = (folder) => {
    for (const name of fs.readdirSync(folder)) fs.unlinkSync(path.join(folder, name));
    fs.rmdirSync(folder);
    failing('ENOENT', 'scandir')(folder);
  };
  const taken: Fault = (folder) => {
    for (const name of [A, B]) fs.writeFileSync(path.join(folder, name), '');
  };

  it.each([
    ['is free if its holder released it between two looks', 'mkdirSync', released],
    ['is taken again if another process removed its empty folder', 'writeFileSync', removed],
    ['is taken again if a logout broke it before it was held', 'readdirSync', broken],
    ['is not held beside another process that took its folder', 'writeFileSync', taken],
    ['stays held if it cannot be renewed for a moment', 'utimesSync', failing('EROFS', 'utime')],
  ] as const)('%s', async (_what, name, fault) => {
    expect(await holdWhile(name, fault)).toBe(1);
  });

  it('is not left behind if its file cannot be written', async () => {
    await expect(holdWhile('writeFileSync', failing('ENOSPC', 'open'))).rejects.toThrow('ENOSPC');
  });
});

it('a wait for the lock is announced each 30 s until it ends', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const say = vi.fn();
  const held = announceWait(new Promise((resolve) => setImmediate(resolve, 'held')), say);
  vi.advanceTimersByTime(60_000);
  expect(await held).toBe('held');
  vi.advanceTimersByTime(60_000);
  expect(say).toHaveBeenCalledTimes(2);
});
