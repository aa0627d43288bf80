// Progress on a terminal, with a clock that the test moves, and elsewhere.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Console } from '../../src/console.ts';
import { ImgctlError } from '../../src/errors.ts';
import type { Progress } from '../../src/output/progress.ts';
import type { Terminal } from '../../src/output/terminal.ts';
import { displayWidth } from '../../src/output/width.ts';
import { fakeIo } from '../support/io.ts';
import { MemorySink, PIPE, terminalOf } from '../support/memory-sink.ts';

function start({ terminal = terminalOf(40), quiet = false, isBrief = true } = {}) {
  const sink = new MemorySink(terminal.width ?? 40);
  const io = { ...fakeIo(), stdout: sink, stderr: sink };
  const errorFormat = { json: false, debug: false };
  const console = new Console(io, {
    quiet,
    errorFormat,
    errorTerminal: terminal,
    hintOf: String,
  });
  return { sink, console, progress: console.startProgress({ isBrief }) as Progress };
}

/** Moves the clock, and waits for what that starts. */
async function pass(milliseconds: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(milliseconds);
  await import('ora');
  await import('../../src/output/width.ts');
  for (let turns = 0; turns < 5; turns += 1) await new Promise(setImmediate);
}

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'],
  });
});
afterEach(() => void vi.useRealTimers());

