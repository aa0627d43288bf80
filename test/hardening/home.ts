// Files that a run leaves below a home.

import { readdirSync, readFileSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { filesBelow } from '../support/files.ts';

const directoryOf = (home: string) => path.join(home, '.config/imgctl');

/** Returns the folder of the access tokens. */
export const tokensOf = (home: string) => path.join(directoryOf(home), 'tokens');

/** Returns every file and folder in the configuration directory. */
export function entriesOf(home: string): string[] {
  return readdirSync(directoryOf(home), { recursive: true, encoding: 'utf8' }).sort();
}

/** Makes the staging files of killed runs below a folder old enough for the next write to remove them. */
export function ageLeftovers(folder: string): void {
  const time = Date.now() / 1_000 - 120;
  for (const file of filesBelow(folder)) if (/\.new(\.|$)/.test(file)) utimesSync(file, time, time);
}

/** The entries after a login: settings, the token request limit, the token and the profile that used it. */
export const AFTER_LOGIN = [
  'config.json',
  'tokens',
  expect.stringMatching(/^tokens\/_limit\.[0-9a-f]{16}\.json$/),
  expect.stringMatching(/^tokens\/_token\.[0-9a-f]{16}\.json$/),
  expect.stringMatching(/^tokens\/default\.[0-9a-f]{16}\.used$/),
];

/** Returns the files below a folder that contain one of these texts. */
export function filesHolding(folder: string, texts: readonly string[]): string[] {
  return filesBelow(folder).filter((file) => {
    const content = readFileSync(file, 'utf8');
    return texts.some((text) => content.includes(text));
  });
}

/** Returns the cached token. */
export function cachedToken(home: string): string {
  const folder = tokensOf(home);
  const name = readdirSync(folder).find((entry) => /^_token\.[0-9a-f]{16}\.json$/.test(entry));
  const { token } = JSON.parse(readFileSync(path.join(folder, name ?? '_token'), 'utf8'));
  expect(token).toMatch(/^\S+$/);
  return token;
}
