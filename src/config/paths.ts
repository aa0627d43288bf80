// The folders of the settings, of what runs remember, and of the cache.

import path from 'node:path';
import { ImgctlError } from '../errors.ts';
import { expandHome } from '../files/paths.ts';
import type { Io } from '../io.ts';

/** Each is undefined if there is no home directory. */
export interface Paths {
  /** Settings and tokens. */
  readonly config: string | undefined;
  /** What runs remember: syncs, pushes, what `images changes` saw. */
  readonly state: string | undefined;
  /** Values for completion; can be removed at any time. */
  readonly cache: string | undefined;
}

/**
 * Returns IMGCTL_CONFIG_DIR for everything, else XDG, else the platform's convention.
 * @throws ImgctlError usage: IMGCTL_CONFIG_DIR is blank, or has a ~ that is not the home
 */
export function findPaths({ env, cwd, system }: Pick<Io, 'env' | 'cwd' | 'system'>): Paths {
  const own = env.IMGCTL_CONFIG_DIR;
  if (own) {
    if (own.trim() === '') {
      const facts = 'set it to a folder, or unset it';
      throw new ImgctlError('usage', 'IMGCTL_CONFIG_DIR must not be empty', { facts });
    }
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
