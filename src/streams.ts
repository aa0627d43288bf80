// The streams that a run writes to, and the terminal of the process.

import fs from 'node:fs';
import { ImgctlError } from './errors.ts';

/** A stream to write to. */
export interface Sink {
  readonly isTTY: boolean;
  /** Width in cells; undefined if unknown or not a terminal. */
  readonly columns: number | undefined;
  /**
   * Resolves when the bytes are accepted, so that a slow reader slows the writer.
   * @throws BrokenPipeError; ImgctlError failed
   */
  write(text: string): Promise<void>;
  /** The stream of a terminal, for a spinner that draws on it. */
  readonly stream?: NodeJS.WriteStream;
}

/** A sink that also takes bytes, which it passes on unchanged. */
export interface ByteSink extends Sink {
  write(data: string | Uint8Array): Promise<void>;
}

/** Returns a sink that writes in another way; the width is read when it is needed. */
export function withWrite<Data>(
  sink: Pick<Sink, 'isTTY' | 'columns'>,
  write: (data: Data) => Promise<void>,
) {
  return {
    get isTTY() {
      return sink.isTTY;
    },
    get columns() {
      return sink.columns;
    },
    write,
  };
}

/** The reader closed its end of the pipe. */
export class BrokenPipeError extends Error {}

function isDevice(descriptor: number): boolean {
  try {
    return fs.fstatSync(descriptor).isCharacterDevice();
  } catch {
    return false;
  }
}

/** Opens the terminal of this process, whatever its streams are. */
export function openTerminal(platform: NodeJS.Platform): Sink | undefined {
  try {
    const descriptor = fs.openSync(platform === 'win32' ? 'CONOUT$' : '/dev/tty', 'w');
    return {
      isTTY: true,
      columns: undefined,
      write: async (text) => {
        fs.writeSync(descriptor, text);
      },
    };
  } catch {
    return undefined;
  }
}

const DESCRIPTORS = { stdout: 1, stderr: 2 } as const;

/** Opens the stream at the first write: Node takes time for each, and most runs write nothing to stderr. */
export function streamSink(process: NodeJS.Process, name: 'stdout' | 'stderr'): ByteSink {
  let stream: NodeJS.WriteStream | undefined;
  const open = () => {
    // Each write reports its own error; without a listener the stream's error would end the process.
    stream ??= process[name].on('error', () => {});
    return stream;
  };
  let known: boolean | undefined;
  const isTTY = () => {
    // Only a device can be a terminal, so nothing else has to be opened to find out.
    known ??= isDevice(DESCRIPTORS[name]) && open().isTTY === true;
    return known;
  };
  return {
    get isTTY() {
      return isTTY();
    },
    get columns() {
      return isTTY() ? open().columns : undefined;
    },
    get stream() {
      return open();
    },
    write: (data) =>
      new Promise((resolve, reject) => {
        open().write(data, (error: NodeJS.ErrnoException | null | undefined) => {
          if (!error) return resolve();
          if (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED') {
            return reject(new BrokenPipeError());
          }
          const reason = error.code ?? error.message;
          const hint = 'check the file or device that it goes to, and the free space';
          reject(new ImgctlError('failed', `cannot write the output: ${reason}`, { hint }));
        });
      }),
  };
}
