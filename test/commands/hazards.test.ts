// Promises of docs/development/hazards.md that a whole command holds: what it prints and which requests arrive.

import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { HOSTILE, RAW_HARM } from '../output/hostile.ts';
import { testImage } from '../support/catalogue-page.ts';
import { modeOf } from '../support/files.ts';
import { failed, runCli, temporaryDirectory } from '../support/io.ts';
import { unixOnlySuite } from '../support/platform.ts';
import {
  type ScriptedResponse,
  type ScriptedServer,
  scriptedServer,
} from '../support/scripted-server.ts';
import { writeOva } from '../support/uploads.ts';
import { PASSWORD, scriptedUser, TOKEN_REQUEST } from '../support/users.ts';

const pathsOf = ({ requests }: Pick<ScriptedServer, 'requests'>) =>
  requests.map(({ method, url }) => `${method} ${url.pathname}`);
const redirectTo = (status: number, url: string) => ({ status, headers: { location: url } });
const REDIRECTED =
  /^imgctl: .* was redirected to \S+\/stolen \(30\d\); redirects are not followed\n/;

it.each([
  ['images list', 302, 'GET /v2/image'],
  ['sync', 308, 'PATCH /v2/user/image/vm'],
  ['login', 307, TOKEN_REQUEST],
])('imgctl %s sends nothing to the target of a redirect (%i)', async (line, status, sent) => {
  const other = await scriptedServer({});
  const user = await scriptedUser(() => redirectTo(status, `${other.baseUrl}/stolen`));
  const env = line === 'login' ? { IMGCTL_TOKEN: '', IMGCTL_USERNAME: 'demo', ...PASSWORD } : {};
  expect(await user.imgctl(line, { env })).toEqual(failed(1, REDIRECTED));
  expect([pathsOf(user.server), pathsOf(other)]).toEqual([[sent], []]);
});

it.each<[string, Record<string, string>, string]>([
  ['images list', { PASSWORD: 'pw\n\n' }, 'IMGCTL_PASSWORD gave a control character (U+000A)'],
  ['login', { PASSWORD: '\u001b[1mpw' }, 'IMGCTL_PASSWORD gave a control character (U+001B)'],
  ['images list', { USERNAME: 'al\tice' }, 'username has a control character (U+0009)'],
  ["login -u 'al\u007fice'", {}, '--username has a control character (U+007F)'],
  ['images list', { TOKEN: 'to\nken' }, 'IMGCTL_TOKEN is not an access token'],
])('imgctl %s with %j exits 2 and sends nothing', async (line, changes, message) => {
  const variables = { TOKEN: '', USERNAME: 'demo', PASSWORD: 'demo', ...changes };
  const { imgctl, requests } = await scriptedUser({});
  const env = Object.entries(variables).map(([name, value]) => [`IMGCTL_${name}`, value]);
  expect(await imgctl(line, { env: Object.fromEntries(env) })).toEqual(failed(2, message));
  expect(requests()).toEqual([]);
});

it('a line end behind a password, a user name and a token is not sent', async () => {
  const issued = { json: { token: 'T' } };
  const script = { [TOKEN_REQUEST]: issued, 'GET /v2': { json: {} } };
  const env = { IMGCTL_TOKEN: '', IMGCTL_USERNAME: 'demo\n', IMGCTL_PASSWORD: 'demo\r\n' };
  const { imgctl, server } = await scriptedUser(script, env);
  for (const given of [{}, { IMGCTL_TOKEN: 'T\n' }]) {
    const result = await imgctl('api /v2', { env: given });
    expect(result).toMatchObject({ exitCode: 0, stderr: '' });
  }
  const sent = server.requests.map(({ headers }) => headers.authorization);
  expect(sent).toEqual([`Basic ${btoa('demo:demo')}`, 'Bearer T', 'Bearer T']);
});

const ODD = { json: { data: [{ ...testImage(1), name: HOSTILE, folder: HOSTILE }], meta: {} } };

it.each<[string, ScriptedResponse]>([
  ['my-images', ODD],
  ['my-images --retries 0', { status: 400, json: { message: HOSTILE } }],
  ['api /v2', { status: 302, headers: { location: '/\u009b2J%1b[2J' } }],
])('%s --debug escapes harmful text', async (line, response) => {
  const { imgctl } = await scriptedUser(() => response);
  const { stdout, stderr } = await imgctl(`${line} --debug`);
  expect(stderr).toMatch(/^imgctl: debug/);
  expect((stdout + stderr).replaceAll('\n', '')).not.toMatch(RAW_HARM);
});

unixOnlySuite('modes are Unix')('settings that everyone may write', () => {
  /** A home whose settings have this mode, and runs in it. */
  function openHome(mode = 0o606) {
    const home = temporaryDirectory();
    const directory = path.join(home, '.config/imgctl');
    mkdirSync(directory, { recursive: true });
    const file = path.join(directory, 'config.json');
    const settings = { 'base-url': 'http://127.0.0.1:9', 'password-command': `touch ${home}/ran` };
    const profiles = { default: { ...settings, username: 'demo' } };
    writeFileSync(file, JSON.stringify({ profiles }));
    chmodSync(file, mode);
    const imgctl = (line: string) =>
      runCli(line.split(' '), { env: { HOME: home, PATH: process.env.PATH } });
    const state = () => [readFileSync(file, 'utf8'), modeOf(file), readdirSync(home)];
    const problem = `every user can change ${file}\nhint: check ${file}, then run: chmod o-w ${file}\n`;
    return { imgctl, state, problem };
  }

  it.each([
    ...['images list --retries 0', 'token', 'config list', 'config set timeout 5s'],
    ...['config unset username', 'profile use default', 'profile delete default', 'logout'],
    ...['login --password-command id', 'login --password-stdin --profile new'],
  ])('are neither used nor changed by %s', async (line) => {
    const { imgctl, state, problem } = openHome();
    const before = state();
    expect(await imgctl(line)).toEqual(failed(2, problem));
    expect(state()).toEqual(before);
  });

  it('cause a warning of commands that need none, but not of what reads none', async () => {
    const { imgctl, problem } = openHome();
    const sample = writeOva(temporaryDirectory(), 'web');
    for (const line of ['version -o csv', `inspect ${sample}`, `validate ${sample}`]) {
      const stderr = expect.stringContaining(`warning: ${problem}`);
      expect({ line, ...(await imgctl(line)) }).toMatchObject({ line, exitCode: 0, stderr });
    }
    for (const line of ['help', 'version']) {
      expect(await imgctl(line)).toMatchObject({ exitCode: 0, stderr: '' });
    }
  });

  it('are made private if only the group may write them', async () => {
    const { imgctl, state } = openHome(0o660);
    expect((await imgctl('config get username')).stdout).toBe('demo\n');
    expect(state()[1]).toBe('600');
  });
});
