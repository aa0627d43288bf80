// Runs the whole program in one call: arguments and Io in, exit code out.

import type { Redaction } from './console.ts';
import { Context } from './context.ts';
import { asImgctlError, EXIT_CODES } from './errors.ts';
import { BrokenPipeError, type Io, processIo } from './io.ts';
import { execute } from './program.ts';

/**
 * Runs a command line, without node and script. Resolves when everything is written.
 * @param redaction learns the secrets of the run, for a caller that shows its output
 */
export async function run(argv: readonly string[], io: Io, redaction?: Redaction): Promise<number> {
  const context = new Context(io, run, redaction);
  let exitCode = 0;
  try {
    await execute(argv, context);
    exitCode = context.exitCode;
  } catch (thrown) {
    if (!(thrown instanceof BrokenPipeError)) {
      exitCode = asImgctlError(thrown).exitCode;
      await context.console.fail(thrown);
    }
  }
  await context.close().catch(() => {});
  return exitCode;
}

/** The entry of the built program. */
export async function main(process: NodeJS.Process): Promise<void> {
  const exitCode = await run(process.argv.slice(2), processIo(process));
  process.exitCode = exitCode;
  const signal = SIGNALS.get(exitCode);
  if (signal === undefined) return;
  // Node waits for a name lookup, which may take long; the signal ends the process at once.
  setTimeout(() => process.kill(process.pid, signal), GRACE_PERIOD).unref();
}

const SIGNALS: ReadonlyMap<number, NodeJS.Signals> = new Map([
  [EXIT_CODES.interrupted, 'SIGINT'],
  [EXIT_CODES.terminated, 'SIGTERM'],
]);

/** Milliseconds to wait for a process that can end by itself. */
const GRACE_PERIOD = 200;
