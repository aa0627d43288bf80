// The longer suites, each run by an npm script: documents, hardening, fuzz and packaging.

import { defineConfig } from 'vitest/config';
import { TIMEOUTS } from './vitest.config.mts';

export default defineConfig({
  test: {
    maxWorkers: '100%',
    ...TIMEOUTS,
    reporters: ['default', './test/support/tally.ts'],
    projects: [
      { extends: true, test: { name: 'documents', include: ['test/documents/**/*.test.ts'] } },
      { extends: true, test: { name: 'hardening', include: ['test/hardening/**/*.test.ts'] } },
      { extends: true, test: { name: 'packaging', include: ['test/packaging/**/*.test.ts'] } },
      // FUZZ_SECONDS and FUZZ_RUNS bound the time.
      {
        extends: true,
        test: { name: 'fuzz', include: ['test/fuzz/**/*.test.ts'], testTimeout: 0 },
      },
    ],
  },
});
