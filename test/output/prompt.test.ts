// Prompts on the terminal.

import { getEventListeners } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { advice } from '../../src/facts.ts';
import type { Sink } from '../../src/io.ts';
import { ask } from '../../src/output/prompt.ts';
import { cpuSeconds } from '../support/cpu.ts';
import { type FakeInput, type FakeIo, fakeIo, fakeTerminal } from '../support/io.ts';

const prompt = (what: string, label: string, hidden: boolean) => ({
  ...{ what, label, hidden },
  otherwise: advice(`provide it with ${'--option'}`),
});
const PASSWORD = prompt('password', 'Password', true);
const USER_NAME = prompt('user name', 'User name', false);

/** A terminal that is still read would keep the process alive. */
function expectLeft(terminal: FakeInput, io: FakeIo): void {
  const events = ['data', 'end', 'error'];
  const own = events.flatMap((event) => terminal.listeners(event));
  const listeners = [...own, ...getEventListeners(io.signal, 'abort')];
  expect([listeners, terminal.isPaused()]).toEqual([[], true]);
}

describe('a hidden prompt', () => {
  it.each([
    ['a line feed', 'secret\n', 'secret'],
    ['backspace', 'sex\u007fcret\r', 'secret'],
    ['the other backspace', 'sex\bcret\r', 'secret'],
    ['one backspace too many', 'x\u007f\u007fsecret\r', 'secret'],
    ['backspace over a letter beyond 16 bits', 'a😀\u007fb\r', 'ab'],
    ['Ctrl-U, which starts over', 'wrong\u0015secret\r', 'secret'],
    [
      'Ctrl-W, which erases a word and the spaces behind it',
      '😀 wrong  \u0017secret\r',
      '😀 secret',
    ],
    ['Ctrl-W in an empty line', '\u0017secret\r', 'secret'],
    ['arrow keys, also with Alt', 'sec\u001b[D\u001bOC\u001b[3~\u001b\u001b[Aret\r', 'secret'],
    ['keys with modifiers, and pasted text', '\u001b[1;5Dsec\u001b[200~ret\u001b[201~\r', 'secret'],
    ['function keys of the Linux console', 'sec\u001b[[Aret\u001bOP\r', 'secret'],
    ['Esc, and Enter within a sequence', '\u001bsecret\u001b[\r', 'secret'],
    ['Ctrl-D in the middle, which is ignored', 'sec\u0004ret\r', 'secret'],
  ])('accepts %s, at once or in pieces', async (_what, typed, input) => {
    const terminal = fakeTerminal(typed);
    const io = fakeIo({ stdin: terminal });
    expect(await ask(io, PASSWORD)).toBe(input);
    expectLeft(terminal, io);
    expect(terminal.rawModes).toEqual([true, false]);
    expect([io.stderr.text, io.stdout.text]).toEqual(['Password: \n', '']);
    const slow = fakeTerminal();
    const asked = ask(fakeIo({ stdin: slow }), PASSWORD);
    for (const key of typed) {
      slow.type(key);
      // The next key is another chunk.
      await setImmediate();
    }
    expect(await asked).toBe(input);
  });

  it('is shown again after an empty line, three times in all', async () => {
    const io = fakeIo({ stdin: fakeTerminal('\r\rsecret\r') });
    expect(await ask(io, PASSWORD)).toBe('secret');
    expect(io.stderr.text).toBe('Password: \n'.repeat(3));
  });

  it('does not echo input that arrives with the prompt', async () => {
    const terminal = fakeTerminal();
    const modes: boolean[][] = [];
    const write = async () => {
      modes.push([...terminal.rawModes]);
      if (modes.length === 1) terminal.type('secret\r');
    };
    const stderr: Sink = { isTTY: true, columns: 80, write };
    expect(await ask({ ...fakeIo({ stdin: terminal }), stderr }, PASSWORD)).toBe('secret');
    expect(modes[0]).toEqual([true]);
  });
});

