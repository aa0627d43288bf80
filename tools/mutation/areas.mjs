// The areas of mutation testing: the files that Stryker changes, and the share of changes that tests must notice.

import { readdirSync } from 'node:fs';

const CRITICAL = 90;

/** The tests of the critical areas: fast tests of the changed parts. */
const TESTS = [
  ...['http', 'api', 'catalogue', 'files', 'session'].map((name) => `test/${name}/**/*.test.ts`),
  'test/output/redaction.test.ts',
];

const PACKAGES = readdirSync('src/ovf').map((name) => `src/ovf/${name}`);

export const AREAS = {
  'origin check': {
    files: ['src/http/url.ts', 'src/api/responses.ts'],
    tests: TESTS,
    minShare: CRITICAL,
  },
  'retry gate': {
    files: ['src/http/retry.ts', 'src/api/auth.ts'],
    tests: TESTS,
    minShare: CRITICAL,
  },
  redaction: {
    files: ['src/session/trace.ts', 'src/output/redaction.ts'],
    tests: TESTS,
    minShare: CRITICAL,
  },
  'token renewal': { files: ['src/session/tokens.ts'], tests: TESTS, minShare: CRITICAL },
  lock: { files: ['src/files/lock.ts'], tests: TESTS, minShare: CRITICAL },
  packages: {
    files: PACKAGES,
    tests: ['test/ovf/**/*.test.ts', 'test/commands/validate.test.ts'],
    minShare: 85,
  },
};
