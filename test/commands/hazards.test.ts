// Promises of docs/development/hazards.md that a whole command holds: what it prints and which requests arrive.

import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { System } from '../../src/io.ts';
import { HOSTILE, RAW_HARM } from '../output/hostile.ts';
import { cataloguePage, testImage, testImages } from '../support/catalogue-page.ts';
import { modeOf } from '../support/files.ts';
import { failed, fakeIo, runCli, temporaryDirectory } from '../support/io.ts';
import { unixOnlySuite } from '../support/platform.ts';
import * as server from '../support/scripted-server.ts';
import { tokenResponse } from '../support/scripted-server.ts';
import { writeOva } from '../support/uploads.ts';
import {
  type Environment,
  emulatorUser,
  localUser,
  PASSWORD,
  scriptedUser,
  TOKEN_REQUEST,
} from '../support/users.ts';

const SYNC = 'PATCH /v2/user/image/vm';
const IMAGES = 'GET /v2/image';
const USER = 'IMGCTL_TOKEN= IMGCTL_USERNAME=demo IMGCTL_PASSWORD=demo';

/** Without the queries. */
const pathsOf = ({ requests }: Pick<server.ScriptedServer, 'requests'>) =>
  requests.map(({ method, url }) => `${method} ${url.pathname}`);

/** The responses of a service that leads to another one. */
type Elsewhere = (other: string) => server.Handler;

const nextElsewhere: Elsewhere =
  (other) =>
  ({ url }) => {
    const isLast = url.searchParams.get('page') === '2';
    const next_url = isLast ? null : `${other}/v2/image?page=2&per_page=1`;
    return { json: cataloguePage(url, testImages(2), { next_url }) };
  };

const redirect =
  (status: number): Elsewhere =>
  (other) =>
  () => ({ status, headers: { location: `${other}/stolen` } });

const REDIRECTED =
  /^imgctl: .* was redirected to \S+\/stolen \(30\d\); redirects are not followed\n/;

it.each<[string, Elsewhere, number, string | RegExp, string[]]>([
  ['images list --per-page 1', nextElsewhere, 0, '', [IMAGES, IMAGES]],
  ['api /v2/image -f per_page=1 --paginate', nextElsewhere, 0, '', [IMAGES, IMAGES]],
  ['images list', redirect(302), 1, REDIRECTED, [IMAGES]],
  ['sync', redirect(308), 1, REDIRECTED, [SYNC]],
  [`${USER} login`, redirect(307), 1, REDIRECTED, [TOKEN_REQUEST]],
  ['images list --base-url http://images.example', redirect(307), 2, /use https:\/\/images\./, []],
])('imgctl sends nothing to another service: %s', async (line, respond, code, stderr, sent) => {
  const other = await server.scriptedServer({});
  const user = await scriptedUser(respond(other.baseUrl), { HTTP_PROXY: other.baseUrl });
  const result = await user.imgctl(line);
  const message = stderr instanceof RegExp ? expect.stringMatching(stderr) : stderr;
  expect(result).toMatchObject({ stderr: message, exitCode: code });
  expect([pathsOf(user.server), pathsOf(other)]).toEqual([sent, []]);
});

const BUSY = { status: 503, json: { message: 'Busy.' } };
const EXPIRED = server.errorResponse(401, 'Valid token, but has expired.');
const ACCEPTED = { status: 202, json: { request: { id: 41 } } };
const TWICE: [string, ...string[]] = [SYNC, TOKEN_REQUEST, SYNC];

it.each<[string, string, server.Script[string], number, RegExp, [string, ...string[]]]>([
  ['one 401', 'sync', [EXPIRED, ACCEPTED], 0, /sync request 41/, TWICE],
  ['each 401', 'sync', EXPIRED, 4, /expired/, TWICE],
  ['a reset', 'api /v2 -X POST', server.RESET, 3, /may have taken/, ['POST /v2']],
  ['a reset', 'login', server.RESET, 3, /^imgctl: /, [TOKEN_REQUEST]],
  ['a 503', 'sync', BUSY, 1, /503, Busy/, [SYNC]],
  ['a 503', 'login', BUSY, 1, /503, Busy/, [TOKEN_REQUEST]],
])(
  'after %s, %s repeats a write only if it had no effect',
  async (_what, line, responses, code, stderr, sent) => {
    const tokens = { [TOKEN_REQUEST]: [tokenResponse('T1'), tokenResponse('T2')] };
    const { imgctl, server: service } = await scriptedUser({ ...tokens, [sent[0]]: responses });
    // The token is cached, so that it can be renewed.
    if (line !== 'login') await imgctl(`${USER} token`);
    expect(await imgctl(`${USER} ${line}`)).toMatchObject({
      stderr: expect.stringMatching(stderr),
      exitCode: code,
    });
    expect(pathsOf(service)).toEqual(line === 'login' ? sent : [TOKEN_REQUEST, ...sent]);
  },
);

