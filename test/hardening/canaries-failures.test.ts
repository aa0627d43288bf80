// Every way to fail, with and without --debug: no secret shows, whoever tries to show it.

import { describe, expect, it } from 'vitest';
import { FAILURES } from '../e2e/failures.ts';
import { BETRAYALS } from './betrayals.ts';
import {
  formsOfToken,
  newSecrets,
  placesOf,
  tokensBelow,
  watchedRun,
  withTemporaryFolder,
} from './canaries.ts';

const ROWS = [
  ...FAILURES.map((row) => ({
    ...row,
    prepare: ({ user }: ReturnType<typeof newSecrets>) => row.prepare(user),
  })),
  ...BETRAYALS,
];

it('there are enough of them', () => {
  expect(ROWS.length).toBeGreaterThanOrEqual(48);
});

describe.each([
  ['plainly', []],
  ['with --debug', ['--debug']],
  ['in JSON with --debug', ['--json', '--debug']],
])('%s', (_how, options) => {
  it.each(ROWS)('$title', async ({ exitCode, prepare }) => {
    const secrets = newSecrets();
    const { argv, ...prepared } = await prepare(secrets);
    const { HOME = '' } = prepared.env;
    const env = withTemporaryFolder({ ...prepared.env, HOME });
    const ended = await watchedRun([...argv, ...options], { ...prepared, env });
    expect(ended.exitCode).toBe(exitCode);
    const texts = [...secrets.forms, ...tokensBelow(HOME).flatMap(formsOfToken)];
    // What the user typed, or wrote into a file, is there by the user's own hand.
    const isTyped = texts.some((text) => argv.join(' ').includes(text));
    const run = isTyped ? { ...ended, processes: '' } : ended;
    const places = placesOf(texts, run, [HOME], { stdout: true });
    expect(places.filter((place) => !place.endsWith('/settings/config.json'))).toEqual([]);
  });
});
