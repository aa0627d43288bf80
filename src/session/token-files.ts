// The names of the files that hold tokens, and how a logout removes the files.

import fs from 'node:fs';
import path from 'node:path';
import type { Account } from '../config/settings.ts';
import { attempt, errorReason, ImgctlError, isMissing } from '../errors.ts';
import { breakMutex } from '../files/mutex.ts';
import { shortDigest } from '../files/paths.ts';

const KINDS = ['token', 'limit', 'refused'] as const;

/** The `_` tells them from files of others: see `parseName`. */
const NAME = new RegExp(`^(\\.?)_(${KINDS.join('|')})\\.([\\da-f]{16})\\.json(.*)$`, 's');

export function tokenFolder(directory: string): string {
  return path.join(directory, 'tokens');
}

export function tokenFile(
  directory: string,
  kind: (typeof KINDS)[number],
  account: Account,
): string {
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
  const readFolder = () => fs.readdirSync(folder, { withFileTypes: true });
  const digest = account && accountDigest(account);
  const list = () =>
    (actOn('read', folder, 'remove its tokens by hand', readFolder) ?? [])
      .map((entry) => ({ entry, ...parseName(entry.name) }))
      .filter((file) => digest === undefined || file.digest === digest);
  // First the mutexes: a process that finds its own gone stores no token.
  for (const { entry, isMutex } of list()) {
    if (isMutex) breakMutex(path.join(folder, path.basename(entry.name, '.lock')));
  }
  let count = 0;
  let firstError: unknown;
  // Listed again: one that released its mutex before has stored its token by now.
  for (const { entry, kind, isWhole } of list()) {
    if (kind === undefined || kind === 'limit' || entry.isDirectory()) continue;
    const file = path.join(folder, entry.name);
    const advice = `remove it by hand${kind === 'token' ? ': it may hold an access token' : ''}`;
    const remove = () => {
      fs.rmSync(file);
      if (kind === 'token' && isWhole) count += 1;
    };
    const { error } = attempt(() => actOn('remove', file, advice, remove));
    firstError ??= error;
  }
  if (firstError !== undefined) throw firstError;
  return count;
}

/**
 * Parses a name in the folder, which may be a link to files of another program: those have no kind.
 *
 *     _token.0123456789abcdef.json              a whole file of the kind token
 *     _limit.0123456789abcdef.json.lock         the mutex of the kind limit
 *     ._token.0123456789abcdef.json.UUID.new    neither: what a killed writer left of a token
 */
function parseName(name: string) {
  const [, dot, kind, digest, rest] = NAME.exec(name) ?? [];
  const isMutex = kind === 'limit' && dot === '' && rest === '.lock';
  return { kind, digest, isMutex, isWhole: dot === '' && rest === '' };
}

/** Returns undefined if the file is missing. @throws ImgctlError config */
function actOn<Result>(
  deed: 'read' | 'remove',
  file: string,
  advice: string,
  action: () => Result,
): Result | undefined {
  try {
    return action();
  } catch (cause) {
    if (isMissing(cause)) return undefined;
    const message = `cannot ${deed} ${file}: ${errorReason(cause)}`;
    throw new ImgctlError('config', message, { facts: advice, cause });
  }
}
