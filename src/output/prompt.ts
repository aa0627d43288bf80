// Prompts on the terminal: the input is echoed, except for a password.

import { asImgctlError, errorReason, ImgctlError } from '../errors.ts';
import type { Facts } from '../facts.ts';
import type { Io, Sink } from '../io.ts';
import { LineEditor } from './line-editor.ts';

/** Maximum number of prompts for an answer that must not be empty. */
const MAX_ATTEMPTS = 3;

/**
 * Prompts on stderr, or on the terminal if stderr is redirected, and reads a line.
 * @throws ImgctlError interrupted (Ctrl-C), quit (Ctrl-\), hangup, usage: no terminal, no input,
 *   failed: the terminal cannot be read
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
  const { what, label, hidden, otherwise: facts } = prompt;
  const { isTTY } = io.stdin;
  const screen = io.stderr.isTTY ? io.stderr : isTTY && io.openTerminal();
  if (!isTTY || !screen) {
    throw new ImgctlError('usage', `cannot prompt for the ${what} without a terminal`, { facts });
  }
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const input = await askOnce(io, screen, `${label}: `, hidden);
    if (input === undefined) {
      throw new ImgctlError('usage', 'no input (end of file)', { facts });
    }
    if (input !== '') return input;
  }
  throw new ImgctlError('usage', `no ${what} entered`, { facts });
}

async function askOnce(
  io: Io,
  screen: Sink,
  label: string,
  hidden: boolean,
): Promise<string | undefined> {
  const { stream } = io.stdin;
  stream.setEncoding('utf8');
  // Set before the prompt: input typed at once is not echoed either.
  await onTerminal(() => stream.setRawMode(hidden));
  let input: string | undefined;
  try {
    await screen.write(label);
    io.signal.throwIfAborted();
    input = await readLine(io);
    return input;
  } finally {
    // Echoed input has ended its line itself.
    const needsLineBreak = hidden || input === undefined;
    await onTerminal(() => {
      stream.setRawMode(false);
      return screen.write(needsLineBreak ? '\n' : '');
    });
  }
}

/** @throws ImgctlError hangup: the terminal is gone, and SIGHUP will follow */
async function onTerminal(action: () => unknown): Promise<void> {
  try {
    await action();
  } catch (cause) {
    throw new ImgctlError('hangup', 'hangup', { cause });
  }
}

/**
 * Reads a line; undefined at the end of the input. What is typed after the line is left for the
 * next prompt.
 */
function readLine({ stdin: { stream }, signal }: Io): Promise<string | undefined> {
  const editor = new LineEditor();
  return new Promise((resolve, reject) => {
    const stop = () => {
      stream.pause();
      stream.off('data', onData);
      stream.off('end', onEnd);
      stream.off('error', onError);
      signal.removeEventListener('abort', onAbort);
    };
    const fail = (error: ImgctlError) => {
      stop();
      reject(error);
    };
    const onAbort = () => fail(asImgctlError(signal.reason));
    const onEnd = () => {
      stop();
      resolve(undefined);
    };
    const onError = (cause: Error) => {
      const message = `cannot read the input: ${errorReason(cause)}`;
      fail(new ImgctlError('failed', message, { cause }));
    };
    const onData = (chunk: string) => {
      const keys = [...chunk];
      for (const [index, key] of keys.entries()) {
        const event = editor.press(key);
        if (event === undefined) continue;
        if (event === 'end') return onEnd();
        if (event !== 'enter') return fail(new ImgctlError(event, event));
        stop();
        // A console of Windows ends an echoed line with CR LF.
        const isPair = key === '\r' && keys[index + 1] === '\n';
        const typedAhead = keys.slice(index + (isPair ? 2 : 1)).join('');
        if (typedAhead !== '') stream.unshift(typedAhead, 'utf8');
        return resolve(editor.text);
      }
    };
    stream.on('data', onData);
    stream.on('end', onEnd);
    stream.on('error', onError);
    signal.addEventListener('abort', onAbort, { once: true });
    stream.resume();
  });
}
