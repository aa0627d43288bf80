// The names of the files that hold tokens, and how a logout removes the files.

import fs from 'node:fs';
import path from 'node:path';
import type { Account } from '../config/settings.ts';
import { errorReason, ImgctlError, isMissing } from '../errors.ts';
import { breakMutex } from '../files/mutex.ts';
import { shortDigest } from '../files/paths.ts';

const KINDS = ['token', 'limit', 'refused'] as const;

type Kind = (typeof KINDS)[number];

/** Hex digits of an account's digest in a file name. */
const DIGITS = 16;

const NAME = new RegExp(`^(\\.?)_(${KINDS.join('|')})\\.([\\da-f]{${DIGITS}})\\.json(.*)$`, 's');

export function tokenFolder(directory: string): string {
  return path.join(directory, 'tokens');
}

export function tokenFile(directory: string, kind: Kind, account: Account): string {
  return path.join(tokenFolder(directory), `_${kind}.${accountDigest(account)}.json`);
}

export function accountDigest({ baseUrl, username }: Account, digits = DIGITS): string {
  return shortDigest([baseUrl, username].join('\0'), digits);
}

/**
 * Removes the token of an account, or all tokens if there is no `account`. Returns their number.
 * Limits of token requests stay, because the service goes on counting.
 * @throws ImgctlError config: one cannot be removed; the others are
 */
export function forgetTokens(directory: string | undefined, account?: Account): number {
  if (directory === undefined) return 0;
  const folder = tokenFolder(directory);
  // First the mutexes: a process that finds its own gone stores no token.
  for (const { file, isMutex } of list(folder, account)) {
    if (isMutex) breakMutex(file.slice(0, -'.lock'.length));
  }
  let count = 0;
  let firstError: unknown;
  // Listed again: a process that released its mutex before has stored its token by now.
  for (const { file, kind, isFolder, isWhole } of list(folder, account)) {
    if (kind === 'limit' || isFolder) continue;
    try {
      const isRemoved = remove(file, kind);
      if (isRemoved && kind === 'token' && isWhole) count += 1;
    } catch (error) {
      firstError ??= error;
    }
  }
  if (firstError !== undefined) throw firstError;
  return count;
}

/**
 * Returns the files of an account, or of all. The folder may be a link to files of another program,
 * which are left out:
 *
 *     _token.0123456789abcdef.json              a whole file of the kind token
 *     _limit.0123456789abcdef.json.lock         the mutex of the kind limit, a folder
 *     ._token.0123456789abcdef.json.UUID.new    neither: what a killed writer left of a token
 *
 * @throws ImgctlError config
 */
function list(folder: string, account: Account | undefined) {
  const wanted = account && accountDigest(account);
  return readFolder(folder).flatMap((entry) => {
    const [, dot, kindOfName, digest, rest] = NAME.exec(entry.name) ?? [];
    const kind = KINDS.find((each) => each === kindOfName);
    if (kind === undefined || (wanted !== undefined && wanted !== digest)) return [];
    const isMutex = kind === 'limit' && dot === '' && rest === '.lock';
    const file = path.join(folder, entry.name);
    const isWhole = dot === '' && rest === '';
    return [{ file, kind, isMutex, isWhole, isFolder: entry.isDirectory() }];
  });
}

function readFolder(folder: string): readonly fs.Dirent[] {
  try {
    return fs.readdirSync(folder, { withFileTypes: true });
  } catch (cause) {
    if (isMissing(cause)) return [];
    const message = `cannot read ${folder}: ${errorReason(cause)}`;
    throw new ImgctlError('config', message, { facts: 'remove its tokens by hand', cause });
  }
}

/** Returns false if another logout has removed it. @throws ImgctlError config */
function remove(file: string, kind: Kind): boolean {
  try {
    fs.rmSync(file);
    return true;
  } catch (cause) {
    if (isMissing(cause)) return false;
    const message = `cannot remove ${file}: ${errorReason(cause)}`;
    const facts = `remove it by hand${kind === 'token' ? ': it may hold an access token' : ''}`;
    throw new ImgctlError('config', message, { facts, cause });
  }
}
