// Questions on the terminal: the answer echoed, or not at all for a password.

import { asImgctlError, ImgctlError } from '../errors.ts';
import type { Io } from '../io.ts';

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const CTRL_U = '\u0015';
/** What arrow keys and the like send. */
const ESCAPE_SEQUENCE = /\u001b[[O][0-9;]*[A-Za-z~]/g;

/** What is asked for. */
export interface Question {
  /** As within a sentence: "user name". */
  readonly what: string;
  readonly hidden: boolean;
  /** Other ways to give it, where there is nobody to ask. */
  readonly instead: string;
}

/**
 * Asks on stderr and reads one line from the terminal.
 * @throws ImgctlError interrupted (Ctrl-C), usage (no terminal to ask on, its end, or nothing for an answer)
 */
export async function ask(io: Io, { what, hidden, instead }: Question): Promise<string> {
  const { stream, isTTY } = io.stdin;
  if (!isTTY || !io.stderr.isTTY) {
    throw new ImgctlError('usage', `cannot ask for the ${what}: there is no terminal`, {
      hint: `give it by ${instead}`,
    });
  }
  const label = `${what.charAt(0).toUpperCase()}${what.slice(1)}`;
  // Raw mode from before the question: who answers at once is not echoed either.
  stream.setRawMode(hidden);
  stream.setEncoding('utf8');
  let answer: string | undefined;
  try {
    await io.stderr.write(`${label}: `);
    io.signal.throwIfAborted();
    answer = await readLine(io);
  } finally {
    stream.setRawMode(false);
    // An answer that is echoed ends its line itself.
    if (hidden || answer === undefined) await io.stderr.write('\n');
  }
  if (answer !== '') return answer;
  throw new ImgctlError('usage', `no ${what} was given`, { hint: 'see: imgctl login --help' });
}

function readLine(io: Io): Promise<string> {
  const { stream } = io.stdin;
  return new Promise((resolve, reject) => {
    const line: string[] = [];
    const finish = (settle: () => void) => {
      stream.pause();
      stream.off('data', onData);
      stream.off('end', onEnd);
      stream.off('error', onEnd);
      io.signal.removeEventListener('abort', onAbort);
      settle();
    };
    const onAbort = () => finish(() => reject(asImgctlError(io.signal.reason)));
    const onEnd = () =>
      finish(() => reject(new ImgctlError('usage', 'the input ended before an answer')));
    const onData = (chunk: string) => {
      const keys = [...chunk.replace(ESCAPE_SEQUENCE, '')];
      for (const [index, key] of keys.entries()) {
        if (key === '\r' || key === '\n') {
          finish(() => resolve(line.join('')));
          const rest = keys.slice(index + 1).join('');
          // Typed ahead: the answer to the next what.
          if (rest !== '') stream.unshift(rest, 'utf8');
          return;
        }
        if (key === CTRL_C)
          return finish(() => reject(new ImgctlError('interrupted', 'interrupted')));
        if (key === CTRL_D && line.length === 0) return onEnd();
        if (key === CTRL_U) line.length = 0;
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
