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

/** In the working directory. */
export const DEFAULT_LOCK_FILE = 'images.lock.json';

/** Returns the folders: IMGCTL_CONFIG_DIR for everything, else XDG, else the platform's convention. */
export function findPaths(env: Io['env'], cwd: string, platform: NodeJS.Platform): Paths {
  const own = env.IMGCTL_CONFIG_DIR;
  if (own) {
    const directory = path.resolve(cwd, own);
    return { config: directory, state: directory, cache: directory };
  }
  const [appData, localAppData] =
    platform === 'win32' ? [env.APPDATA, env.LOCALAPPDATA] : [undefined, undefined];
  return {
    config: below(env.XDG_CONFIG_HOME) ?? below(appData) ?? belowHome(env, '.config'),
    state: below(env.XDG_STATE_HOME) ?? below(appData) ?? belowHome(env, '.local/state'),
    cache: below(env.XDG_CACHE_HOME) ?? below(localAppData) ?? belowHome(env, '.cache'),
  };
}

/** XDG requires that relative paths in its variables are ignored. */
function below(directory: string | undefined): string | undefined {
  return directory && path.isAbsolute(directory) ? path.join(directory, 'imgctl') : undefined;
}

function belowHome(env: Io['env'], folder: string): string | undefined {
  const home = env.HOME || env.USERPROFILE;
  return home && path.isAbsolute(home) ? path.join(home, folder, 'imgctl') : undefined;
}

/** Returns `<directory>/<name>.<digest of the key>.json`. */
export function keyedFile(directory: string, name: string, key: readonly string[]): string {
  return path.join(directory, `${name}.${shortDigest(key.join('\0'), 16)}.json`);
}

/** Returns the first hexadecimal digits of the SHA-256. */
export function shortDigest(text: string, digits: number): string {
  return builtin('node:crypto').createHash('sha256').update(text).digest('hex').slice(0, digits);
}

/** Returns a name of the user's choice that is no path. @throws ImgctlError usage */
export function checkName(name: string, noun: string, { dots = false } = {}): string {
  const isName = /^[A-Za-z0-9][\w.-]{0,63}$/.test(name) && (dots || !name.includes('.'));
  if (isName) return name;
  throw new ImgctlError('usage', `invalid ${noun} name: ${name.slice(0, 80)}`, {
    hint: `use a letter or digit, then up to 63 letters, digits, ${dots ? '., ' : ''}- or _`,
  });
}
