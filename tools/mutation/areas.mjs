// The files that Stryker changes, by area.

export const AREAS = {
  'origin check': ['src/http/url.ts', 'src/api/pages.ts'],
  'retry gate': ['src/http/retry.ts', 'src/api/auth.ts'],
  redaction: ['src/session/trace.ts', 'src/output/redaction.ts'],
  'token renewal': ['src/session/tokens.ts'],
  lock: ['src/files/lock.ts'],
};
