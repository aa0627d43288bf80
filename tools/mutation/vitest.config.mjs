// The tests that run against each mutant: fast tests of the changed parts, in this process.

import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: [
      'test/http/**/*.test.ts',
      'test/api/**/*.test.ts',
      'test/catalogue/**/*.test.ts',
      'test/files/**/*.test.ts',
      'test/session/**/*.test.ts',
      'test/output/redaction.test.ts',
    ],
    // It hands file descriptors to sockets; Node can abort on that at the end of a worker thread.
    exclude: ['test/session/password.test.ts'],
    // Mutants run beside each other, so a test may take longer.
    testTimeout: 20_000,
  },
});
