// Runs other programs for the scripts that build and test.

import { spawnSync } from 'node:child_process';

/** Standard output of a program that has to succeed. @throws Error with what it wrote to standard error */
export function run(program, args, options = {}) {
  const result = spawnSync(program, args, { encoding: 'utf8', ...options });
  if (result.error) throw result.error;
  if (result.status === 0) return result.stdout;
  throw new Error(`${program} ${args.join(' ')} ended with ${result.status}: ${result.stderr}`);
}

/** Whether there is such a program. */
export function hasProgram(program) {
  return spawnSync(program, ['--version'], { stdio: 'ignore' }).error === undefined;
}
