// Questions on the terminal.

import { describe, expect, it } from 'vitest';
import type { Sink } from '../../src/io.ts';
import { ask } from '../../src/session/prompt.ts';
import { fakeIo, fakeTerminal } from '../support/io.ts';

const PASSWORD = { what: 'password', hidden: true, instead: 'IMGCTL_PASSWORD' };
const USER_NAME = { what: 'user name', hidden: false, instead: '--username' };

describe('a hidden answer', () => {
  it.each([
    ['as typed', 'secret\r', 'secret'],
    ['with a line feed', 'secret\n', 'secret'],
    ['corrected by backspace', 'sex\u007fcret\r', 'secret'],
    ['corrected by the other backspace', 'sex\bcret\r', 'secret'],
    ['with one backspace too many', 'x\u007f\u007fsecret\r', 'secret'],
    ['a letter beyond 16 bits is one letter', 'a😀\u007fb\r', 'ab'],
    ['begun anew by Ctrl-U', 'wrong\u0015secret\r', 'secret'],
    ['with arrow keys', 'sec\u001b[D\u001bOC\u001b[3~ret\r', 'secret'],
    ['Ctrl-D in its middle means nothing', 'sec\u0004ret\r', 'secret'],
  ])('%s', async (_what, typed, answer) => {
    const terminal = fakeTerminal(typed);
    const io = fakeIo({ stdin: terminal });
    expect(await ask(io, PASSWORD)).toBe(answer);
    expect(terminal.rawModes).toEqual([true, false]);
    expect(io.stderr.text).toBe('Password: \n');
    expect(io.stdout.text).toBe('');
  });

  it('is not echoed either when it comes together with the question', async () => {
    const terminal = fakeTerminal();
    const modes: boolean[][] = [];
    const io = fakeIo({ stdin: terminal });
    const stderr: Sink = {
      isTTY: true,
      columns: 80,
      write: async () => {
        modes.push([...terminal.rawModes]);
        if (modes.length === 1) terminal.type('secret\r');
      },
    };
    expect(await ask({ ...io, stderr }, PASSWORD)).toBe('secret');
    expect(modes[0]).toEqual([true]);
  });
});

describe('an answer that is seen', () => {
  it('is left to the terminal to echo', async () => {
    const terminal = fakeTerminal('demo\n');
    const io = fakeIo({ stdin: terminal });
    expect(await ask(io, USER_NAME)).toBe('demo');
    expect(terminal.rawModes).not.toContain(true);
    expect(io.stderr.text).toBe('User name: ');
  });

  it('leaves what was typed ahead to the next question', async () => {
    const io = fakeIo({ stdin: fakeTerminal('demo\nsecret\n') });
    expect(await ask(io, USER_NAME)).toBe('demo');
    expect(await ask(io, PASSWORD)).toBe('secret');
  });
});

describe('no answer', () => {
  it('Ctrl-C ends it, and the terminal is put back', async () => {
    const terminal = fakeTerminal('sec\u0003ret\r');
    await expect(ask(fakeIo({ stdin: terminal }), PASSWORD)).rejects.toMatchObject({
      code: 'interrupted',
    });
    expect(terminal.rawModes.at(-1)).toBe(false);
  });

  it('Ctrl-D is the end of the input', async () => {
    const io = fakeIo({ stdin: fakeTerminal('\u0004') });
    await expect(ask(io, PASSWORD)).rejects.toMatchObject({ code: 'usage' });
  });

  it.each(['end', 'destroy'] as const)('a terminal that is gone (%s)', async (how) => {
    const terminal = fakeTerminal();
    const asked = ask(fakeIo({ stdin: terminal }), PASSWORD);
    if (how === 'end') terminal.end();
    else terminal.destroy(new Error('EIO'));
    await expect(asked).rejects.toMatchObject({ code: 'usage' });
  });

  it.each(['before', 'after'])('an interrupt %s the question', async (when) => {
    const terminal = fakeTerminal();
    const io = fakeIo({ stdin: terminal });
    if (when === 'before') io.interrupt('terminated');
    const asked = ask(io, PASSWORD);
    if (when === 'after') io.interrupt('terminated');
    await expect(asked).rejects.toMatchObject({ code: 'terminated' });
    expect(terminal.rawModes).toEqual([true, false]);
  });

  it.each(['\r', '\u0015\r'])('must hold something: %j', async (typed) => {
    const io = fakeIo({ stdin: fakeTerminal(typed) });
    await expect(ask(io, PASSWORD)).rejects.toMatchObject({
      code: 'usage',
      message: 'no password was given',
    });
  });

  it('that is interrupted ends its line', async () => {
    const io = fakeIo({ stdin: fakeTerminal('dem\u0003') });
    await expect(ask(io, USER_NAME)).rejects.toMatchObject({
      code: 'interrupted',
    });
    expect(io.stderr.text).toBe('User name: \n');
  });

  it('is asked for only on a terminal', async () => {
    await expect(ask(fakeIo({ stdin: 'secret\n' }), PASSWORD)).rejects.toMatchObject({
      code: 'usage',
      message: 'cannot ask for the password: there is no terminal',
      hint: 'give it by IMGCTL_PASSWORD',
    });
  });
});
