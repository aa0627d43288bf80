// What tests need of the machine. The title of a skipped test ends with the reason, which the reporter lists:
// `(skipped: fish is not installed)` if something is missing, `(only on Linux)` if the test has no meaning here.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { it } from 'vitest';

/** Returns the end of a title, or an empty string if the reason is empty. */
export const skipped = (reason: string): string => (reason === '' ? '' : ` (skipped: ${reason})`);

/** Returns which of these programs are not installed, or an empty string. */
export function missing(...programs: string[]): string {
  const names = programs.filter((name) => spawnSync('which', [name]).status !== 0);
  const verb = names.length > 1 ? 'are' : 'is';
  return names.length === 0 ? '' : `${names.join(' and ')} ${verb} not installed`;
}

/** Returns the reason in the full title of a skipped test. */
export function reasonOf(title: string): string {
  const [, missed, only] = /\((?:skipped: ([^)]+)|(only [^)]+))\)/.exec(title) ?? [];
  return missed ?? only ?? (process.platform === 'linux' ? 'no reason given' : 'only elsewhere');
}

/** For tests that read /proc. */
export const onLinux = it.skipIf(!existsSync('/proc/self/status'));
export const asRoot = it.skipIf(process.getuid?.() !== 0);
