// Makers of failures in which a secret is about to show: who sends it back, or where it was put by mistake.

import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { account, type CliOptions, freshHome } from '../support/cli.ts';
import {
  type ScriptedRequest,
  type ScriptedResponse,
  scriptedServer,
} from '../support/scripted-server.ts';
import { tunnelTo } from '../support/sockets.ts';
import type { Secrets } from './canaries.ts';

interface Betrayal extends CliOptions {
  readonly argv: readonly string[];
}

export interface BetrayalRow {
  readonly title: string;
  readonly exitCode: number;
  readonly prepare: (secrets: Secrets) => Betrayal | Promise<Betrayal>;
}

export const LIST = ['images', 'list', '--retries', '0', '--timeout', '2s'];

/** What the service was sent, told by an answer of its own. */
type Echo = (authorization: string, secret: string) => ScriptedResponse;

/** The secret within the header: base64 of a Basic pair, or the token. */
const secretIn = ({ headers }: ScriptedRequest) => headers.authorization?.split(' ')[1] ?? '';

/** A service that answers everything but the token request with an echo. */
export const echoed =
  (echo: Echo, argv: readonly string[] = LIST): BetrayalRow['prepare'] =>
  async ({ user, token }) => {
    const { baseUrl } = await scriptedServer((request) =>
      request.method === 'POST'
        ? { json: { token, duration: 86_400, type: 'ACCESS' } }
        : echo(request.headers.authorization ?? '', secretIn(request)),
    );
    return { env: account(baseUrl, user.name, user.password), argv };
  };

/** A service that answers the token request with an echo of the password, in clear and as it came. */
export const echoedLogin =
  (echo: Echo): BetrayalRow['prepare'] =>
  async ({ user }) => {
    const { baseUrl } = await scriptedServer((request) => echo(user.password, secretIn(request)));
    return { env: account(baseUrl, user.name, user.password), argv: ['login'] };
  };

/** Through a proxy with a password. */
export const throughProxy =
  (answer: string | undefined): BetrayalRow['prepare'] =>
  async ({ user, proxy }) => {
    const { baseUrl } = await tunnelTo(answer);
    const url = baseUrl.replace('//', `//${proxy.name}:${proxy.password}@`);
    const env = account('https://images.example', user.name, user.password);
    return { env: { ...env, HTTPS_PROXY: url }, argv: LIST };
  };

/** With a variable of the environment that holds a secret in a wrong way. */
export const withVariable =
  (name: string, value: (secrets: Secrets) => string): BetrayalRow['prepare'] =>
  (secrets) => ({
    env: {
      ...account('https://images.invalid', secrets.user.name, secrets.user.password),
      [name]: value(secrets),
    },
    argv: LIST,
  });

/** Typed by somebody who has a token. */
export const typed =
  (argvOf: (secrets: Secrets) => string[]): BetrayalRow['prepare'] =>
  async (secrets) => {
    const { baseUrl } = await scriptedServer({});
    const env = { ...freshHome(), IMGCTL_BASE_URL: baseUrl, IMGCTL_TOKEN: secrets.token };
    return { env, argv: argvOf(secrets) };
  };

/** With a settings file of this content. */
export const withSettings =
  (textOf: (secrets: Secrets) => string): BetrayalRow['prepare'] =>
  (secrets) => {
    const env = account('https://images.invalid', secrets.user.name, secrets.user.password);
    const IMGCTL_CONFIG_DIR = path.join(env.HOME, 'settings');
    mkdirSync(IMGCTL_CONFIG_DIR);
    writeFileSync(path.join(IMGCTL_CONFIG_DIR, 'config.json'), textOf(secrets));
    return { env: { ...env, IMGCTL_CONFIG_DIR }, argv: LIST };
  };