describe('progress on a terminal', () => {
  it('redraws one line and erases it, without a listener on the process', async () => {
    const { sink, progress } = start();
    const listeners = () => process.eventNames().map((name) => process.listenerCount(name));
    const before = listeners();
    let seconds = 0;
    progress.update('sync 41: PENDING', () => `sync 41: PENDING ${++seconds} s`);
    expect(sink.written).toBe('');
    await pass(100);
    expect(sink.text).toBe('⠋ sync 41: PENDING 1 s');
    await pass(100);
    expect(sink.text).toBe('⠙ sync 41: PENDING 2 s');
    expect(listeners()).toEqual(before);
    expect(progress.update('done')).toBe(true);
    await pass(100);
    expect(sink.text).toBe('⠹ done');
    expect(progress.stalled('waiting')).toBe(true);
    await pass(100);
    expect(sink.text).toBe('⠸ waiting');
    await progress.stop();
    await pass(300);
    await progress.stop();
    expect(sink.text).toBe('');
    expect(progress.update('more')).toBe(false);
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each<[string, Terminal, string, RegExp]>([
    ['in colour', { ...terminalOf(40), color: true }, 'page 1', /^\u001b\[36m.\u001b\[39m page 1$/],
    ['in ASCII', terminalOf(12, false), 'reading all', /^[|/] read\.\.\.ll$/],
    [
      'with its end',
      terminalOf(40),
      'an-appliance.ova: reading 19 %, 534 MiB/s, 3 s left',
      /^[⠋⠙] an-a….* 19 %, 534 MiB\/s, 3 s left$/,
    ],
    ['escaped', terminalOf(40), '日本語\u001b[2J\n\u202e'.repeat(9), /^[⠋⠙] 日[^\u001b\n\u202e]+$/],
  ])('is drawn %s, narrower than the terminal', async (_how, terminal, text, expected) => {
    await import('chalk');
    const { sink, progress } = start({ terminal });
    progress.update(text);
    await pass(100);
    const frame = sink.text;
    await progress.stop();
    expect(frame).toMatch(expected);
    expect(displayWidth(frame.replaceAll(/\u001b\[\d+m/g, ''))).toBeLessThan(40);
  });

  it('fits the width that the window has at each frame, and is silent at 0 columns', async () => {
    const { sink, progress } = start();
    progress.update('0123456789'.repeat(5));
    await pass(100);
    expect(sink.text).toHaveLength(39);
    sink.columns = 20;
    await pass(100);
    expect(sink.text).toHaveLength(19);
    sink.columns = 0;
    await pass(1_000);
    const { length } = sink.written;
    await pass(1_000);
    await progress.whilePaused(() => sink.write('warning\n'));
    await progress.stop();
    expect(sink.written.slice(length)).toBe('warning\n');
  });

  it('erases the line before other writes and draws it again after them, until it stops', async () => {
    const { sink, console, progress } = start();
    expect(progress.stalled('too early')).toBe(false);
    progress.update('page 1');
    expect(await progress.whilePaused(() => pass(100).then(() => sink.written))).toBe('');
    expect(sink.text).toBe('⠋ page 1');
    await console.print('row\n');
    expect(sink.text).toBe('row\n⠋ page 1');
    await progress.stop();
    await console.print('end\n');
    expect(sink.text).toBe('row\nend\n');
    await expect(progress.whilePaused(() => Promise.reject(new Error('gone')))).rejects.toThrow(
      'gone',
    );
    const brief = start();
    brief.progress.update('page 1');
    vi.advanceTimersByTime(100);
    await brief.progress.stop();
    await pass(100);
    expect(brief.sink.written).toBe('');
  });
});

it('progress without a terminal writes a line per change of text, and one each 30 s between', async () => {
  const { sink, progress } = start({ terminal: PIPE, isBrief: false });
  let time = 0;
  const each = (text: string, seconds: number) => {
    for (let second = 0; second < seconds; second += 1) {
      progress.update(text, () => `at ${time}`);
      time += 1;
      vi.advanceTimersByTime(1_000);
    }
  };
  each('', 40);
  each('first', 29);
  each('second', 61);
  await progress.stop();
  vi.advanceTimersByTime(60_000);
  expect(sink.written).toBe('at 30\nfirst\nsecond\nat 99\nat 129\n');
  expect(vi.getTimerCount()).toBe(0);
});

it('progress without a terminal says once what it waits for, until the next update', async () => {
  const { sink, progress } = start({ terminal: PIPE, isBrief: false });
  expect(progress.stalled('too early')).toBe(false);
  const describe = (waiting = 'working') => waiting;
  expect([progress.update('', describe), progress.update('', describe)]).toEqual([true, true]);
  expect(progress.stalled('waiting')).toBe(true);
  vi.advanceTimersByTime(60_000);
  progress.stalled('outdated');
  expect(progress.update('next')).toBe(true);
  vi.advanceTimersByTime(30_000);
  await progress.stop();
  expect([progress.update('late'), progress.stalled('late')]).toEqual([false, false]);
  expect(sink.written).toBe('waiting\nworking\nnext\nnext\n');
});

it('progress without a terminal writes a text once, escaped', async () => {
  const { sink, progress } = start({ terminal: PIPE, isBrief: false });
  progress.update('sync 41: PENDING', () => '1 s');
  expect(progress.update('sync 41: PENDING', () => '2 s')).toBe(true);
  progress.update('sync 41: \u001b[31mPROCESSED');
  await progress.whilePaused(() => sink.write('warning\n'));
  await progress.stop();
  expect(progress.update('more')).toBe(false);
  expect(sink.written).toBe('sync 41: PENDING\nsync 41: \\u001b[31mPROCESSED\nwarning\n');
});

it.each<[string, Parameters<typeof start>[0], number]>([
  ['if the run ends within 100 ms', {}, 99],
  ['in a pipe without lines', { terminal: PIPE }, 500],
  ['with -q on a terminal', { quiet: true }, 500],
  ['with -q in a pipe', { terminal: PIPE, quiet: true, isBrief: false }, 500],
  ['at 0 columns', { terminal: { ...terminalOf(40), width: undefined, interactive: false } }, 500],
])('progress writes nothing %s', async (_case, options, milliseconds) => {
  const { sink, progress } = start(options);
  progress?.update('page 1');
  await pass(milliseconds);
  await progress?.stop();
  await pass(500);
  expect(sink.written).toBe('');
  expect(vi.getTimerCount()).toBe(0);
});

it('an error is written after the last line of progress', async () => {
  const { sink, console, progress } = start({ terminal: PIPE, isBrief: false });
  vi.spyOn(sink, 'write').mockImplementationOnce(async (line) => {
    for (let turns = 0; turns < 5; turns += 1) await new Promise(setImmediate);
    await sink.write(line);
  });
  progress.update('page 1');
  await console.fail(new ImgctlError('failed', 'no images'));
  expect(sink.written).toBe('page 1\nimgctl: no images\n');
});

it('what follows a write that fails is written all the same', async () => {
  const { sink, console } = start();
  const write = vi.spyOn(sink, 'write').mockRejectedValueOnce(new Error('EIO'));
  console.warn('lost');
  await console.print('row\n');
  write.mockRejectedValueOnce(new Error('EIO'));
  await expect(console.print('lost\n')).rejects.toThrow('EIO');
  console.warn('shown');
  await console.fail(new ImgctlError('failed', 'no images'));
  expect(sink.written).toBe('row\nimgctl: warning: shown\nimgctl: no images\n');
});