it('a visible prompt leaves the echo to the terminal, and input typed ahead to the next prompt', async () => {
  const terminal = fakeTerminal('demo\r\nsecret\ndem\u0003');
  const io = fakeIo({ stdin: terminal });
  expect(await ask(io, USER_NAME)).toBe('demo');
  expect(terminal.rawModes).not.toContain(true);
  expect(io.stderr.text).toBe('User name: ');
  expect(await ask(io, PASSWORD)).toBe('secret');
  await expect(ask(io, USER_NAME)).rejects.toMatchObject({ code: 'interrupted' });
  expect(io.stderr.text).toBe('User name: Password: \nUser name: \n');
});

describe('a prompt', () => {
  it.each([
    ['Ctrl-C', 'sec\u0003ret\r', 'interrupted'],
    ['Ctrl-C within a sequence', 'sec\u001b[1\u0003', 'interrupted'],
    ['Ctrl-\\', 'sec\u001cret\r', 'quit'],
    ['Ctrl-D', '\u0004', 'no input (end of file)'],
    ['three empty lines', '\r\r\r', 'no password entered'],
    ['lines emptied by Ctrl-U', 'a\u0015\r\u0015\r\r', 'no password entered'],
  ])('fails at %s and restores the terminal', async (_what, typed, message) => {
    const terminal = fakeTerminal(typed);
    const facts = message.startsWith('no ') ? PASSWORD.otherwise : undefined;
    const io = fakeIo({ stdin: terminal });
    await expect(ask(io, PASSWORD)).rejects.toMatchObject({ message, facts });
    expectLeft(terminal, io);
    expect(terminal.rawModes.slice(-2)).toEqual([true, false]);
  });

  it.each<[string, string, string, (terminal: FakeInput, io: FakeIo) => unknown]>([
    ['at the end of the terminal', 'usage', 'no input (end of file)', (input) => input.end()],
    [
      'if the terminal cannot be read',
      'failed',
      'cannot read the input: EIO',
      (input) => input.destroy(new Error('EIO')),
    ],
    ['at an interrupt', 'terminated', 'terminated', (_, io) => io.interrupt('terminated')],
  ])('ends %s', async (_when, code, message, end) => {
    for (const isShown of [true, false]) {
      const terminal = fakeTerminal();
      const io = fakeIo({ stdin: terminal });
      if (!isShown) end(terminal, io);
      const asked = ask(io, PASSWORD);
      if (isShown) await expect.poll(() => io.stderr.text).toBe('Password: ');
      if (isShown) end(terminal, io);
      await expect(asked).rejects.toMatchObject({ code, message });
      if (isShown) expectLeft(terminal, io);
      expect(terminal.rawModes).toEqual([true, false]);
    }
  });

  it('ends as at a hangup if the terminal is gone', async () => {
    const terminal = fakeTerminal();
    terminal.setRawMode = () => {
      throw new Error('setRawMode EIO');
    };
    const asked = ask(fakeIo({ stdin: terminal }), PASSWORD);
    await expect(asked).rejects.toMatchObject({ code: 'hangup' });
    const io = fakeIo({ stdin: fakeTerminal('demo\r') });
    io.stderr.write = async (text) => {
      if (text === '\n') throw new Error('EIO');
    };
    await expect(ask(io, PASSWORD)).rejects.toMatchObject({ code: 'hangup' });
  });
});

it.each([
  ['a long word before Ctrl-W', `${'x'.repeat(300_000)} y\u0017\u0017secret\r`],
  ['an endless sequence', `\u001b[${'0'.repeat(300_000)}\u0015secret\r`],
])('a prompt accepts pasted input soon: %s', async (_what, typed) => {
  const io = fakeIo({ stdin: fakeTerminal(typed) });
  const seconds = await cpuSeconds(async () => {
    expect(await ask(io, PASSWORD)).toBe('secret');
  });
  expect(seconds).toBeLessThan(2);
});
