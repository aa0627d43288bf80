// Runs a command line: reads it, runs the command, and prints errors.

import { type CommandLine, readCommandLine } from './cli/command-line.ts';
import { showResult } from './cli/result.ts';
import { images } from './commands/images/index.ts';
import { Context } from './context.ts';
import { asImgctlError, EXIT_CODES } from './errors.ts';
import { BrokenPipeError, type Io } from './io.ts';
import { hasTerminal, processIo } from './process-io.ts';
import { takeLocalUse } from './query/local-time.ts';
import { quoted } from './words.ts';

/** @param argv without node and script */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  const line = await lineOf(argv, io);
  const context = new Context(io, line);
  context.console.redaction.addTyped(argv);
  let exitCode = 0;
  // Forgets what an earlier run of this process used.
  takeLocalUse();
  try {
    const result = await line.act(context);
    if (result) exitCode = await showResult(context, result);
    await context.console.flush();
  } catch (thrown) {
    if (!(thrown instanceof BrokenPipeError)) {
      exitCode = asImgctlError(thrown).exitCode;
      await context.console.fail(thrown);
    }
  }
  if (io.unknownZone !== undefined && takeLocalUse()) {
    const message = `unknown time zone in TZ: ${quoted(io.unknownZone)}; local times are UTC`;
    context.console.warn(message, 'set TZ to a name such as Europe/Berlin');
  }
  await context.close().catch(() => {});
  return exitCode;
}

async function lineOf(argv: readonly string[], io: Io): Promise<CommandLine> {
  try {
    // A command line that begins with `images`, as most do, needs no other command.
    const isForImages = argv[0] === images.name;
    const commands = isForImages ? [images] : (await import('./commands/index.ts')).COMMANDS;
    return readCommandLine(argv, commands, io);
  } catch (thrown) {
    // An upgrade may have removed the file.
    return { given: new Map(), act: async () => Promise.reject<undefined>(thrown) };
  }
}

/** The entry of the built program. */
export async function main(process: NodeJS.Process): Promise<void> {
  // Node ends without a word if nothing is left that could settle what a run waits for.
  const warn = () => process.stderr.write('imgctl: the run ended too early; please report this\n');
  process.exitCode = EXIT_CODES.failed;
  process.once('beforeExit', warn);
  const exitCode = await run(process.argv.slice(2), processIo(process));
  process.off('beforeExit', warn);
  process.exitCode = exitCode;
  if (exitCode > 128) endBySignal(process, exitCode);
}

/** Ends a process whose run was ended by a signal, if it cannot end by itself. */
function endBySignal(process: NodeJS.Process, exitCode: number): void {
  const signal = exitCode - 128;
  if (exitCode === EXIT_CODES.hangup && hasTerminal()) {
    // At its end Node would abort, because it cannot restore the modes of a terminal that is gone.
    process.removeAllListeners('SIGHUP');
    process.kill(process.pid, signal);
  }
  // Node waits for a name lookup, which may take long; the signal ends the process at once.
  setTimeout(() => process.kill(process.pid, signal), GRACE_PERIOD).unref();
}

/** Milliseconds to wait for a process that can end by itself; longer than SAME_SIGNAL. */
const GRACE_PERIOD = 200;
