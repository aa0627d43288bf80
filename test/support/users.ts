// Users of imgctl in this process, each with a service: the emulator or a scripted server.

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { type ServeOptions, serve } from './emulator.ts';
import { type CliResult, type FakeIoOptions, runCli, temporaryDirectory } from './io.ts';
import { type Handler, requestsTo, type Script, scriptedServer } from './scripted-server.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export const LIST = ['images', 'list', '--json'];

/** For `io.env`: the password of the user demo, which lets commands renew the token. */
export const PASSWORD: Environment = { IMGCTL_PASSWORD: 'demo' };

export const TOKEN_REQUEST = 'POST /auth/request-token';

/** The environment of a user with an empty temporary home. */
export function freshHome(): { HOME: string; PATH: string } {
  return { HOME: temporaryDirectory(), PATH: process.env.PATH ?? '' };
}

/** The environment of a user with an empty home and a password. */
export function account(baseUrl: string, name = 'demo', password = name) {
  return {
    ...freshHome(),
    IMGCTL_BASE_URL: baseUrl,
    IMGCTL_USERNAME: name,
    IMGCTL_PASSWORD: password,
  };
}

/** A folder for `IMGCTL_CONFIG_DIR` whose default profile has these settings. */
export function configDirectory(settings: Readonly<Record<string, string>>): string {
  const directory = temporaryDirectory();
  const config = JSON.stringify({ profiles: { default: settings } });
  writeFileSync(path.join(directory, 'config.json'), config, { mode: 0o600 });
  return directory;
}

/**
 * Returns the words of a command line and the variables before them, as in `IMGCTL_TOKEN=T whoami`. 'Quotes' keep
 * words together.
 */
function parseLine(line: string) {
  const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(
    ([, quoted, word = '']) => quoted ?? word,
  );
  const start = words.findIndex((word) => !/^[A-Z_]+=/.test(word));
  const variables = start < 0 ? words : words.slice(0, start);
  const env = variables.map((each) => each.split(/=(.*)/s, 2) as [string, string]);
  return { argv: start < 0 ? [] : words.slice(start), env: Object.fromEntries(env) };
}

/** Runs imgctl; `io.env` and the variables of the line are added to the user's own. */
const imgctlOf =
  (env: Environment, defaults: FakeIoOptions = {}) =>
  (command: string | readonly string[], io: FakeIoOptions = {}): Promise<CliResult> => {
    const line = typeof command === 'string' ? parseLine(command) : { argv: command, env: {} };
    return runCli(line.argv, { ...defaults, ...io, env: { ...env, ...io.env, ...line.env } });
  };

/** Runs imgctl with stderr on a terminal, where it writes notes. */
export const noted =
  (imgctl: ReturnType<typeof imgctlOf>) =>
  (line: string | readonly string[], io: FakeIoOptions = {}): Promise<CliResult> =>
    imgctl(line, { errorColumns: 200, ...io });

/** A user without a service, in a folder with this config.json, or none. */
export function localUser(config?: unknown, changes: Environment = {}) {
  const directory = temporaryDirectory();
  const file = path.join(directory, 'config.json');
  if (config !== undefined) writeFileSync(file, JSON.stringify(config));
  const env = { IMGCTL_CONFIG_DIR: directory, ...changes };
  return { directory, file, env, imgctl: imgctlOf(env, { cwd: directory }) };
}

/** The user demo of an emulator, with a folder for the settings and without the password. */
export async function emulatorUser(options: ServeOptions = {}) {
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
  const directory = temporaryDirectory();
  const env = {
    IMGCTL_BASE_URL: emulator.baseUrl,
    IMGCTL_USERNAME: 'demo',
    IMGCTL_CONFIG_DIR: directory,
  };
  /** `requests` has `METHOD /path?query` of every request, `credentials` its Authorization header. */
  return { emulator, directory, env, requests, credentials, imgctl: imgctlOf(env) };
}

/** A user with the token T. One request is sent at a time, so that their order is certain; waits take no time. */
export async function scriptedUser(script: Handler | Script, changes: Environment = {}) {
  const server = await scriptedServer(script);
  const env = {
    IMGCTL_BASE_URL: server.baseUrl,
    IMGCTL_TOKEN: 'T',
    IMGCTL_CONFIG_DIR: configDirectory({ concurrency: '1' }),
    ...changes,
  };
  return { server, env, requests: () => requestsTo(server), imgctl: imgctlOf(env, { time: 0 }) };
}
