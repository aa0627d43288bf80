// What `npm test` and `npm run test:e2e` run. vitest.suites.mts has the longer suites.

import { readFileSync, statfsSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Tests write, sync and remove thousands of files: on a disk that takes a third of the time. */
function temporaryFolder(): string {
  const memory = '/dev/shm';
  // Many tests write a command line with paths as one text.
  if (/\s/.test(tmpdir()) && process.platform !== 'win32') return '/tmp';
  if (process.platform !== 'linux' || process.env.TMPDIR) return tmpdir();
  const [, options] = / \/dev\/shm tmpfs (\S+)/.exec(readFileSync('/proc/mounts', 'utf8')) ?? [];
  if (options === undefined || options.split(',').includes('noexec')) return tmpdir();
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize < 2 ** 30 ? tmpdir() : memory;
}

/** Time for a machine that other work shares: a test that waits for something ends as soon as it is there. */
export const TIMEOUTS = {
  ...{ testTimeout: 300_000, hookTimeout: 300_000 },
  expect: { poll: { timeout: 60_000, interval: 5 } },
};

// Some tests compare modes of files.
process.umask(0o022);

export default defineConfig({
  test: {
    // Most tests wait for sockets, files and processes; each worker loads all modules anew.
    maxWorkers: availableParallelism() + 2,
    // Most code of tests runs a few times only: compiling it at once costs less than interpreting it first.
    execArgv: ['--always-sparkplug'],
    env: { TZ: 'UTC', TMPDIR: temporaryFolder() },
    ...TIMEOUTS,
    reporters: ['default', './test/support/tally.ts'],
    projects: [
      {
        extends: true,
        logLevel: 'error',
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/{documents,e2e,fuzz,hardening,packaging}/**', 'test/walls.test.ts'],
          // Loads each module once per worker: that saves a third of the time. Tests share no state through modules.
          isolate: false,
        },
      },
      { extends: true, test: { name: 'walls', include: ['test/walls.test.ts'] } },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          // These need shells, signals, modes or time zones of Unix.
          exclude:
            process.platform === 'win32'
              ? ['test/e2e/{compile-cache,completion,home,keychain,signals,terminal,zone}.test.ts']
              : [],
          isolate: false,
        },
      },
    ],
  },
});
