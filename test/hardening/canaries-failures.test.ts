// No failure shows a secret, with and without --debug.

import { describe, expect, it } from 'vitest';
import { FAILURES } from '../e2e/failures.ts';
import {
  formsOfToken,
  newSecrets,
  placesOf,
  tokensBelow,
  watchedRun,
  withTemporaryFolder,
} from './canaries.ts';
import { LEAKS } from './leaks.ts';

const ROWS = [
  ...FAILURES.map((row) => ({
    title: row.title,
    exitCode: row.expected[0],
    prepare: ({ user }: ReturnType<typeof newSecrets>) => row.prepare(user),
  })),
  ...LEAKS,
];

describe.each([
  ['', []],
  [' with --debug', ['--debug']],
  [' with --debug --json', ['--json', '--debug']],
])('imgctl%s', (_options, options) => {
  it.each(ROWS)('shows no secret after $title', async ({ exitCode, prepare }) => {
    const secrets = newSecrets();
    const { argv, ...prepared } = await prepare(secrets);
    const { HOME = '' } = prepared.env;
    const env = withTemporaryFolder({ ...prepared.env, HOME });
    const ended = await watchedRun([...argv, ...options], { ...prepared, env });
    expect(ended.exitCode).toBe(exitCode);
    const texts = [...secrets.forms, ...tokensBelow(HOME).flatMap(formsOfToken)];
    // The command line and the settings file may hold what the user wrote there.
    const isTyped = texts.some((text) => argv.join(' ').includes(text));
    const run = isTyped ? { ...ended, processes: '' } : ended;
    const places = placesOf(texts, run, [HOME], { stdout: true });
    expect(places.filter((place) => !place.endsWith('/settings/config.json'))).toEqual([]);
  });
});
