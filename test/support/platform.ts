// Tests that only some systems can run.

import { describe, it } from 'vitest';

const isWindows = process.platform === 'win32';

/** Returns `it`, which on Windows skips the test and prints the reason. */
export function unixOnly(reason: string) {
  report(reason);
  return it.skipIf(isWindows);
}

/** Returns `describe`, which on Windows skips its tests and prints the reason. */
export function unixOnlySuite(reason: string) {
  report(reason);
  return describe.skipIf(isWindows);
}

function report(reason: string): void {
  if (isWindows) process.stdout.write(`skipped on Windows: ${reason}\n`);
}
