// The names of the files that hold tokens, and how a logout removes the files.

import fs from 'node:fs';
import path from 'node:path';
import type { Account } from '../config/settings.ts';
import { errorReason, ImgctlError, isMissing } from '../errors.ts';
import { breakMutex } from '../files/mutex.ts';
import { shortDigest } from '../files/paths.ts';

type Kind = 'token' | 'limit' | 'refused';

export function tokenFolder(directory: string): string {
  return path.join(directory, 'tokens');
}

export function tokenFile(directory: string, kind: Kind, account: Account): string {
  return path.join(tokenFolder(directory), `_${kind}.${accountDigest(account)}.json`);
}

export function accountDigest({ baseUrl, username }: Account, digits = 16): string {
  return shortDigest([baseUrl, username].join('\0'), digits);
}

/**
 * Removes the token of an account, or without one all tokens, and returns their number. Limits of
 * token requests are not removed, because the service goes on counting.
 * @throws ImgctlError config: one cannot be removed; the others are
 */
export function forgetTokens(directory: string | undefined, account?: Account): number {
  if (directory === undefined) return 0;
  const folder = tokenFolder(directory);
  const digest = account ? accountDigest(account) : '[\\da-f]{16}';
  const mutex = new RegExp(`^_limit\\.${digest}\\.json\\.lock$`);
  const token = new RegExp(`^_token\\.${digest}\\.json$`);
  // Also what killed writers left. The folder may be a link to files of another program, which have
  // other names.
  const tokenOrRefusal = new RegExp(`^\\.?_(?:token|refused)\\.${digest}\\.json`);

  let entries: fs.Dirent[] = [];
  const errors = errorsOf('read', folder, () => {
    entries = fs.readdirSync(folder, { withFileTypes: true });
  });
  // First the mutexes: a process that finds its own gone stores no token.
  for (const { name } of entries) {
    if (mutex.test(name)) breakMutex(path.join(folder, path.basename(name, '.lock')));
  }
  const names = entries
    .filter((entry) => !entry.isDirectory() && tokenOrRefusal.test(entry.name))
    .map(({ name }) => name);
  for (const file of names.map((name) => path.join(folder, name))) {
    errors.push(...errorsOf('remove', file, () => fs.rmSync(file)));
  }
  if (errors[0]) throw errors[0];
  return names.filter((name) => token.test(name)).length;
}

/** Returns no error if the file is missing. */
function errorsOf(deed: 'read' | 'remove', file: string, act: () => void): ImgctlError[] {
  try {
    act();
    return [];
  } catch (cause) {
    if (isMissing(cause)) return [];
    const message = `cannot ${deed} ${file}: ${errorReason(cause)}`;
    const advice = 'remove it by hand: it may hold an access token';
    return [new ImgctlError('config', message, { facts: advice, cause })];
  }
}
