// Where imgctl keeps its files: configuration and tokens, and what it remembers between runs.

import path from 'node:path';

export interface Paths {
  /** Settings and tokens; undefined where there is no home to keep them in. */
  readonly config: string | undefined;
  /** Sync history. */
  readonly state: string | undefined;
  /** What completion offers; it can be removed at any time. */
  readonly cache: string | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The directories by IMGCTL_CONFIG_DIR (which then holds everything), XDG, or the platform's custom. */
export function findPaths(env: Environment, cwd: string, platform: NodeJS.Platform): Paths {
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

/** XDG says that a relative path in its variables is to be ignored. */
function below(directory: string | undefined): string | undefined {
  return directory && path.isAbsolute(directory) ? path.join(directory, 'imgctl') : undefined;
}

function belowHome(env: Environment, folder: string): string | undefined {
  const home = env.HOME || env.USERPROFILE;
  return home && path.isAbsolute(home) ? path.join(home, folder, 'imgctl') : undefined;
}
