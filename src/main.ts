// The whole program as one call: arguments and Io in, exit code out.

import { Context } from './context.ts';
import { asImgctlError, formatError } from './errors.ts';
import { type Io, processIo, ReaderGone } from './io.ts';
import { execute } from './program.ts';

/** Runs the command line (without node and script). Everything it writes is written when it resolves. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  const context = new Context(io, run);
  let exitCode = 0;
  try {
    await execute(argv, context);
  } catch (thrown) {
    if (!(thrown instanceof ReaderGone)) {
      const error = asImgctlError(thrown);
      exitCode = error.exitCode;
      await context.flush().catch(() => {});
      await io.stderr.write(formatError(error, context.errorFormat)).catch(() => {});
    }
  }
  await context.close().catch(() => {});
  return exitCode;
}

/** The entry of the built program. */
export async function main(process: NodeJS.Process): Promise<void> {
  process.exitCode = await run(process.argv.slice(2), processIo(process));
}
