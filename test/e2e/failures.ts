// Failures of the built program, and how to cause them.

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { parseFault } from '../../src/emulator/faults.ts';
import type { User } from '../../src/emulator/options.ts';
import type { Emulator } from '../../src/emulator/server.ts';
import { account, type Environment, freshHome, runBuilt } from '../support/cli.ts';
import { serve } from '../support/emulator.ts';
import { unusedPort } from '../support/sockets.ts';

export interface Command {
  readonly env: Environment;
  readonly argv: readonly string[];
}

export interface FailureRow {
  readonly title: string;
  readonly exitCode: number;
  readonly code: string;
  readonly message: RegExp;
  readonly hint: RegExp;
  /** Causes the failure for this user. */
  readonly prepare: (user: User) => Command | Promise<Command>;
}

export const DEMO: User = { name: 'demo', password: 'demo' };

const envOf = ({ name, password }: User, baseUrl: string) => account(baseUrl, name, password);

const LIST = ['images', 'list', '--retries', '0', '--timeout', '1s'];

/** Returns a listing from a service with this fault. */
const listWith =
  (fault: string) =>
  async (user: User): Promise<Command> => {
    const faults = [parseFault(`GET /v2/image=${fault}`)];
    const { baseUrl } = await serve({ faults, users: [user] });
    return { env: envOf(user, baseUrl), argv: LIST };
  };

/** Returns a listing of a user who logged in before a change of the service. */
async function loggedIn(user: User, change: (emulator: Emulator) => void): Promise<Command> {
  const emulator = await serve({ users: [user] });
  const { IMGCTL_PASSWORD, ...env } = envOf(user, emulator.baseUrl);
  const login = await runBuilt(['login', '--password-stdin'], { env, stdin: IMGCTL_PASSWORD });
  expect(login.exitCode).toBe(0);
  change(emulator);
  return { env, argv: LIST };
}

const command =
  (...argv: string[]) =>
  async (user: User): Promise<Command> => {
    const { baseUrl } = await serve({ users: [user] });
    return { env: envOf(user, baseUrl), argv };
  };

