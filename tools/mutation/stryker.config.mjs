// Mutation testing of what keeps secrets and writes safe; `npm run test:mutation` runs it, docs/testing.md explains.

import { AREAS } from './areas.mjs';

export default {
  mutate: Object.values(AREAS).flat(),
  plugins: ['./tools/mutation/node_modules/@stryker-mutator/vitest-runner/dist/src/index.js'],
  testRunner: 'vitest',
  vitest: { configFile: 'tools/mutation/vitest.config.mjs', related: false },
  coverageAnalysis: 'perTest',
  concurrency: 2,
  // A busy machine must not pass for a mutant that never ends.
  timeoutMS: 15_000,
  reporters: ['clear-text', 'json'],
  clearTextReporter: { reportTests: false, reportMutants: true, allowColor: false },
  jsonReporter: { fileName: 'reports/mutation.json' },
  ignorePatterns: ['/dist', '/bench', '/docs', '/reports'],
  // Stryker would rewrite it with TypeScript's old interface, which version 7 has no more; vitest reads none.
  tsconfigFile: 'none.json',
};
