// Failures of commands, and how to cause them.

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { parseFault } from '../../src/emulator/faults.ts';
import type { Emulator } from '../../src/emulator/service.ts';
import type { User } from '../../src/emulator/service-options.ts';
import { account, type Environment, freshHome } from '../support/cli.ts';
import { serve } from '../support/emulator.ts';
import { runCli } from '../support/io.ts';
import { unusedPort } from '../support/sockets.ts';

export interface Command {
  readonly env: Environment;
  readonly argv: readonly string[];
}

interface FailureRow {
  readonly title: string;
  readonly expected: readonly [exitCode: number, code: string, message: RegExp, hint: RegExp];
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
  const login = await runCli(['login', '--password-stdin'], { env, stdin: IMGCTL_PASSWORD });
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
    expected: [
      1,
      'bad-answer',
      /^GET http:\S+\/v2\/image returned 200 with HTML instead of JSON$/,
      /base URL/,
    ],
    prepare: listWith('html'),
  },
  {
    title: 'a failing service',
    expected: [1, 'server-error', /: 503, Fault injected: Service Unavailable$/, /try again later/],
    prepare: listWith('503'),
  },
  {
    title: 'no base URL',
    expected: [2, 'config', /^no service configured/, /imgctl login/],
    prepare: () => ({ env: freshHome(), argv: LIST }),
  },
  {
    title: 'invalid JSON in config.json',
    expected: [2, 'config', /config\.json: not valid JSON at line 1, column 3$/, /fix the file/],
    prepare: () => {
      const env = freshHome();
      writeFileSync(path.join(env.HOME, 'config.json'), '{ broken');
      return { env: { ...env, IMGCTL_CONFIG_DIR: env.HOME }, argv: LIST };
    },
  },
  {
    title: 'an unknown command',
    expected: [2, 'usage', /^unknown command 'imags'$/, /did you mean images\?/],
    prepare: () => ({ env: freshHome(), argv: ['imags', 'list'] }),
  },
  {
    title: 'an unreachable host',
    expected: [3, 'unreachable', /127\.0\.0\.1/, /./],
    prepare: async (user) => {
      const { baseUrl } = await unusedPort();
      return { env: envOf(user, baseUrl), argv: LIST };
    },
  },
  {
    title: 'an unknown host name',
    expected: [3, 'unreachable', /images\.invalid/, /./],
    prepare: (user) => ({ env: envOf(user, 'https://images.invalid'), argv: LIST }),
  },
  {
    title: 'a stalling service',
    expected: [3, 'timeout', /0\.3 s/, /--timeout/],
    prepare: async (user) => {
      const { env, argv } = await listWith('stall')(user);
      return { env, argv: [...argv, '--timeout', '300ms'] };
    },
  },
  {
    title: 'an expired token',
    expected: [4, 'token-refused', /: Valid token, but has expired$/, /imgctl login/],
    prepare: (user) => loggedIn(user, (emulator) => emulator.expireTokens()),
  },
  {
    title: 'an invalid token',
    expected: [4, 'token-refused', /: Invalid token$/, /IMGCTL_TOKEN/],
    prepare: async () => {
      const env = { ...account((await serve()).baseUrl), IMGCTL_TOKEN: 'made-up' };
      return { env, argv: LIST };
    },
  },
  {
    title: 'withdrawn access',
    expected: [4, 'not-permitted', /: User is not authorized to access$/, /access to its API/],
    prepare: (user) => loggedIn(user, (emulator) => emulator.revokeAccess(user.name)),
  },
  {
    title: 'a wrong password',
    expected: [
      4,
      'wrong-credentials',
      /: Invalid username and password combination$/,
      /^check IMGCTL_PASSWORD and the user name/,
    ],
    prepare: async (user) => {
      const { baseUrl } = await serve({ users: [user] });
      const wrong = { ...user, password: `${user.password}-no` };
      return { env: envOf(wrong, baseUrl), argv: ['login'] };
    },
  },
  {
    title: 'a user without permission',
    expected: [4, 'not-permitted', /: User is not authorized to access$/, /access to its API/],
    prepare: async (user) => {
      const { baseUrl } = await serve({ deniedUsers: [user] });
      return { env: envOf(user, baseUrl), argv: ['login'] };
    },
  },
  {
    title: 'no token and no password',
    expected: [4, 'not-logged-in', /^not logged in to http:/, /imgctl login --profile staging$/],
    prepare: () => ({
      env: { ...freshHome(), IMGCTL_BASE_URL: 'http://127.0.0.1:9', IMGCTL_PROFILE: 'staging' },
      argv: LIST,
    }),
  },
  {
    title: 'an unknown image id',
    expected: [5, 'not-found', /999999/, /imgctl images list/],
    prepare: command('images', 'get', '999999'),
  },
  {
    title: 'an unknown sync request',
    expected: [5, 'not-found', /sync request 999 does not exist$/, /imgctl sync-status/],
    prepare: command('sync-status', '999'),
  },
  {
    title: 'too many token requests',
    expected: [
      6,
      'rate-limited',
      /: too many requests$/,
      /^try again in (1 min( 1 s)?|[45]\d s), at \d\d:\d\d:\d\d$/,
    ],
    prepare: async (user) => {
      const { baseUrl, requestToken } = await serve({ users: [user] });
      for (let count = 1; count <= 5; count += 1) {
        expect((await requestToken(user.name, user.password)).status).toBe(200);
      }
      return { env: envOf(user, baseUrl), argv: ['login'] };
    },
  },
  {
    title: 'a sync that takes longer than --wait-timeout',
    expected: [
      7,
      'still-waiting',
      /^sync request \d+ did not finish within .* \(status: PENDING\)$/,
      /imgctl sync-status \d+ --wait$/,
    ],
    prepare: async (user) => {
      const { baseUrl } = await serve({ syncDelay: 3_600_000, users: [user] });
      const argv = ['sync', '--wait', '--wait-timeout', '1ms', '-q'];
      return { env: envOf(user, baseUrl), argv };
    },
  },
];
