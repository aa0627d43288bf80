// The fields of JSON output that each command declares, compared with what it prints.

import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { testImage } from '../support/catalogue-page.ts';
import { type CliResult, runCli, temporaryDirectory } from '../support/io.ts';
import { writeOva, writeOvf } from '../support/uploads.ts';
import { type Environment, emulatorUser, PASSWORD, scriptedUser } from '../support/users.ts';
import { REQUEST, record, SUBMIT, SUBMITTED } from './sync-harness.ts';

const WAIT = '--wait --poll-interval 1ms';

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

/** The types that each command with fields declares, as `commands --json` shows them. */
async function declaredTypes(): Promise<Record<string, Record<string, string>>> {
  const { stdout } = await runCli(['commands', '--json']);
  const {
    commands,
  }: { commands: { command: string; fields: { name: string; type: string }[] }[] } =
    JSON.parse(stdout);
  const sorted = (type: string) =>
    type
      .split(/, | or /)
      .sort()
      .join(', ');
  return Object.fromEntries(
    commands
      .filter(({ fields }) => fields.length > 0)
      .map(({ command, fields }) => [
        command,
        Object.fromEntries(fields.map(({ name, type }) => [name, sorted(type)])),
      ]),
  );
}

const image = (id: number, name: string, changes: object = {}) => ({
  ...testImage(id),
  name,
  path: `[store] apps/${name}`,
  ...changes,
});

const OLD = [
  image(1, 'app-1.ova', { folder: null }),
  image(2, 'app-2.ova'),
  image(3, 'db-1.ova', { folder: null }),
];
const NEW = [
  image(2, 'app-2.ova', { updated_on: 'now' }),
  image(3, 'db-1.ova'),
  image(4, 'db-2.ova'),
];

/** A user with packages and a storage, and the same user of a service with newer images. */
async function createUsers() {
  const uploads = temporaryDirectory();
  const folder = path.join(uploads, 'demo');
  mkdirSync(folder);
  const work = temporaryDirectory();
  writeOva(work, 'good');
  writeFileSync(path.join(path.dirname(writeOvf(work, 'signed')), 'signed.cert'), '');
  writeOva(folder, 'mine');
  writeFileSync(path.join(work, 'bad.ova'), 'no archive');
  const user = await emulatorUser({ uploads, syncDelay: 0, catalogue: OLD });
  const later = await emulatorUser({ uploads, syncDelay: 0, catalogue: NEW });
  const imgctl: Imgctl = (line, env) =>
    user.imgctl(line.replaceAll('WORK', work), { env: { ...PASSWORD, ...env } });
  const now = { IMGCTL_BASE_URL: later.emulator.baseUrl };
  await imgctl(`config set upload-url ${pathToFileURL(folder)}`);
  return { imgctl, now, directory: user.directory };
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
    const { imgctl, now, directory } = await createUsers();
    const { odd, bare, fresh } = await createOddUsers();
    const found = new Map<string, object[]>();
    const add = async (command: string, lines: string[], env: Environment = {}) => {
      const rows = found.get(command) ?? [];
      found.set(command, rows);
      for (const line of lines) {
        const { stdout, stderr } = await imgctl(`${command} ${line} --json`, env);
        expect(stdout, `${command} ${line}: ${stderr}`).not.toBe('');
        rows.push(...[JSON.parse(stdout)].flat());
      }
    };
    await add('images list', ['']);
    await add('images get', ['1', '1 2']);
    await add('images latest', ['app', '--each', 'app --explain']);
    await add('images snapshot', ['']);
    await imgctl('images snapshot --file WORK/old.json');
    const { stdout: token } = await imgctl('token');
    await add('images snapshot', [''], { IMGCTL_USERNAME: '', IMGCTL_TOKEN: token.trim() });
    await add('images changes', ['--since-file WORK/old.json'], now);
    const lock = '--file WORK/lock.json';
    await add('images lock add', [`app app ${lock}`, `db db ${lock}`]);
    await add('images lock list', [lock]);
    await add('images lock check', [lock], now);
    await add('images lock update', [lock], now);
    await add('my-images', [''], odd.env);
    await add('push', [
      'WORK/good.ova --dry-run',
      'WORK/good.ova --no-sync',
      'WORK/good.ova --poll-interval 1ms',
      'WORK/good.ova --force --no-wait',
    ]);
    const pushes = Array.from({ length: 4 }, () => 'WORK/good.ova --force --no-wait');
    await add('push', [...pushes, 'WORK/good.ova --force'], {
      ...odd.env,
      IMGCTL_CONFIG_DIR: directory,
    });
    await add('sync', ['', WAIT, '--dry-run']);
    await add('sync', ['', '', '', '', WAIT, WAIT, WAIT], bare.env);
    await add('sync-status', ['', WAIT, '--list']);
    await add('sync-status', ['a-1'], bare.env);
    await add('sync-status', ['41', '41', '41'], fresh.env);
    await add('inspect', ['WORK/good.ova', 'WORK/signed/signed.ovf WORK/bad.ova']);
    await add('validate', ['WORK/good.ova', 'WORK/bad.ova']);
    await add('whoami', ['']);
    await add('whoami', [''], { IMGCTL_USERNAME: '' });
    await add('doctor', ['']);
    await add('doctor', [''], { IMGCTL_TIMEOUT: 'never' });
    await add('token', ['']);
    await add('token', [''], { IMGCTL_TOKEN: 'T' });
    await add('config list', [''], { IMGCTL_TIMEOUT: 'never' });
    await add('config get', ['timeout']);
    await add('config path', ['']);
    await imgctl('config set base-url https://images.example.com --profile other');
    await imgctl('config set username alice --profile other');
    await imgctl('config set password-command pass --profile other');
    await add('profile list', ['']);
    await add('commands', ['']);
    const declared = await declaredTypes();
    for (const [command, rows] of found) {
      expect.soft({ command, types: typesIn(rows) }).toEqual({ command, types: declared[command] });
    }
    expect([...found.keys()].sort()).toEqual(Object.keys(declared).sort());
  });
});