export const FAILURES: readonly FailureRow[] = [
  {
    title: 'HTML instead of JSON',
    exitCode: 1,
    code: 'bad-answer',
    message: /^GET http:\S+\/v2\/image answered 200 with HTML instead of JSON$/,
    hint: /base URL/,
    prepare: listWith('html'),
  },
  {
    title: 'a failing service',
    exitCode: 1,
    code: 'server-error',
    message: /: 503, Fault injected: Service Unavailable$/,
    hint: /try again later/,
    prepare: listWith('503'),
  },
  {
    title: 'no base URL',
    exitCode: 2,
    code: 'config',
    message: /^no base URL is set/,
    hint: /imgctl login/,
    prepare: () => ({ env: freshHome(), argv: LIST }),
  },
  {
    title: 'invalid JSON in config.json',
    exitCode: 2,
    code: 'config',
    message: /config\.json: not valid JSON at line 1, column 3$/,
    hint: /mend the file/,
    prepare: () => {
      const env = freshHome();
      writeFileSync(path.join(env.HOME, 'config.json'), '{ broken');
      return { env: { ...env, IMGCTL_CONFIG_DIR: env.HOME }, argv: LIST };
    },
  },
  {
    title: 'an unknown command',
    exitCode: 2,
    code: 'usage',
    message: /^unknown command 'imags'$/,
    hint: /did you mean images\?/,
    prepare: () => ({ env: freshHome(), argv: ['imags', 'list'] }),
  },
  {
    title: 'an unreachable host',
    exitCode: 3,
    code: 'unreachable',
    message: /127\.0\.0\.1/,
    hint: /./,
    prepare: async (user) => {
      const { baseUrl } = await unusedPort();
      return { env: envOf(user, baseUrl), argv: LIST };
    },
  },
  {
    title: 'an unknown host name',
    exitCode: 3,
    code: 'unreachable',
    message: /images\.invalid/,
    hint: /./,
    prepare: (user) => ({ env: envOf(user, 'https://images.invalid'), argv: LIST }),
  },
  {
    title: 'a stalling service',
    exitCode: 3,
    code: 'timeout',
    message: /0\.3 s/,
    hint: /--timeout/,
    prepare: async (user) => {
      const { env, argv } = await listWith('stall')(user);
      return { env, argv: [...argv, '--timeout', '300ms'] };
    },
  },
  {
    title: 'an expired token',
    exitCode: 4,
    code: 'token-refused',
    message: /: Valid token, but has expired$/,
    hint: /imgctl login/,
    prepare: (user) => loggedIn(user, (emulator) => emulator.expireTokens()),
  },
  {
    title: 'an invalid token',
    exitCode: 4,
    code: 'token-refused',
    message: /: Invalid token$/,
    hint: /IMGCTL_TOKEN/,
    prepare: async () => {
      const env = { ...account((await serve()).baseUrl), IMGCTL_TOKEN: 'made-up' };
      return { env, argv: LIST };
    },
  },
  {
    title: 'withdrawn access',
    exitCode: 4,
    code: 'not-permitted',
    message: /: User is not authorized to access$/,
    hint: /permission/,
    prepare: (user) => loggedIn(user, (emulator) => emulator.withdraw(user.name)),
  },
  {
    title: 'a wrong password',
    exitCode: 4,
    code: 'wrong-credentials',
    message: /: Invalid username and password combination$/,
    hint: /^check IMGCTL_PASSWORD and the user name/,
    prepare: async (user) => {
      const { baseUrl } = await serve({ users: [user] });
      const wrong = { ...user, password: `${user.password}-no` };
      return { env: envOf(wrong, baseUrl), argv: ['login'] };
    },
  },
  {
    title: 'a user without permission',
    exitCode: 4,
    code: 'not-permitted',
    message: /: User is not authorized to access$/,
    hint: /permission/,
    prepare: async (user) => {
      const { baseUrl } = await serve({ deniedUsers: [user] });
      return { env: envOf(user, baseUrl), argv: ['login'] };
    },
  },
  {
    title: 'no token and no password',
    exitCode: 4,
    code: 'not-logged-in',
    message: /^not logged in to http:/,
    hint: /imgctl login --profile staging$/,
    prepare: () => ({
      env: { ...freshHome(), IMGCTL_BASE_URL: 'http://127.0.0.1:9', IMGCTL_PROFILE: 'staging' },
      argv: LIST,
    }),
  },
  {
    title: 'an unknown image id',
    exitCode: 5,
    code: 'not-found',
    message: /999999/,
    hint: /imgctl images list/,
    prepare: command('images', 'get', '999999'),
  },
  {
    title: 'an unknown sync request',
    exitCode: 5,
    code: 'not-found',
    message: /sync request 999$/,
    hint: /imgctl sync-status/,
    prepare: command('sync-status', '999'),
  },
  {
    title: 'too many token requests',
    exitCode: 6,
    code: 'rate-limited',
    message: /: too many requests$/,
    hint: /^try again after \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
    prepare: async (user) => {
      const { baseUrl } = await serve({ users: [user] });
      const pair = Buffer.from(`${user.name}:${user.password}`).toString('base64');
      const Authorization = `Basic ${pair}`;
      for (let count = 1; count <= 5; count += 1) {
        const response = await fetch(`${baseUrl}/auth/request-token`, {
          method: 'POST',
          headers: { Authorization },
        });
        expect(response.status).toBe(200);
      }
      return { env: envOf(user, baseUrl), argv: ['login'] };
    },
  },
  {
    title: 'a sync that takes longer than --wait-timeout',
    exitCode: 7,
    code: 'still-waiting',
    message: /^the sync request \d+ has not ended within .*; last seen: PENDING$/,
    hint: /imgctl sync-status \d+ --wait$/,
    prepare: async (user) => {
      const { baseUrl } = await serve({ syncDelay: 3_600_000, users: [user] });
      const argv = ['sync', '--wait', '--wait-timeout', '1ms', '-q'];
      return { env: envOf(user, baseUrl), argv };
    },
  },
];
