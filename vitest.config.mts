import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // A missing generated file is a failure, not something to write.
    update: 'none',
    // Most tests wait for sockets and processes; by default a core would be left without any.
    maxWorkers: '100%',
    reporters: ['default', './test/support/tally.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/{e2e,fuzz,hardening,packaging}/**', 'test/walls.test.ts'],
        },
      },
      { extends: true, test: { name: 'walls', include: ['test/walls.test.ts'] } },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: { name: 'hardening', include: ['test/hardening/**/*.test.ts'], testTimeout: 300_000 },
      },
      {
        extends: true,
        test: { name: 'packaging', include: ['test/packaging/**/*.test.ts'], testTimeout: 60_000 },
      },
      // As long as it is told to take: FUZZ_SECONDS, FUZZ_RESPONSES.
      {
        extends: true,
        test: { name: 'fuzz', include: ['test/fuzz/**/*.test.ts'], testTimeout: 0 },
      },
    ],
  },
});
