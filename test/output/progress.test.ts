// Progress on a terminal and elsewhere, with manual ticks.

import { describe, expect, it, vi } from 'vitest';
import { createProgress, type ProgressOptions } from '../../src/output/progress.ts';
import { displayWidth } from '../../src/output/terminal.ts';
import { MemorySink, PIPE, terminalOf } from '../support/memory-sink.ts';
import { RAW_HARM } from './hostile.ts';

const ERASE = '\r\u001b[K';

function start(options: Partial<ProgressOptions> = {}) {
  const sink = new MemorySink(40);
  const clock = { tick: () => {}, ticking: false };
  const progress = createProgress({
    sink,
    terminal: terminalOf(40),
    quiet: false,
    lines: false,
    startTicking(tick) {
      clock.tick = tick;
      clock.ticking = true;
      return () => {
        clock.ticking = false;
      };
    },
    ...options,
  });
  /** Waits for all writes of one tick. */
  const tick = async () => {
    clock.tick();
    await new Promise(setImmediate);
  };
  return { sink, clock, progress, tick };
}

describe('progress on a terminal', () => {
  it('redraws one line and erases it', async () => {
    const { sink, clock, progress, tick } = start();
    let seconds = 0;
    progress.update('sync 41: PENDING', () => {
      seconds += 1;
      return `${seconds} s`;
    });
    expect(sink.pieces).toEqual([]);
    await tick();
    await tick();
    progress.update('done');
    await tick();
    await progress.stop();
    expect(sink.pieces).toEqual([
      `${ERASE}⠙ sync 41: PENDING 1 s`,
      `${ERASE}⠹ sync 41: PENDING 2 s`,
      `${ERASE}⠸ done`,
      ERASE,
    ]);
    expect(clock.ticking).toBe(false);
    await tick();
    await progress.stop();
    expect(sink.pieces).toHaveLength(4);
  });

  it('shows nothing if the run ends before the first tick', async () => {
    const { sink, progress, tick } = start();
    await tick();
    progress.update('page 1');
    await progress.stop();
    expect(sink.text).toBe('');
  });

  it('uses ASCII without Unicode support', async () => {
    const { sink, progress, tick } = start({ terminal: terminalOf(12, false) });
    progress.update('reading all pages');
    await tick();
    expect(sink.text).toBe(`${ERASE}/ readin...`);
  });

  it('shows any text escaped and on one line', async () => {
    const { sink, progress, tick } = start();
    progress.update('日本語\u001b[2J\n\u202e'.repeat(9));
    await tick();
    const line = sink.text.slice(ERASE.length);
    expect(line).not.toMatch(RAW_HARM);
    expect(displayWidth(line)).toBeLessThan(40);
  });

  it('erases the line before other writes', async () => {
    const { sink, progress, tick } = start();
    progress.update('page 1');
    await tick();
    expect(await progress.aside(() => sink.write('warning\n').then(() => 5))).toBe(5);
    await tick();
    await progress.stop();
    expect(sink.pieces).toEqual([
      `${ERASE}⠙ page 1`,
      ERASE,
      'warning\n',
      `${ERASE}⠹ page 1`,
      ERASE,
    ]);
    await expect(progress.aside(() => Promise.reject(new Error('gone')))).rejects.toThrow('gone');
  });

  it('skips redraws on a slow terminal', async () => {
    const pieces: string[] = [];
    let release = () => {};
    const sink = {
      isTTY: true,
      columns: 40,
      write(text: string) {
        pieces.push(text);
        return new Promise<void>((resolve) => {
          release = resolve;
        });
      },
    };
    const { progress, tick } = start({ sink });
    progress.update('page 1');
    for (let count = 0; count < 5; count += 1) await tick();
    expect(pieces).toEqual([`${ERASE}⠙ page 1`]);
    release();
    const stopped = progress.stop();
    await new Promise(setImmediate);
    release();
    await stopped;
    expect(pieces).toEqual([`${ERASE}⠙ page 1`, ERASE]);
  });

  it('ignores write errors', async () => {
    const sink = { isTTY: true, columns: 40, write: () => Promise.reject(new Error('EIO')) };
    const { progress, tick } = start({ sink });
    progress.update('page 1');
    await tick();
    await expect(progress.stop()).resolves.toBeUndefined();
  });
});

describe('progress with its own timer', () => {
  it('draws without keeping the process alive', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout');
    const before = timers();
    const sink = new MemorySink(40);
    const options = { sink, terminal: terminalOf(40), quiet: false, lines: false };
    const progress = createProgress(options);
    progress.update('page 1');
    expect(timers()).toEqual(before);
    await vi.waitFor(() => expect(sink.text).toMatch(`${ERASE}⠙ page 1`));
    await progress.stop();
  });
});

describe('progress without a terminal', () => {
  it('writes a line per change of text', async () => {
    const { sink, progress } = start({ terminal: PIPE, lines: true });
    progress.update('sync 41: PENDING', () => '1 s');
    progress.update('sync 41: PENDING', () => '2 s');
    progress.update('sync 41: \u001b[31mPROCESSED');
    await progress.aside(() => sink.write('warning\n'));
    await progress.stop();
    expect(sink.text).toBe('sync 41: PENDING\nsync 41: \\u001b[31mPROCESSED\nwarning\n');
  });

  it.each([
    ['without lines', { terminal: PIPE }],
    ['quiet on a terminal', { quiet: true }],
    ['quiet in a pipe', { terminal: PIPE, quiet: true, lines: true }],
    ['0 columns', { terminal: { ...terminalOf(40), width: undefined, interactive: false } }],
  ])('writes nothing: %s', async (_case, options) => {
    const { sink, clock, progress, tick } = start(options);
    progress.update('page 1');
    await tick();
    await progress.stop();
    expect(sink.text).toBe('');
    expect(clock.ticking).toBe(false);
  });
});
