// Failures in which somebody else tries to show a secret: the service, a proxy, a broken file, the user.

import { readdirSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { account, runBuilt } from '../support/cli.ts';
import { errorResponse, scriptedServer } from '../support/scripted-server.ts';
import {
  type BetrayalRow,
  echoed,
  echoedLogin,
  LIST,
  throughProxy,
  typed,
  withSettings,
  withVariable,
} from './betray.ts';
import { recordingCommand } from './canaries.ts';
import { tokensOf } from './home.ts';

export const BETRAYALS: readonly BetrayalRow[] = [
  {
    title: 'the header in the message of an error',
    exitCode: 1,
    prepare: echoed((header) => errorResponse(400, `bad header: ${header}`)),
  },
  {
    title: 'the token in the message of a 401',
    exitCode: 4,
    prepare: echoed((_header, token) => errorResponse(401, `unknown token ${token}.`)),
  },
  {
    title: 'the token in the message of a 403',
    exitCode: 4,
    prepare: echoed((_header, token) => errorResponse(403, `${token} may not`)),
  },
  {
    title: 'the header in plain text',
    exitCode: 1,
    prepare: echoed((header) => ({ status: 500, body: `Authorization: ${header}` })),
  },
  {
    title: 'the header in HTML',
    exitCode: 1,
    prepare: echoed((header) => ({ status: 502, body: `<p>Authorization: ${header}</p>` })),
  },
  {
    title: 'the header in a compressed error',
    exitCode: 1,
    prepare: echoed((header) => ({
      status: 500,
      headers: { 'content-encoding': 'gzip' },
      body: gzipSync(JSON.stringify({ message: header })),
    })),
  },
  {
    title: 'the token in the target of a redirect',
    exitCode: 1,
    prepare: echoed((_header, token) => ({ status: 302, headers: { location: `/${token}` } })),
  },
  {
    title: 'the token in the host of a redirect',
    exitCode: 1,
    prepare: echoed((_header, token) => ({
      status: 307,
      headers: { location: `http://${token}@${token}.example/${token}?${token}` },
    })),
  },
  {
    title: 'the token in the headers of the limit',
    exitCode: 6,
    prepare: echoed((_header, token) => ({
      status: 429,
      headers: { 'x-ratelimit-remaining': token, 'x-ratelimit-limit': token },
      json: { message: token },
    })),
  },
  {
    title: 'the token in a submit that has no id',
    exitCode: 1,
    prepare: echoed((header) => ({ status: 202, json: { message: header } }), ['sync']),
  },
  {
    title: 'the token in the errors of a sync',
    exitCode: 1,
    prepare: echoed(
      (_header, token) => ({
        json: { data: { id: 1, status: 'ERROR', message: { errors: [token], warnings: [token] } } },
      }),
      ['sync-status', '1', '--wait'],
    ),
  },
  {
    title: 'the token in the status of a sync',
    exitCode: 7,
    prepare: echoed(
      (_header, token) => ({ json: { data: { id: 1, status: token } } }),
      ['sync-status', '1', '--wait', '--wait-timeout', '1ms'],
    ),
  },
  {
    title: 'the header in the raw answer of an error',
    exitCode: 1,
    prepare: echoed(
      (header) => ({ status: 400, headers: { 'x-echo': header }, json: { message: header } }),
      ['api', '/v2', '-i'],
    ),
  },
  {
    title: 'the password in the refusal of a login',
    exitCode: 4,
    prepare: echoedLogin((password) => errorResponse(401, `wrong password: ${password}`)),
  },
  {
    title: 'the Basic pair in the refusal of a login',
    exitCode: 4,
    prepare: echoedLogin((_password, pair) => errorResponse(401, `wrong password: Basic ${pair}`)),
  },
  {
    title: 'the Basic pair of a login in a redirect',
    exitCode: 1,
    prepare: echoedLogin((_password, pair) => ({
      status: 301,
      headers: { location: `https://images.example/${encodeURIComponent(pair)}` },
    })),
  },
  {
    title: 'a proxy that refuses the password',
    exitCode: 3,
    prepare: throughProxy('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n'),
  },
  { title: 'a proxy that hangs up', exitCode: 3, prepare: throughProxy(undefined) },
  { title: 'a proxy that is none', exitCode: 3, prepare: throughProxy('SSH-2.0-none\r\n') },
  {
    title: 'a proxy of another kind',
    exitCode: 2,
    prepare: withVariable(
      'HTTPS_PROXY',
      ({ proxy }) => `socks5://${proxy.name}:${proxy.password}@p`,
    ),
  },
  {
    title: 'a proxy that is no URL',
    exitCode: 2,
    prepare: withVariable('HTTPS_PROXY', ({ proxy }) => `${proxy.name}:${proxy.password}@p:port`),
  },
  {
    title: 'a base URL with a password',
    exitCode: 2,
    prepare: withVariable('IMGCTL_BASE_URL', ({ user }) => `https://alice:${user.password}@host`),
  },
  {
    title: 'a base URL that is none, with a password',
    exitCode: 2,
    prepare: withVariable('IMGCTL_BASE_URL', ({ user }) => `alice:${user.password}@host`),
  },
  {
    title: 'a token that no header can hold',
    exitCode: 2,
    prepare: withVariable('IMGCTL_TOKEN', ({ token }) => `${token} ${token}\n`),
  },
  {
    title: 'settings that break off in a secret',
    exitCode: 2,
    prepare: withSettings(({ user }) => `{"profiles": {"default": {"password": "${user.password}`),
  },
  {
    title: 'settings that are nothing but a secret',
    exitCode: 2,
    prepare: withSettings(({ user }) => user.password),
  },
  {
    title: 'settings with a secret of a wrong type',
    exitCode: 2,
    prepare: withSettings(({ token }) => `{"profiles": {"default": {"username": ["${token}"]}}}`),
  },
  {
    title: 'an unknown option with a value',
    exitCode: 2,
    prepare: typed(({ user }) => ['login', `--password=${user.password}`]),
  },
  {
    title: 'an unknown short option with a value',
    exitCode: 2,
    prepare: typed(({ user }) => ['login', `-p${user.password}`]),
  },
  {
    title: 'a password where nothing belongs',
    exitCode: 2,
    prepare: typed(({ user }) => ['login', user.password]),
  },
  {
    title: 'a token in the URL of a raw request',
    exitCode: 2,
    prepare: typed(({ token }) => ['api', `https://${token}@images.example/v2`]),
  },
  {
    title: 'a token in the query of a raw request',
    exitCode: 5,
    prepare: typed(({ token }) => ['api', '/v2', '-f', `access_token=${token}`]),
  },
  {
    title: 'a token in the path of a raw request',
    exitCode: 5,
    prepare: typed(({ token }) => ['api', `/v2/${token}`]),
  },
  {
    title: 'a token cache that breaks off in its token, and no way to another',
    exitCode: 4,
    prepare: async ({ user, token }) => {
      const { baseUrl } = await scriptedServer(() => ({ json: { token, duration: 86_400 } }));
      const { IMGCTL_PASSWORD, ...env } = account(baseUrl, user.name, user.password);
      await runBuilt(['login', '--password-stdin'], { env, stdin: IMGCTL_PASSWORD });
      const tokens = tokensOf(env.HOME);
      const [name = ''] = readdirSync(tokens).filter((entry) => entry.startsWith('default.'));
      truncateSync(path.join(tokens, name), 130);
      return { env, argv: LIST };
    },
  },
  {
    title: 'a password command that prints it and fails',
    exitCode: 2,
    prepare: ({ user }) => {
      const { IMGCTL_PASSWORD: _password, ...env } = account('http://127.0.0.1:9', user.name);
      const IMGCTL_PASSWORD_COMMAND = `${recordingCommand(user.password).command}; exit 1`;
      return { env: { ...env, IMGCTL_PASSWORD_COMMAND }, argv: LIST };
    },
  },
  {
    title: 'a password on standard input that is refused',
    exitCode: 4,
    prepare: async ({ user }) => {
      const { baseUrl } = await scriptedServer(() =>
        errorResponse(401, 'Invalid username and password.'),
      );
      const { IMGCTL_PASSWORD, ...env } = account(baseUrl, user.name, user.password);
      return { env, argv: ['login', '--password-stdin'], stdin: `${IMGCTL_PASSWORD}\n` };
    },
  },
  {
    title: 'a defect in the middle of a login',
    exitCode: 1,
    prepare: ({ user }) => {
      const env = account('http://127.0.0.1:9', user.name, user.password);
      const defect = path.join(env.HOME, 'defect.cjs');
      // Every login calls this, and nothing expects it to fail.
      writeFileSync(defect, 'require("node:crypto").createHash = () => broken();');
      return { env: { ...env, NODE_OPTIONS: `--require ${defect}` }, argv: ['login'] };
    },
  },
];
