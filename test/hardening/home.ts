// What a run leaves below a home folder, and what must not be there.

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { filesBelow } from '../support/files.ts';

const directoryOf = (home: string) => path.join(home, '.config/imgctl');

/** Where the access tokens lie below a home without XDG variables. */
export const tokensOf = (home: string) => path.join(directoryOf(home), 'tokens');

/** Every file and folder of imgctl's below the home, relative to its configuration directory. */
export function entriesOf(home: string): string[] {
  return readdirSync(directoryOf(home), { recursive: true, encoding: 'utf8' }).sort();
}

/** All that a home holds after a login: settings, what is known of the limit, the token. */
export const AFTER_LOGIN = [
  'config.json',
  'tokens',
  expect.stringMatching(/^tokens\/_limit\.[0-9a-f]{16}\.json$/),
  expect.stringMatching(/^tokens\/default\.[0-9a-f]{16}\.json$/),
];

/** The files below a folder, at any depth, that hold one of these texts. */
export function filesHolding(folder: string, texts: readonly string[]): string[] {
  return filesBelow(folder).filter((file) => {
    const content = readFileSync(file, 'utf8');
    return texts.some((text) => content.includes(text));
  });
}

/** The cached token of the default profile; it fails where the cache does not parse. */
export function cachedToken(home: string): string {
  const folder = tokensOf(home);
  const name = readdirSync(folder).find((entry) => /^default\.[0-9a-f]{16}\.json$/.test(entry));
  const { token } = JSON.parse(readFileSync(path.join(folder, name ?? 'default'), 'utf8'));
  expect(token).toMatch(/^\S+$/);
  return token;
}

/** Whether the service takes the token. */
export async function isTaken(baseUrl: string, token: string): Promise<boolean> {
  const headers = { Authorization: `Bearer ${token}` };
  return (await fetch(`${baseUrl}/v2`, { headers })).status === 200;
}

/** A line of figures, for those who read the log. */
export function report(line: string): void {
  process.stdout.write(`${line}\n`);
}
