// Prompts on the terminal: the input is echoed, except for a password.

import { asImgctlError, ImgctlError } from '../errors.ts';
import type { Facts } from '../facts.ts';
import type { Io } from '../io.ts';

const ESC = '\u001b';
const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const CTRL_U = '\u0015';
const CTRL_W = '\u0017';
const CTRL_BACKSLASH = '\u001c';

/**
 * The beginning of a sequence that a key sends, and a whole one: ECMA-48's CSI (`\e[1;5C`), SS3
 * (`\eOP`) and F1 to F5 of the Linux console (`\e[[A`).
 */
const SEQUENCE_SO_FAR = /^\u001b(?:\[(?:\[|[ -?]{0,30})|O)?$/;
const WHOLE_SEQUENCE = /^\u001b(?:\[(?:\[[A-E]|[ -?]{0,30}[@-Z\\-~])|O[ -~])$/;

/** Maximum number of prompts for an answer that must not be empty. */
const MAX_ATTEMPTS = 3;

/**
 * Prompts on stderr, or on the terminal if stderr is redirected, and reads a line.
 * @throws ImgctlError interrupted (Ctrl-C), quit (Ctrl-\\), hangup, usage: no terminal, no input
 */
export async function ask(
  io: Io,
  prompt: {
    readonly what: string;
    readonly label: string;
    readonly hidden: boolean;
    /** How to give it without a prompt. */
    readonly otherwise: Facts | undefined;
  },
): Promise<string> {
  const { what, hidden, otherwise: facts } = prompt;
  const label = `${prompt.label}: `;
  const { stream, isTTY } = io.stdin;
  const screen = io.stderr.isTTY ? io.stderr : io.openTerminal();
  if (!isTTY || screen === undefined) {
    throw new ImgctlError('usage', `cannot prompt for the ${what} without a terminal`, { facts });
  }
  const endPrompt = async (isLineOpen: boolean) => {
    try {
      stream.setRawMode(false);
      if (isLineOpen) await screen.write('\n');
    } catch (cause) {
      // The terminal is gone, and SIGHUP on its way.
      throw new ImgctlError('hangup', 'hangup', { cause });
    }
  };
  stream.setEncoding('utf8');
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    // Set before the prompt: input typed at once is not echoed either.
    stream.setRawMode(hidden);
    let input: string | undefined;
    try {
      await screen.write(label);
      io.signal.throwIfAborted();
      input = await readLine(io);
    } finally {
      // Echoed input ends its line itself.
      await endPrompt(hidden || input === undefined);
    }
    if (input !== '') return input;
  }
  throw new ImgctlError('usage', `no ${what} entered`, { facts });
}

function readLine(io: Io): Promise<string> {
  const { stream } = io.stdin;
  return new Promise((resolve, reject) => {
    const line: string[] = [];
    // A sequence may arrive in pieces.
    let sequence = '';
    const finish = (settle: () => void) => {
      stream.pause();
      stream.off('data', onData);
      stream.off('end', onEnd);
      stream.off('error', onEnd);
      io.signal.removeEventListener('abort', onAbort);
      settle();
    };
    const onAbort = () => finish(() => reject(asImgctlError(io.signal.reason)));
    const onEnd = () => finish(() => reject(new ImgctlError('usage', 'no input (end of file)')));
    const onData = (chunk: string) => {
      const keys = [...chunk];
      for (const [index, key] of keys.entries()) {
        sequence += key;
        if (SEQUENCE_SO_FAR.test(sequence)) continue;
        const isWhole = WHOLE_SEQUENCE.test(sequence);
        sequence = '';
        if (isWhole) continue;
        // With Alt, some terminals send another ESC before the sequence of an arrow key.
        if (key === ESC) {
          sequence = key;
          continue;
        }
        if (key === '\r' || key === '\n') {
          finish(() => resolve(line.join('')));
          const rest = keys.slice(index + 1).join('');
          // Typed ahead, for the next prompt.
          if (rest !== '') stream.unshift(rest, 'utf8');
          return;
        }
        if (key === CTRL_C)
          return finish(() => reject(new ImgctlError('interrupted', 'interrupted')));
        if (key === CTRL_BACKSLASH) return finish(() => reject(new ImgctlError('quit', 'quit')));
        if (key === CTRL_D && line.length === 0) return onEnd();
        if (key === CTRL_U) line.length = 0;
        else if (key === CTRL_W) line.length = lengthWithoutWord(line);
        else if (key === '\b' || key === '\u007f') line.pop();
        else if (key >= ' ') line.push(key);
      }
    };
    stream.on('data', onData);
    stream.on('end', onEnd);
    stream.on('error', onEnd);
    io.signal.addEventListener('abort', onAbort, { once: true });
    stream.resume();
  });
}

/** As a terminal erases the last word: with the spaces behind it. */
function lengthWithoutWord(line: readonly string[]): number {
  const end = line.findLastIndex((key) => key !== ' ');
  return line.slice(0, end + 1).lastIndexOf(' ') + 1;
}
