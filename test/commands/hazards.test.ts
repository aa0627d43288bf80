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
import { expect, it } from 'vitest';
import type { System } from '../../src/io.ts';
import { HOSTILE, RAW_HARM } from '../output/hostile.ts';
import { testImage } from '../support/catalogue-page.ts';
import { modeOf } from '../support/files.ts';
import { failed, fakeIo, runCli, temporaryDirectory } from '../support/io.ts';
import { unixOnlySuite } from '../support/platform.ts';
import {
  type ScriptedResponse,
  type ScriptedServer,
  scriptedServer,
} from '../support/scripted-server.ts';
import { writeOva } from '../support/uploads.ts';
import { type Environment, PASSWORD, scriptedUser, TOKEN_REQUEST } from '../support/users.ts';

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
