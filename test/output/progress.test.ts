// Progress on a terminal, with a clock that the test moves, and elsewhere.

import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { footerText } from '../../src/cli/result.ts';
import { Console } from '../../src/console.ts';
import { ImgctlError } from '../../src/errors.ts';
import type { Sink } from '../../src/io.ts';
import type { Terminal } from '../../src/output/terminal.ts';
import { displayWidth } from '../../src/output/width.ts';
import { fakeIo } from '../support/io.ts';
import { MemorySink, PIPE, terminalOf } from '../support/memory-sink.ts';

function start({
  terminal = terminalOf(40),
  quiet = false,
  onlyIfRedrawn = true,
  isPiped = false,
} = {}) {
  const sink = new MemorySink(terminal.width ?? 40);
  const stdout: Sink = { isTTY: !isPiped, columns: 40, write: (data) => sink.write(data) };
  const io = { ...fakeIo(), stdout, stderr: sink };
  const console = new Console(io, {
    quiet,
    writesJson: false,
    debug: false,
    errorTerminal: terminal,
    hintOf: String,
  });
  console.progress.start({ onlyIfRedrawn });
  return { sink, stdout, console };
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
    // ora draws nothing there by default.
    vi.stubEnv('CI', 'true');
    onTestFinished(() => void vi.unstubAllEnvs());
    const { sink, console } = start();
    const listeners = () => process.eventNames().map((name) => process.listenerCount(name));
    const before = listeners();
    let seconds = 0;
    console.progress.show('sync 41: PENDING', () => `sync 41: PENDING ${++seconds} s`);
    expect(sink.written).toBe('');
    await pass(100);
    expect(sink.text).toBe('⠋ sync 41: PENDING 1 s');
    await pass(100);
    expect(sink.text).toBe('⠙ sync 41: PENDING 2 s');
    expect(listeners()).toEqual(before);
    console.progress.show('done');
    await pass(100);
    expect(sink.text).toBe('⠹ done');
    console.stalled('waiting');
    await pass(100);
    expect(sink.text).toBe('⠸ waiting');
    console.waiting('server limits requests');
    await pass(100);
    expect(sink.text).toBe('⠼ server limits requests');
    console.progress.end();
    await pass(300);
    console.progress.end();
    console.progress.show('more');
    await pass(300);
    expect(sink.text).toBe('');
    expect(vi.getTimerCount()).toBe(0);
    console.waiting('server limits requests');
    console.stalled('no response');
    await console.flush();
    expect(sink.text).toBe('imgctl: server limits requests\nimgctl: no response\n');
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
    // As on a terminal, where ora would colour the frames.
    const { default: chalk } = await import('chalk');
    const { level } = chalk;
    chalk.level = 1;
    onTestFinished(() => {
      chalk.level = level;
    });
    const { sink, console } = start({ terminal });
    console.progress.show(text);
    await pass(100);
    const frame = sink.text;
    console.progress.end();
    expect(frame).toMatch(expected);
    expect(displayWidth(frame.replaceAll(/\u001b\[\d+m/g, ''))).toBeLessThan(40);
  });

  it('fits the width that the window has at each frame, and is silent at 0 columns', async () => {
    const { sink, console } = start();
    console.progress.show('0123456789'.repeat(5));
    await pass(100);
    expect(sink.text).toHaveLength(39);
    sink.columns = 20;
    await pass(100);
    expect(sink.text).toHaveLength(19);
    sink.columns = 0;
    await pass(1_000);
    const { length } = sink.written;
    await pass(1_000);
    await console.print('row\n');
    console.progress.end();
    expect(sink.written.slice(length)).toBe('row\n');
  });

  it('erases the line before other writes and draws it again after them, until it stops', async () => {
    const { sink, stdout, console } = start();
    console.stalled('too early');
    await pass(100);
    console.progress.show('page 1');
    let shown = '';
    vi.spyOn(stdout, 'write').mockImplementationOnce(async (row) => {
      await pass(100);
      shown = sink.text;
      await sink.write(row);
    });
    await console.print('row 1\n');
    expect(shown).toBe('imgctl: too early\n');
    expect(sink.text).toBe('imgctl: too early\nrow 1\n⠋ page 1');
    await console.print('row 2\n');
    expect(sink.text).toBe('imgctl: too early\nrow 1\nrow 2\n⠋ page 1');
    console.progress.end();
    await console.print('end\n');
    expect(sink.text).toBe('imgctl: too early\nrow 1\nrow 2\nend\n');
  });

  it('stays while a pipe takes long to read a row', async () => {
    const { sink, stdout, console } = start({ isPiped: true });
    console.progress.show('page 1');
    await pass(100);
    let shown = '';
    vi.spyOn(stdout, 'write').mockImplementationOnce(async () => {
      await pass(100);
      shown = sink.text;
    });
    await console.print('row');
    expect(shown).toBe('⠙ page 1');
    await console.flush();
    expect(sink.text).toBe('');
  });

  it('is not drawn again after a write that fails, nor if it ends during a write', async () => {
    const { sink, stdout, console } = start();
    const write = vi.spyOn(stdout, 'write');
    console.progress.show('page 1');
    await pass(100);
    write.mockImplementationOnce(async () => console.progress.end());
    await console.print('row\n');
    expect(sink.text).toBe('');
    console.progress.start();
    console.progress.show('page 2');
    await pass(100);
    write.mockRejectedValueOnce(new Error('gone'));
    await expect(console.print('row\n')).rejects.toThrow('gone');
    await pass(300);
    expect(sink.text).toBe('');
  });

  it('shows one step at a time, also if the next begins while the first is loaded', async () => {
    const { sink, console } = start();
    console.progress.show('page 1');
    vi.advanceTimersByTime(100);
    console.progress.start();
    console.progress.show('page 2');
    await console.print('row\n');
    await pass(100);
    expect(sink.written).not.toContain('page 1');
    expect(sink.text).toBe('row\n⠋ page 2');
    console.progress.start();
    await pass(300);
    expect(sink.text).toBe('row\n');
    await console.flush();
    expect(vi.getTimerCount()).toBe(0);
  });
});

