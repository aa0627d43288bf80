// The tests that run against each mutant: fast tests of the changed parts, in this process.

import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: process.env.MUTATION_TESTS.split(','),
    exclude: [
      // It blocks the threads that Vitest itself needs here, where tests run in worker threads.
      'test/http/deadline.test.ts',
      // Slow, and not the same in every run or on every machine.
      'test/ovf/{mutation,qemu,fixtures}.test.ts',
    ],
    // Mutants run beside each other, so a test may take longer.
    testTimeout: 120_000,
  },
});
