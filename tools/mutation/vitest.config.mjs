// The tests that mutants are shown to: those of the parts that are mutated, quick and in this process.

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