it('progress without a terminal writes a line per change of text, and one each 30 s between', async () => {
  const { sink, console } = start({ terminal: PIPE, onlyIfRedrawn: false });
  let time = 0;
  const each = (text: string, seconds: number) => {
    for (let second = 0; second < seconds; second += 1) {
      console.progress.show(text, () => `at ${time}`);
      time += 1;
      vi.advanceTimersByTime(1_000);
    }
  };
  each('', 40);
  each('first', 29);
  each('second', 61);
  await console.flush();
  vi.advanceTimersByTime(60_000);
  await console.flush();
  expect(sink.written).toBe('at 30\nfirst\nsecond\nat 99\nat 129\n');
  expect(vi.getTimerCount()).toBe(0);
});

it('progress without a terminal says what it waits for, until the next update', async () => {
  const { sink, console } = start({ terminal: PIPE, onlyIfRedrawn: false });
  console.stalled('too early');
  const describe = (waiting = 'working') => waiting;
  for (const text of ['', '']) console.progress.show(text, describe);
  console.stalled('waiting');
  vi.advanceTimersByTime(60_000);
  console.stalled('outdated');
  console.progress.show('next');
  vi.advanceTimersByTime(30_000);
  await console.flush();
  expect(sink.written).toBe('imgctl: too early\nwaiting\nwaiting\nnext\nnext\n');
});

it('progress without a terminal writes a text once, escaped', async () => {
  const { sink, console } = start({ terminal: PIPE, onlyIfRedrawn: false });
  console.progress.show('sync 41: PENDING', () => '1 s');
  console.progress.show('sync 41: PENDING', () => '2 s');
  console.progress.show('sync 41: \u001b[31mPROCESSED');
  console.warn('late');
  await console.flush();
  const lines = 'sync 41: PENDING\nsync 41: \\u001b[31mPROCESSED\nimgctl: warning: late\n';
  expect(sink.written).toBe(lines);
});

it.each<[string, Parameters<typeof start>[0], number]>([
  ['if the run ends within 100 ms', {}, 99],
  ['in a pipe without lines', { terminal: PIPE }, 500],
  ['with -q on a terminal', { quiet: true }, 500],
  ['with -q in a pipe', { terminal: PIPE, quiet: true, onlyIfRedrawn: false }, 500],
  ['at 0 columns', { terminal: { ...terminalOf(40), width: undefined, interactive: false } }, 500],
])('progress writes nothing %s', async (_case, options, milliseconds) => {
  const { sink, console } = start(options);
  console.progress.show('page 1');
  await pass(milliseconds);
  console.progress.end();
  expect(vi.getTimerCount()).toBe(0);
  await pass(500);
  expect(sink.written).toBe('');
  expect(vi.getTimerCount()).toBe(0);
});

it('an error is written after the last line of progress', async () => {
  const { sink, console } = start({ terminal: PIPE, onlyIfRedrawn: false });
  vi.spyOn(sink, 'write').mockImplementationOnce(async (line) => {
    for (let turns = 0; turns < 5; turns += 1) await new Promise(setImmediate);
    await sink.write(line);
  });
  console.progress.show('page 1');
  await console.fail(new ImgctlError('failed', 'no images'));
  expect(sink.written).toBe('page 1\nimgctl: no images\n');
});

it('what follows a write that fails is written all the same', async () => {
  const { sink, stdout, console } = start();
  vi.spyOn(sink, 'write').mockRejectedValueOnce(new Error('EIO'));
  console.warn('lost');
  await console.print('row\n');
  vi.spyOn(stdout, 'write').mockRejectedValueOnce(new Error('EIO'));
  await expect(console.print('lost\n')).rejects.toThrow('EIO');
  console.warn('shown');
  await console.fail(new ImgctlError('failed', 'no images'));
  expect(sink.written).toBe('row\nimgctl: warning: shown\nimgctl: no images\n');
});

it.each([
  [undefined, [], true, ''],
  ['3 images', [], true, '3 images\n'],
  [undefined, ['id', 'path'], true, 'hidden: id, path (--no-trunc)\n'],
  ['3 of 9\u001b[2J', ['id'], false, '3 of 9\\u001b[2J; hidden: id (-o json)\n'],
  ['word '.repeat(9).trim(), [], true, `${'word '.repeat(8).trim()}\nword\n`],
])(
  'the line below a table for %j and the hidden columns %j (--no-trunc: %s) is %j',
  async (...row) => {
    const [summary, hidden, takesColumns, expected] = row;
    const { sink, console } = start();
    console.footer(footerText(summary, hidden, { takesColumns }));
    await console.flush();
    expect(sink.written).toBe(expected);
  },
);
