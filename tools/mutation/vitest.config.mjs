// The tests that run against each mutant: quick ones of the mutated parts, in this process.

import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: [
      'test/api/**/*.test.ts',
      'test/session/**/*.test.ts',
      'test/output/redaction.test.ts',
    ],
  },
});