const ODD = { json: { data: [{ ...testImage(1), name: HOSTILE, folder: HOSTILE }], meta: {} } };

it.each<[string, server.ScriptedResponse]>([
  ['my-images', ODD],
  ['my-images --retries 0', { status: 400, json: { message: HOSTILE } }],
  ['api /v2', { status: 302, headers: { location: '/\u009b2J%1b[2J' } }],
])('%s --debug escapes harmful text', async (line, response) => {
  const { imgctl } = await scriptedUser(() => response);
  const { stdout, stderr } = await imgctl(`${line} --debug`);
  expect(stderr).toMatch(/^imgctl: debug/);
  expect((stdout + stderr).replaceAll('\n', '')).not.toMatch(RAW_HARM);
});

it.each(['../../x', '__proto__'])('login --profile=%s writes nothing', async (name) => {
  const { directory, imgctl } = localUser();
  const line = `login --profile=${name} --base-url http://127.0.0.1:9`;
  expect(await imgctl(line)).toEqual(failed(2, 'invalid profile name'));
  expect(readdirSync(directory)).toEqual([]);
});

const OWNERS = { me: 4321, other: 1234, root: 0 };

/** A home whose config.json has this owner and mode. */
function homeWith(owner: keyof typeof OWNERS, mode: number, isLink = false) {
  const home = temporaryDirectory();
  const directory = path.join(home, '.config/imgctl');
  mkdirSync(directory, { recursive: true });
  const named = path.join(directory, 'config.json');
  const file = isLink ? path.join(home, 'dotfiles.json') : named;
  if (isLink) symlinkSync(file, named);
  const settings = { 'base-url': 'http://127.0.0.1:9', 'password-command': `touch ${home}/ran` };
  writeFileSync(file, JSON.stringify({ profiles: { default: { ...settings, username: 'demo' } } }));
  chmodSync(file, mode);
  // Only root can give a file away; else the one who runs imgctl is another one.
  const isRoot = process.getuid?.() === 0;
  if (isRoot) chownSync(file, OWNERS[owner], -1);
  const own = isRoot || owner === 'other' ? OWNERS.me : process.getuid?.();
  const imgctl = (line: string, env: Environment = {}, system: Partial<System> = { uid: own }) => {
    const io = fakeIo({ env: { HOME: home, PATH: process.env.PATH, ...env } });
    return runCli(line.split(' '), { ...io, system: { ...io.system, ...system } });
  };
  const state = () => [readFileSync(file, 'utf8'), modeOf(file), readdirSync(home).sort()];
  return { imgctl, directory, named, file, state };
}

unixOnlySuite('owners and modes are Unix')('settings', () => {
  const COMMANDS = [
    ...['images list --retries 0', 'token', 'config list', 'config set timeout 5s'],
    ...['config unset username', 'profile use default', 'profile delete default', 'logout'],
    ...['login --password-command id', 'login --password-stdin --profile new'],
  ];
  const OTHER =
    'FILE belongs to another user\nhint: to trust it, set IMGCTL_CONFIG_DIR to FOLDER; for your own settings, run: sudo -H imgctl …\n';
  const OPEN = 'every user can change FILE\nhint: check FILE, then run: chmod o-w FILE\n';
  const GET = 'config get username';
  const USED = { stdout: 'demo\n', stderr: '', exitCode: 0 };

  it.each<[string, Parameters<typeof homeWith>, string]>([
    ['of another user', ['other', 0o644], OTHER],
    ['of another user behind a link', ['other', 0o644, true], OTHER],
    ['that everyone may write', ['me', 0o606], OPEN],
    ['of root that everyone may write', ['root', 0o646], OPEN],
  ])('%s are neither used nor changed', async (_whose, home, message) => {
    const { imgctl, directory, named, state } = homeWith(...home);
    const before = state();
    const text = message.replaceAll('FILE', named).replaceAll('FOLDER', directory);
    const refused = failed(2, text);
    for (const line of COMMANDS) expect(await imgctl(line)).toEqual(refused);
    expect((await imgctl('help')).exitCode).toBe(0);
    const sample = writeOva(temporaryDirectory(), 'web');
    for (const line of ['commands', `inspect ${sample}`, `validate ${sample}`]) {
      const { stderr, exitCode } = await imgctl(line);
      expect([exitCode, stderr]).toEqual([0, expect.stringContaining(`warning: ${text}`)]);
    }
    expect(state()).toEqual(before);
  });

  it('in a folder that everyone may change are not used', async () => {
    const { imgctl, directory, named } = homeWith('me', 0o600);
    const open = (folder: string) =>
      failed(
        2,
        `every user can change ${folder}\nhint: check ${named}, then run: chmod o-w ${folder}\n`,
      );
    chmodSync(directory, 0o777);
    expect(await imgctl(GET)).toEqual(open(directory));
    expect(await imgctl(GET, { IMGCTL_CONFIG_DIR: directory })).toEqual(USED);
    const linked = homeWith('me', 0o600, true);
    const target = path.dirname(linked.file);
    chmodSync(target, 0o777);
    const hint = `check ${linked.named}, then run: chmod o-w ${target}\n`;
    expect(await linked.imgctl(GET)).toEqual(
      failed(2, `every user can change ${target}\nhint: ${hint}`),
    );
  });

  it('of another user are used in the folder that IMGCTL_CONFIG_DIR names, and on Windows', async () => {
    const { imgctl, directory, file } = homeWith('other', 0o646);
    expect(await imgctl(GET, { IMGCTL_CONFIG_DIR: directory })).toEqual(USED);
    expect(modeOf(file)).toBe('646');
    const windows = homeWith('other', 0o646);
    expect(await windows.imgctl(GET, {}, { uid: undefined })).toEqual(USED);
  });

  it('of root are used, and those that the group may write are made private', async () => {
    expect(await homeWith('root', 0o644).imgctl(GET)).toEqual(USED);
    const { imgctl, file } = homeWith('me', 0o660);
    expect(await imgctl(GET)).toEqual(USED);
    expect(modeOf(file)).toBe('600');
  });
});

