// Mutation testing; docs/development/testing.md explains it. run.mjs chooses the files.

export default {
  plugins: ['./tools/mutation/node_modules/@stryker-mutator/vitest-runner/dist/src/index.js'],
  testRunner: 'vitest',
  vitest: { configFile: 'tools/mutation/vitest.config.mjs', related: false },
  coverageAnalysis: 'perTest',
  concurrency: 2,
  // On a busy machine a slow mutant must not count as one that never ends.
  timeoutMS: 15_000,
  reporters: ['clear-text', 'json'],
  clearTextReporter: { reportTests: false, reportMutants: true, allowColor: false },
  jsonReporter: { fileName: 'reports/mutation.json' },
  ignorePatterns: ['/dist', '/bench', '/docs', '/reports'],
  // Stryker would rewrite tsconfig.json with an API that TypeScript 7 no longer has.
  tsconfigFile: 'none.json',
};
