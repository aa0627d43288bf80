// Removes tokens from the disk, at a logout and when a profile is removed.

import fs from 'node:fs';
import path from 'node:path';
import { ImgctlError } from '../errors.ts';
import { errorReason, isMissing } from '../files/atomic-file.ts';
import { accountKey, LIMIT, tokenFolder } from './token-cache.ts';
import type { Account } from './token-store.ts';

interface Entry {
  readonly file: string;
  readonly owner: string;
  readonly key: string;
  /** False for a marker, and for a staging file, whose name starts with a dot. */
  readonly isToken: boolean;
}

/** Returns all files except the limits, which stay: the service still counts. */
function entriesIn(directory: string | undefined): Entry[] {
  if (directory === undefined) return [];
  const folder = tokenFolder(directory);
  const entries = namesIn(folder).map((name) => {
    const [owner = '', key = '', ...rest] = name.replace(/^\./, '').split('.');
    const isToken = !name.startsWith('.') && rest.join('.') === 'json';
    return { file: path.join(folder, name), owner, key, isToken };
  });
  return entries.filter(({ owner }) => owner !== LIMIT);
}

/** Removes the tokens of all profiles. @returns their number. @throws ImgctlError config: one cannot be removed */
export function forgetAllTokens(directory: string | undefined): number {
  return removeAll(entriesIn(directory));
}

interface ForgottenTokens {
  readonly count: number;
  /** Other profiles that used one of them. */
  readonly alsoUsedBy: readonly string[];
}

/**
 * Removes every token that the profile used, also of another user or base URL, and that of its account.
 * @throws ImgctlError config: one cannot be removed
 */
export function forgetTokens(directory: string | undefined, account: Account): ForgottenTokens {
  const { profile } = account;
  const entries = entriesIn(directory);
  const keys = new Set([accountKey(account), ...keysUsedBy(profile, entries)]);
  const others = usesOf(entries).filter(({ owner, key }) => owner !== profile && keys.has(key));
  const count = removeAll(entries.filter(({ owner, key }) => owner === profile || keys.has(key)));
  return { count, alsoUsedBy: [...new Set(others.map(({ owner }) => owner))].sort() };
}

/** Removes the tokens that no other profile used. @throws ImgctlError config: one cannot be removed */
export function forgetUnsharedTokens(directory: string | undefined, profile: string): void {
  const entries = entriesIn(directory);
  const keys = new Set(keysUsedBy(profile, entries));
  for (const { owner, key } of usesOf(entries)) if (owner !== profile) keys.delete(key);
  removeAll(entries.filter(({ owner, key }) => owner === profile || keys.has(key)));
}

function usesOf(entries: readonly Entry[]): Entry[] {
  return entries.filter(({ file }) => file.endsWith('.used'));
}

function keysUsedBy(profile: string, entries: readonly Entry[]): string[] {
  return usesOf(entries).flatMap(({ owner, key }) => (owner === profile ? key : []));
}

/** Removes markers last: one that stays leads the next logout to a token that stays. */
function removeAll(entries: readonly Entry[]): number {
  const uses = new Set(usesOf(entries));
  const secrets = entries.filter((entry) => !uses.has(entry));
  const removed = secrets.filter(({ file }) => remove(file));
  for (const { file } of uses) remove(file);
  return removed.filter(({ isToken }) => isToken).length;
}

function namesIn(directory: string): string[] {
  try {
    return fs.readdirSync(directory);
  } catch (error) {
    if (isMissing(error)) return [];
    throw cannotRemove(directory, error);
  }
}

/** Directories stay: they hold no token. */
function remove(file: string): boolean {
  try {
    if (fs.lstatSync(file).isDirectory()) return false;
    fs.rmSync(file, { force: true });
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw cannotRemove(file, error);
  }
}

function cannotRemove(file: string, cause: unknown): ImgctlError {
  return new ImgctlError('config', `cannot remove ${file}: ${errorReason(cause)}`, {
    hint: 'remove it by hand: it holds an access token',
    cause,
  });
}
