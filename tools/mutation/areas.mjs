// The files that are mutated, by area.

export const AREAS = {
  'origin check': ['src/api/base-url.ts', 'src/api/next-page.ts'],
  'retry gate': ['src/api/retry.ts', 'src/api/http.ts'],
  redaction: ['src/session/trace.ts', 'src/output/redaction.ts', 'src/api/credentials.ts'],
  'token renewal': ['src/session/tokens.ts'],
  lock: ['src/files/lock.ts'],
};
