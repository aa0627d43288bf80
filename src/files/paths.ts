// Paths with the home of the user, and the names of files that belong to an account.

import path from 'node:path';
import { ImgctlError } from '../errors.ts';
import { builtin, type Io } from '../io.ts';

export type Env = Io['env'];

/**
 * Returns a path with the user's home instead of ~/, which a shell leaves in quotes, in variables
 * and after `=`.
 * @throws ImgctlError usage: another ~ at the beginning, or no home
 */
export function expandHome(text: string, name: string, env: Env): string {
  if (!text.startsWith('~')) return text;
  const home = env.HOME || env.USERPROFILE;
  if (home && /^~(?:[\\/]|$)/.test(text)) return path.join(home, text.slice(1));
  throw new ImgctlError('usage', `cannot expand ~ in ${name}: ${text}`, {
    facts: home ? 'use ~/, a whole path, or ./~ for a name' : 'use a whole path: HOME is not set',
  });
}

/** Returns the path of a file for each key, such as the parts of an account. */
export function keyedFile(directory: string, name: string, key: readonly string[]): string {
  return path.join(directory, `${name}.${shortDigest(key.join('\0'), 16)}.json`);
}

export function shortDigest(text: string, digits: number): string {
  return builtin('node:crypto').createHash('sha256').update(text).digest('hex').slice(0, digits);
}
