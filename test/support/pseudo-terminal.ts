// Runs command lines on a pseudo terminal, which `script` of util-linux opens.

import { type CliProcess, type ProcessEnvironment, SHELL_COMMAND, startCli } from './cli.ts';
import { missing, skipped } from './requirements.ts';

/** For `it.skipIf`, and the end of the title: `script` opens the terminal. */
export const NO_SCRIPT = skipped(missing('script'));

/**
 * Starts a command line of sh, without single quotes, in which `eval "$IMGCTL whoami"` runs the program. What is
 * written to its stdin is typed.
 */
export function onTerminal(env: ProcessEnvironment, command: string): CliProcess {
  const prelude = `exec script --quiet --return --command '${command}' /dev/null`;
  const all = { TERM: 'xterm', ...env, SHELL: '/bin/sh', IMGCTL: SHELL_COMMAND };
  return startCli([], { env: all, prelude, stdin: { open: true } });
}
