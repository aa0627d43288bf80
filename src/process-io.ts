// The process as the Io of a run: its signals, streams, environment and time zone.

import fs from 'node:fs';
import { untilAborted } from './abort.ts';
import { errorReason, ImgctlError, SIGNALS, tryOr } from './errors.ts';
import { BrokenPipeError, type Io, type Sink, systemClock, withWrite } from './io.ts';
import { zoneName } from './zone.ts';

/**
 * Milliseconds in which a signal counts once: timeout(1) sends it to the process and to its group.
 */
const SAME_SIGNAL = 100;

/** Calls back at the first signal; a later one ends the process, which is its default effect. */
function atSignal(process: NodeJS.Process, signal: string, action: () => void): void {
  process.once(signal, () => {
    const ignore = () => {};
    process.on(signal, ignore);
    setTimeout(() => process.off(signal, ignore), SAME_SIGNAL).unref();
    action();
  });
}

/**
 * True if SIGHUP was ignored at the start, as nohup(1) does. Node resets that before any code runs,
 * so its traces have to do: the shell's variable _, and on Linux a parent, such as a script, that
 * ignores the signal too.
 */
function ignoresHangup({ env, ppid }: NodeJS.Process): boolean {
  if (/(^|\/)nohup$/.test(env._ ?? '')) return true;
  const status = tryOr(() => fs.readFileSync(`/proc/${ppid}/status`, 'utf8'), '');
  // The last bit is signal 1.
  return /^SigIgn:.*[13579bdf]$/m.test(status);
}

/** True if a standard stream is a terminal, also one that is gone. */
export function hasTerminal(): boolean {
  const noTerminal = [0, tryOr(() => fs.statSync('/dev/null').rdev, 0)];
  return [0, 1, 2].some((fd) => !noTerminal.includes(fs.fstatSync(fd).rdev));
}

/** Returns the process's own Io. A second signal of the same kind ends the process at once. */
export function processIo(process: NodeJS.Process): Io {
  const abort = new AbortController();
  for (const [signal, code] of Object.entries(SIGNALS)) {
    if (signal === 'SIGHUP' && ignoresHangup(process)) process.on(signal, () => {});
    else atSignal(process, signal, () => abort.abort(new ImgctlError(code, code)));
  }
  const stdout = streamSink(process, 'stdout');
  const environment = useZone(process, takeEnvironment(process));
  return {
    ...systemClock(abort.signal),
    stdin: {
      // Node sets up standard input when it is first read, which few commands need.
      get stream() {
        return process.stdin;
      },
      get isTTY() {
        return process.stdin.isTTY === true;
      },
    },
    stdout: withWrite(stdout, async (data: string | Uint8Array) => {
      // A reader that stands still must not hold up a signal.
      await untilAborted(stdout.write(data), abort.signal);
    }),
    stderr: impatient(streamSink(process, 'stderr'), abort.signal),
    openTerminal: () => openTerminal(process.platform),
    ...environment,
    cwd: workingDirectory(process),
  };
}

/**
 * Returns the working directory. If it was removed, most commands work without it, and others name
 * what is missing: PWD may be empty, and below /dev/null no relative name leads to a file.
 */
export function workingDirectory({ cwd, env }: Pick<NodeJS.Process, 'cwd' | 'env'>): string {
  const { PWD = '' } = env;
  return tryOr(cwd, PWD.startsWith('/') ? PWD : '/dev/null');
}

/**
 * Returns the environment; on Windows in capitals, where a copy would tell names of other case
 * apart. Removes NODE_TLS_REJECT_UNAUTHORIZED from that of the process, so that Node does not warn
 * of it: imgctl does, by the copy.
 */
