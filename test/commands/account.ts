// A user with an account at an emulator of the test's own, for commands about logins, tokens and settings.

import type { EmulatorOptions } from '../../src/emulator/options.ts';
import type { Emulator } from '../../src/emulator/server.ts';
import { serve } from '../support/emulator.ts';
import { type CliResult, type FakeIoOptions, runCli, temporaryDirectory } from '../support/io.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Account {
  readonly emulator: Emulator;
  /** Base URL, user name and a folder for the settings; no password. */
  readonly env: Environment;
  /** `METHOD /path?query` of every request that arrived. */
  readonly requests: string[];
  /** The value of every Authorization header that arrived. */
  readonly credentials: string[];
  /** Runs imgctl; what `io.env` holds is added to the account's own. */
  imgctl(argv: readonly string[], io?: FakeIoOptions): Promise<CliResult>;
}

/** The user demo, whose password is demo. */
export async function startAccount(options: EmulatorOptions = {}): Promise<Account> {
  const requests: string[] = [];
  const credentials: string[] = [];
  const emulator = await serve({
    images: 25,
    onRequest: ({ method, target, headers }) => {
      requests.push(`${method} ${target}`);
      credentials.push(headers.authorization ?? '');
    },
    ...options,
  });
  const env = {
    IMGCTL_BASE_URL: emulator.baseUrl,
    IMGCTL_USERNAME: 'demo',
    IMGCTL_CONFIG_DIR: temporaryDirectory(),
  };
  return {
    emulator,
    env,
    requests,
    credentials,
    imgctl: (argv, io = {}) => runCli(argv, { ...io, env: { ...env, ...io.env } }),
  };
}

/** For `io.env`: the password that lets commands renew the token. */
export const PASSWORD: Environment = { IMGCTL_PASSWORD: 'demo' };

export const TOKEN_REQUEST = 'POST /auth/request-token';
