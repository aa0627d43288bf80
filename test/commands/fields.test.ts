// The fields of JSON output that each command declares, compared with what it prints.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { testImage } from '../support/catalogue-page.ts';
import { certificateFile, selfSigned } from '../support/certificate.ts';
import { leavesOf } from '../support/commands.ts';
import { type CliResult, temporaryDirectory } from '../support/io.ts';
import { writeOva, writeOvf } from '../support/uploads.ts';
import { type Environment, emulatorUser, PASSWORD, scriptedUser } from '../support/users.ts';
import { REQUEST, record, SUBMIT, SUBMITTED } from './packages/sync-harness.ts';

const WAIT = '--wait --poll-interval 500ms';

type Imgctl = (line: string, env?: Environment) => Promise<CliResult>;

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** Returns the types of each field, such as `null, string`. */
function typesIn(rows: readonly object[]): Record<string, string> {
  const types = new Map<string, Set<string>>();
  for (const [name, value] of rows.flatMap((row) => Object.entries(row))) {
    types.set(name, (types.get(name) ?? new Set()).add(typeOf(value)));
  }
  return Object.fromEntries([...types].map(([name, set]) => [name, [...set].sort().join(', ')]));
}

/** The types that each command with fields declares. */
function declaredTypes(): Record<string, Record<string, string>> {
  const sorted = (type: string) =>
    type
      .split(/, | or /)
      .toSorted()
      .join(', ');
  const entries = leavesOf()
    .filter(([, { fields = [] }]) => fields.length > 0)
    .map(([command, { fields = [] }]) => {
      // Computed ones are only shown if they are asked for.
      const stored = fields.filter(({ needs = '' }) => !/^(-c or )?--get/.test(needs));
      return [command, Object.fromEntries(stored.map(({ name, type }) => [name, sorted(type)]))];
    });
  return Object.fromEntries(entries);
}

const image = (id: number, name: string, changes: object = {}) => ({
  ...testImage(id),
  name,
  path: `[store] apps/${name}`,
  ...changes,
});

const APP = image(2, 'app-2.ova');
const WEB = image(9, 'web.ova');
const OLD = [
  image(1, 'app-1.ova', { folder: null }),
  APP,
  image(3, 'db-1.ova', { folder: null }),
  WEB,
];
const NEW = [{ ...APP, updated_on: 'now' }, image(3, 'db-1.ova'), image(4, 'db-2.ova'), WEB];

/** A user with packages and a storage, and the same user of a service with newer images. */
async function createUsers() {
  const uploads = temporaryDirectory();
  const folder = path.join(uploads, 'demo');
  mkdirSync(folder);
  const work = temporaryDirectory();
  writeOva(work, 'good');
  const signed = path.dirname(writeOvf(work, 'signed'));
  const manifest = readFileSync(path.join(signed, 'signed.mf'));
  const certificate = certificateFile('signed.mf', manifest, selfSigned('localhost'));
  writeFileSync(path.join(signed, 'signed.cert'), certificate);
  writeOva(folder, 'mine');
  writeFileSync(path.join(work, 'bad.ova'), 'no archive');
  const user = await emulatorUser({ uploads, syncDelay: 0, catalogue: OLD });
  const later = await emulatorUser({ uploads, syncDelay: 0, catalogue: NEW });
  const imgctl: Imgctl = (line, env) =>
    user.imgctl(line.replaceAll('WORK', work), { env: { ...PASSWORD, ...env } });
  const now = { IMGCTL_BASE_URL: later.emulator.baseUrl };
  await imgctl(`config set upload-url ${pathToFileURL(folder)}`);
  /** Makes a file of one service one of the other. */
  const move = (name: string) => {
    const file = path.join(work, name);
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace(user.emulator.baseUrl, later.emulator.baseUrl));
  };
  return { imgctl, now, move, directory: user.directory };
}

/** A service that sends what the emulator never does, and the same without a list of the user's images. */
async function createOddUsers() {
  const location = '/v2/request/image_sync/41';
  const script = {
    [SUBMIT]: [
      { json: { message: 'Submitted.', request: { id: 'a-1' } } },
      { body: 'OK', headers: { location } },
      { json: null, headers: { location } },
      { json: [], headers: { location } },
      SUBMITTED,
    ],
    [REQUEST]: [
      record({ status: 'PROCESSED', added: 1, deleted: 1 }),
      record({ status: 'DONE', added: ['x'], deleted: ['x'], created_on: 'a', updated_on: 'b' }),
      record({ status: 'PROCESSED' }),
    ],
    'GET /v2/request/image_sync/a-1': { json: { data: { id: 'a-1' } } },
  };
  const own = [image(5, 'good.ova'), image(6, 'x.ova', { folder: null })];
  const list = { 'GET /v2/user/image/vm': { json: { data: own, meta: { count: 2 } } } };
  const odd = await scriptedUser({ ...script, ...list });
  const bare = await scriptedUser(script);
  return { odd, bare, fresh: await scriptedUser(script) };
}