export function takeEnvironment({
  env,
  platform,
}: Pick<NodeJS.Process, 'env' | 'platform'>): Io['env'] {
  if (platform !== 'win32' && env.NODE_TLS_REJECT_UNAUTHORIZED === undefined) return env;
  const entries = Object.entries(env);
  delete env.NODE_TLS_REJECT_UNAUTHORIZED;
  const nameOf = (name: string) => (platform === 'win32' ? name.toUpperCase() : name);
  return Object.fromEntries(entries.map(([name, value]) => [nameOf(name), value]));
}

/** Makes local times those of the zone that TZ means. Other programs still receive TZ as it is. */
function useZone(process: NodeJS.Process, env: Io['env']): Pick<Io, 'env' | 'unknownZone'> {
  const { TZ } = env;
  const zone = TZ === undefined ? undefined : zoneName(TZ);
  if (zone === TZ) return { env };
  const original = { ...env };
  process.env.TZ = zone ?? 'UTC';
  return { env: original, unknownZone: zone === undefined ? TZ : undefined };
}

/** Opens the terminal of this process, whatever its streams are. */
function openTerminal(platform: NodeJS.Platform): Sink | undefined {
  const file = platform === 'win32' ? 'CONOUT$' : '/dev/tty';
  const descriptor = tryOr(() => fs.openSync(file, 'w'), undefined);
  if (descriptor === undefined) return undefined;
  return {
    isTTY: true,
    columns: undefined,
    write: async (text: string) => {
      fs.writeSync(descriptor, text);
    },
  };
}

/** Milliseconds after a signal until messages are given up; output is given up at once. */
const LAST_WORDS = 300;

/** Returns a sink whose writes are given up soon after a signal: its reader may stand still. */
function impatient(sink: Sink, signal: AbortSignal): Sink {
  const late = new AbortController();
  const giveUp = () => late.abort(signal.reason);
  signal.addEventListener('abort', () => void setTimeout(giveUp, LAST_WORDS).unref());
  const write: Sink['write'] = (data) => untilAborted(sink.write(data), late.signal);
  // A spinner draws on the stream itself.
  return Object.defineProperty(withWrite(sink, write), 'stream', { get: () => sink.stream });
}

type Write = (
  data: string | Uint8Array,
  done: (error?: NodeJS.ErrnoException | null) => void,
) => void;

/** Milliseconds after which a terminal that another program made non-blocking is tried again. */
const FULL_PAUSE = 20;

/**
 * Writes to a terminal in a thread: while it stands still, Node's streams would block signals too.
 */
export function writeInThread(fd: number): Write {
  const write: Write = (data, done) => {
    const bytes = Buffer.from(data);
    fs.write(fd, bytes, (error, written) => {
      if (error?.code === 'EAGAIN') setTimeout(write, FULL_PAUSE, bytes, done);
      else if (error || written === bytes.length) done(error);
      else write(bytes.subarray(written), done);
    });
  };
  return write;
}

/** Opens the stream at the first write: that takes time, and most runs write nothing to stderr. */
function streamSink(process: NodeJS.Process, name: 'stdout' | 'stderr'): Sink {
  const fd = name === 'stdout' ? 1 : 2;
  let stream: NodeJS.WriteStream | undefined;
  const open = () => {
    // Each write reports its own error; without a listener the stream's error would end the
    // process.
    stream ??= process[name].on('error', () => {});
    return stream;
  };
  let known: boolean | undefined;
  const isTTY = () => {
    // Only a device can be a terminal, so nothing else has to be opened to find out.
    const isDevice = () => fs.fstatSync(fd).isCharacterDevice();
    known ??= tryOr(() => isDevice() && open().isTTY === true, false);
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
        const isInThread = isTTY() && process.platform !== 'win32';
        const write: Write = isInThread
          ? writeInThread(fd)
          : (bytes, done) => open().write(bytes, done);
        write(data, (error) => {
          if (!error) return resolve();
          if (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED') {
            return reject(new BrokenPipeError());
          }
          const facts = 'check the file or device that it goes to, and the free space';
          reject(
            new ImgctlError('failed', `cannot write the output: ${errorReason(error)}`, { facts }),
          );
        });
      }),
  };
}