describe('the token file', () => {
  const IGNORED = /^imgctl: warning: .* is ignored\n$/;

  it.each<[string, (file: string) => void, RegExp, string]>([
    ['that others can read is made private', (file) => chmodSync(file, 0o644), /^$/, 'T1'],
    ['that is empty is replaced', (file) => writeFileSync(file, ''), IGNORED, 'T2'],
    ['of another shape is replaced', (file) => writeFileSync(file, '{"s3c": 1}'), IGNORED, 'T2'],
  ])('%s', async (_what, change, stderr, token) => {
    const { imgctl, env } = await scriptedUser({
      [TOKEN_REQUEST]: [tokenResponse('T1'), tokenResponse('T2')],
      [IMAGES]: { json: cataloguePage(new URL('http://x/v2/image?expand=1'), testImages(1)) },
    });
    await imgctl(`${USER} login`);
    const folder = path.join(env.IMGCTL_CONFIG_DIR ?? '', 'tokens');
    const file = path.join(folder, readdirSync(folder).find((name) => /^_token/.test(name)) ?? '');
    change(file);
    const result = await imgctl(`${USER} images list -q`);
    expect(result).toEqual({ stdout: '1\n', stderr: expect.stringMatching(stderr), exitCode: 0 });
    expect(result.stderr).not.toContain('s3c');
    expect([readFileSync(file, 'utf8'), modeOf(file)]).toEqual([
      expect.stringContaining(token),
      '600',
    ]);
  });
});

it.each([
  ['slow', -1, ['POST', 'GET', 'GET']],
  ['fast', 1, ['POST', 'GET', 'POST', 'GET']],
])('a clock that is a day %s causes at most one renewal', async (_how, days, expected) => {
  const { imgctl, requests } = await emulatorUser();
  for (const time of [Date.now(), Date.now() + days * 86_400_000]) {
    const env = PASSWORD;
    expect(await imgctl('images list -q', { env, time })).toMatchObject({
      stderr: '',
      exitCode: 0,
    });
  }
  expect(requests.map((request) => request.split(' ')[0])).toEqual(expected);
});

it.each<[string, string[], string, number, string[]]>([
  ['is renewed once, then repeats the page', ['T1'], '1\n2\n3\n', 0, ['1 T1', '2 T1', '2 T2']],
  ['is an error without a list if it persists', ['T1', 'T2'], '', 4, ['1 T1', '2 T1', '2 T2']],
])('a 401 during images list %s', async (_what, refused, stdout, exitCode, expected) => {
  let issued = 0;
  const sent: string[] = [];
  const { imgctl } = await scriptedUser(({ method, url, headers }) => {
    issued += Number(method === 'POST');
    if (method === 'POST') return tokenResponse(`T${issued}`);
    const token = headers.authorization?.slice(7) ?? '';
    sent.push(`${url.searchParams.get('page')} ${token}`);
    const isRefused = sent.length > 1 && refused.includes(token);
    return isRefused ? EXPIRED : { json: cataloguePage(url, testImages(3)) };
  });
  const result = await imgctl(`${USER} images list -q --per-page 2`);
  expect(result).toMatchObject({ stdout, exitCode });
  expect([issued, sent]).toEqual([2, expected]);
});
