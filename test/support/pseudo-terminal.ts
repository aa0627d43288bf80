// Runs command lines on a pseudo terminal, which `script` of util-linux opens.

import { spawnSync } from 'node:child_process';
import { type RunningProgram, SHELL_COMMAND, startProgram } from './program.ts';
import { skipped } from './requirements.ts';
import type { Environment } from './users.ts';

/** Why no terminal can be opened, or empty: macOS has another `script`. */
export const NO_TERMINAL =
  spawnSync('script', ['--version']).status === 0 ? '' : 'script of util-linux is not installed';
/** For `it.skipIf`, and the end of the title. */
export const NO_SCRIPT = skipped(NO_TERMINAL);

/**
 * Starts a command line of sh, without single quotes, in which `eval "$IMGCTL whoami"` runs the program. What is
 * written to its stdin is typed.
 */
export function onTerminal(env: Environment, command: string): RunningProgram {
  const prelude = `exec script --quiet --return --command '${command}' /dev/null`;
  const all = { TERM: 'xterm', ...env, SHELL: '/bin/sh', IMGCTL: SHELL_COMMAND };
  return startProgram([], { env: all, prelude, stdin: { open: true } });
}
