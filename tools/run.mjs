// Runs other programs.

import { spawnSync } from 'node:child_process';

/** Returns the standard output of a program. @throws Error with its standard error if it fails */
export function run(program, args, options = {}) {
  const result = spawnSync(program, args, { encoding: 'utf8', ...options });
  if (result.error) throw result.error;
  if (result.status === 0) return result.stdout;
  throw new Error(`${program} ${args.join(' ')} ended with ${result.status}: ${result.stderr}`);
}

/** True if the program is installed. */
export function hasProgram(program) {
  return spawnSync(program, ['--version'], { stdio: 'ignore' }).error === undefined;
}
