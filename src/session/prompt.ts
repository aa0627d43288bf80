// Questions on the terminal: the answer echoed, or not at all for a password.

import { asImgctlError, ImgctlError } from '../errors.ts';
import type { Io } from '../io.ts';

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const CTRL_U = '\u0015';

/**
 * Asks on stderr and reads one line from the terminal.
 * @throws ImgctlError interrupted (Ctrl-C), usage (no terminal to ask on, or its end)
 */
export async function ask(io: Io, question: string, options: { hidden: boolean }): Promise<string> {
  const { stream, isTTY } = io.stdin;
  if (!isTTY || !io.stderr.isTTY) {
    throw new ImgctlError(
      'usage',
      `cannot ask for the ${question.toLowerCase()}: there is no terminal`,
      {
        hint: 'see: imgctl login --help',
      },
    );
  }
  await io.stderr.write(`${question}: `);
  // Raw mode from before the first key: no echo even of what is typed early.
  stream.setRawMode(options.hidden);
  stream.setEncoding('utf8');
  try {
    return await readLine(io);
  } finally {
    stream.setRawMode(false);
    stream.pause();
    if (options.hidden) await io.stderr.write('\n');
  }
}

function readLine(io: Io): Promise<string> {
  const { stream } = io.stdin;
  return new Promise((resolve, reject) => {
    let line = '';
    const finish = (settle: () => void) => {
      stream.off('data', onData);
      stream.off('end', onEnd);
      io.signal.removeEventListener('abort', onAbort);
      settle();
    };
    const onAbort = () => finish(() => reject(asImgctlError(io.signal.reason)));
    const onEnd = () =>
      finish(() => reject(new ImgctlError('usage', 'the input ended before an answer')));
    const onData = (chunk: string) => {
      for (const key of chunk) {
        if (key === '\r' || key === '\n') return finish(() => resolve(line));
        if (key === CTRL_C)
          return finish(() => reject(new ImgctlError('interrupted', 'interrupted')));
        if (key === CTRL_D && line === '') return onEnd();
        if (key === CTRL_U) line = '';
        else if (key === '\b' || key === '\u007f') line = line.slice(0, -1);
        else if (key >= ' ') line += key;
      }
    };
    stream.on('data', onData);
    stream.on('end', onEnd);
    io.signal.addEventListener('abort', onAbort, { once: true });
    stream.resume();
  });
}
