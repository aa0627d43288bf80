// The folders of imgctl's files, and the names of files that belong to an account.

import path from 'node:path';
import { ImgctlError } from '../errors.ts';
import { builtin, type Io } from '../io.ts';

/** Each is undefined if there is no home directory. */
export interface Paths {
  /** Settings and tokens. */
  readonly config: string | undefined;
  /** What runs remember: syncs, pushes, what `images changes` saw. */
  readonly state: string | undefined;
  /** Values for completion; can be removed at any time. */
  readonly cache: string | undefined;
}

export const SET_HOME = 'set HOME, such as HOME=/home/alice, or IMGCTL_CONFIG_DIR';

export const DEFAULT_LOCK_FILE = 'images.lock.json';

export type Env = Io['env'];

/**
 * Returns a path with the user's home instead of ~/, which a shell leaves in quotes, in variables and behind `=`.
 * @throws ImgctlError usage: another ~ at the beginning, or no home
 */
export function expandHome(text: string, name: string, env: Env): string {
  if (!text.startsWith('~')) return text;
  const home = env.HOME || env.USERPROFILE;
  if (home && /^~(?:[\\/]|$)/.test(text)) return path.join(home, text.slice(1));
  throw new ImgctlError('usage', `cannot expand ~ in ${name}: ${text}`, {
    hint: home ? 'use ~/, a whole path, or ./~ for a name' : 'use a whole path: HOME is not set',
  });
}

/** Returns the folders: IMGCTL_CONFIG_DIR for everything, else XDG, else the platform's convention. */
export function findPaths({ env, cwd, system }: Pick<Io, 'env' | 'cwd' | 'system'>): Paths {
  const own = env.IMGCTL_CONFIG_DIR;
  if (own) {
    const directory = path.resolve(cwd, expandHome(own, 'IMGCTL_CONFIG_DIR', env));
    return { config: directory, state: directory, cache: directory };
  }
  const [appData, localAppData] =
    system.platform === 'win32' ? [env.APPDATA, env.LOCALAPPDATA] : [undefined, undefined];
  const home = env.HOME || env.USERPROFILE;
  const belowHome = (folder: string) => below(home && path.join(home, folder));
  return {
    config: below(env.XDG_CONFIG_HOME) ?? below(appData) ?? belowHome('.config'),
    state: below(env.XDG_STATE_HOME) ?? below(appData) ?? belowHome('.local/state'),
    cache: below(env.XDG_CACHE_HOME) ?? below(localAppData) ?? belowHome('.cache'),
  };
}

/** XDG requires that relative paths in its variables are ignored. */
function below(directory: string | undefined): string | undefined {
  return directory && path.isAbsolute(directory) ? path.join(directory, 'imgctl') : undefined;
}

export function keyedFile(directory: string, name: string, key: readonly string[]): string {
  return path.join(directory, `${name}.${shortDigest(key.join('\0'), 16)}.json`);
}

export function shortDigest(text: string, digits: number): string {
  return builtin('node:crypto').createHash('sha256').update(text).digest('hex').slice(0, digits);
}