describe('the JSON output', () => {
  it('of every command has the fields that its declaration lists, with these types', async () => {
    const { imgctl, now, move, directory } = await createUsers();
    const { odd, bare, fresh } = await createOddUsers();
    const declared = declaredTypes();
    const found = new Map(Object.keys(declared).map((command) => [command, [] as object[]]));
    const add = async (lines: string, env: Environment = {}) => {
      for (const line of lines.split('; ')) {
        const { stdout, stderr } = await imgctl(`${line} --json`, env);
        expect(stdout, `${line}: ${stderr}`).not.toBe('');
        const [, rows] = [...found].find(([command]) => `${line} `.startsWith(`${command} `)) ?? [];
        rows?.push(...[JSON.parse(stdout)].flat());
      }
    };
    await add('images list; images get 1; images get 1 2; images snapshot');
    await add('images latest app; images latest --each; images latest --explain');
    await imgctl('images snapshot WORK/old.json');
    const { stdout: token } = await imgctl('token');
    await add('images snapshot', { IMGCTL_USERNAME: '', IMGCTL_TOKEN: token.trim() });
    move('old.json');
    await add('images changes --since-file WORK/old.json', now);
    const lock = '--file WORK/lock.json';
    await add(`images lock add app app ${lock}; images lock add db db ${lock}`);
    await add(`images lock list ${lock}`);
    move('lock.json');
    await add(`images lock check ${lock}; images lock update ${lock}`, now);
    await add('my-images', odd.env);
    const PUSH = 'push WORK/good.ova';
    await add(`${PUSH} --dry-run; ${PUSH} --no-sync; ${PUSH} --poll-interval 500ms`);
    await add(`${PUSH} --no-wait`);
    const pushes = Array.from({ length: 4 }, () => `${PUSH} --no-wait`);
    const pushing = { ...odd.env, IMGCTL_CONFIG_DIR: directory };
    await add([...pushes, PUSH].join('; '), pushing);
    await add(`sync; sync ${WAIT}; sync --dry-run`);
    await add(`sync; sync; sync; sync; sync ${WAIT}; sync ${WAIT}; sync ${WAIT}`, bare.env);
    await add(`sync-status; sync-status ${WAIT}; sync-status --list`);
    await add('sync-status a-1', bare.env);
    await add('sync-status 41; sync-status 41; sync-status 41', fresh.env);
    await add('inspect WORK/good.ova; inspect WORK/signed/signed.ovf WORK/bad.ova');
    await add('validate WORK/good.ova; validate WORK/bad.ova');
    await add('whoami; doctor; token; config get timeout; config path; version');
    await add('whoami', { IMGCTL_USERNAME: '' });
    await add('doctor; config list --all', { IMGCTL_TIMEOUT: 'never' });
    await add('token', { IMGCTL_TOKEN: 'T' });
    const settings = ['base-url https://images.example.com', 'username alice'];
    // Not for the service that the variable names.
    for (const setting of [...settings, 'password-command pass'])
      await imgctl(`config set ${setting} --profile other`, { IMGCTL_BASE_URL: undefined });
    await add('profile list');
    for (const [command, rows] of found) {
      expect.soft({ command, types: typesIn(rows) }).toEqual({ command, types: declared[command] });
    }
  });
});

it('columns of states and times are declared as states and times', () => {
  for (const [command, { fields = [] }] of leavesOf()) {
    // The token is printed alone.
    for (const { name, isState = false, isTime = false } of command === 'token' ? [] : fields) {
      if (name === 'checked') continue;
      const isStateByName = /^(.*state|status|severity|change)$/.test(name);
      const shown = [command, name, isStateByName, /_on$/.test(name)];
      expect([command, name, isState, isTime]).toEqual(shown);
    }
  }
});

it('-q prints the first field that identifies a row, and tables cut no such field', () => {
  const ids = leavesOf().flatMap(([line, { fields = [] }]) => {
    const names = fields.filter(({ isId }) => isId).map(({ name }) => name);
    return names.length > 0 ? [`${line}: ${names.join(', ')}`] : [];
  });
  expect(ids).toEqual([
    ...['whoami: username', 'doctor: check', 'images list: id', 'images get: id'],
    ...['images latest: id', 'images changes: id', 'images lock add: lock, id'],
    ...[
      'images lock list: lock, id',
      'images lock check: lock, id',
      'images lock update: lock, id',
    ],
    ...['my-images: id', 'inspect: file', 'validate: code', 'sync: id', 'sync-status: id'],
    ...['config list: key', 'profile list: name'],
  ]);
});
