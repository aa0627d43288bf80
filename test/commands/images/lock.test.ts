// images lock and images get --lock: locking, checking and updating images, and the file they are in.

import fs from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Image } from '../../../src/api/types.ts';
import { breakMutex, holdMutex } from '../../../src/files/mutex.ts';
import { changeUserFile } from '../../../src/files/user-file.ts';
import { catalogueByName, named } from '../../support/catalogue-page.ts';
import { failed, fakeIo, runCli, temporaryDirectory } from '../../support/io.ts';
import { unixOnly } from '../../support/platform.ts';
import { expectSteps, type Step } from '../../support/steps.ts';
import { scriptedUser } from '../../support/users.ts';

const WEB_1 = named(1, 'ubuntu-22.04-server.ova');
const WEB_2 = named(2, 'ubuntu-24.04-server.ova');
const DB_1 = named(11, 'debian-11.ova');
const DB_2 = named(12, 'debian-12.ova');
const EIGHT = named(1, 'rocky-8.10-x86_64.ova');
const NINE = named(2, 'rocky-9.5-x86_64.ova');
const LATER = '2020-01-01 Wed 00:00:00 UTC';
const TWO = '2 series match\n  ubuntu-22.04-server.ova\n  debian-11.ova';
const REPLACED = named(1, WEB_1.name, { updated_on: LATER });

afterEach(() => void vi.unstubAllEnvs());

/** A user in the folder of a project, and a service whose images a test changes. */
async function project(...images: readonly Image[]) {
  const service = { images, listsOnly: false, move: () => {} };
  const user = await scriptedUser((...args) => {
    service.move();
    return service.listsOnly && /\d$/.test(args[0].url.pathname)
      ? { status: 404 }
      : catalogueByName(service.images)(...args);
  });
  const cwd = temporaryDirectory();
  const file = path.join(cwd, 'images.lock.json');
  const content = () => fs.readFileSync(file, 'utf8');
  const lock = (line: string) => user.imgctl(`images lock ${line}`, { cwd });
  const get = (line: string) => user.imgctl(`images get ${line}`, { cwd });
  /** Expects the results of lines of `images ...`. */
  const steps = (...all: readonly Step[]) =>
    expectSteps((line) => user.imgctl(`images ${line}`, { cwd }), ...all);
  return { ...user, service, cwd, file, content, lock, get, steps };
}

/** A project that has locked web and db. */
async function locked() {
  const all = await project(WEB_1, DB_1);
  await all.lock('add web ubuntu server');
  await all.lock('add db -f name,like,debian%');
  return all;
}

describe('images lock add', () => {
  it('locks the newest image and writes one field per line', async () => {
    const { steps, content, file, server } = await project(WEB_1, WEB_2, DB_1);
    const record = /^lock +web\nid +2\nname +ubuntu-24.*\nupdated_on .*\n$/;
    const what = 'ubuntu-24.04-server.ova (the newest of "ubuntu server -f id,lt,10")';
    const note = `imgctl: locked web in images.lock.json: ${what}\n`;
    await steps(['lock add web ubuntu server -f id,lt,10', record, note]);
    const { id, name, path, created_on, updated_on } = WEB_2;
    const query = { text: ['ubuntu', 'server'], filters: ['id,lt,10'] };
    const images = { web: { ...query, id, name, path, created_on, updated_on } };
    const whole = { version: 1, base_url: server.baseUrl, images };
    expect(content()).toBe(`${JSON.stringify(whole, null, 2)}\n`);
    expect(fs.statSync(file).mode & 0o777).toBe(0o666 & ~process.umask());
  });

  it('locks the newest image of all without words', async () => {
    const { steps } = await project(WEB_1, WEB_2);
    const what = 'ubuntu-24.04-server.ova (the newest image)';
    const note = `imgctl: locked web in images.lock.json: ${what}\n`;
    await steps(['lock add web --get id', '2\n', note]);
  });

  it('replaces the image and the query of a name only with --replace', async () => {
    const { steps } = await locked();
    const table = /^lock +web\nid +11\n/;
    const done = /locked web in images.lock.json: debian-11.ova \(the newest of "debian"\)\n/;
    const web = { lock: 'web', text: ['debian'], filters: [], id: 11 };
    await steps(
      ['lock add web debian --replace', table, done],
      ['lock list --json', [{ lock: 'db' }, web]],
    );
  });

  it('stores times with their offset, for machines in other zones', async () => {
    vi.stubEnv('TZ', 'America/New_York');
    const { lock, content } = await project(WEB_1);
    await lock("add web -f 'updated_on>=2018-07-19 07:00' -f created_on,gt,7d");
    const filters = ['updated_on,ge,2018-07-19T07:00:00-04:00', 'created_on,gt,7d'];
    expect(JSON.parse(content()).images.web.filters).toEqual(filters);
    vi.stubEnv('TZ', 'Asia/Tokyo');
    expect((await lock('check --get state')).stdout).toBe('ok\n');
  });

  it('escapes controls and marks that reorder text, as JSON output does', async () => {
    const web = named(1, 'ubuntu-é\u009b\u202e-22.04.ova');
    const { lock, content } = await project(web);
    await lock('add web ubuntu');
    expect(content()).toContain('"name": "ubuntu-é\\u009b\\u202e-22.04.ova"');
    expect((await lock('check')).exitCode).toBe(0);
  });

  it('keeps nothing of a time that is no text, and compares it so', async () => {
    const { lock } = await project(Object.assign({ ...WEB_1 }, { updated_on: 5 }));
    await lock('add web ubuntu');
    expect((await lock('check')).exitCode).toBe(0);
  });

  it.each([
    ['add web ubuntu', 2, 'web is already locked\nhint: add --replace, or use another name\n'],
    [
      'add x',
      2,
      `imgctl: x: ${TWO}\nhint: lock the first with: imgctl images lock add x -f 'name,like,ubuntu-%-server.ova'\n`,
    ],
    [
      'add x --file y.json',
      2,
      `imgctl images lock add x --file y.json -f 'name,like,ubuntu-%-server.ova'\n`,
    ],
    [
      'add web --replace',
      2,
      `imgctl images lock add web --replace -f 'name,like,ubuntu-%-server.ova'\n`,
    ],
    ['add x fedora', 5, 'x: no images match'],
    ['add x 500', 5, 'to select by id: -f id=500'],
    ['add ../x ubuntu', 2, 'invalid lock name: ../x'],
    ['add __proto__ ubuntu', 2, 'invalid lock name: __proto__'],
    ['add x ubuntu -f nme,eq,1', 2, "unknown field 'nme'"],
    [
      'add x ubuntu --file none/x.json',
      1,
      'cannot write the lock file none/x.json: no such file or directory',
    ],
    ['update --get nme', 2, 'valid: lock, change, old_id'],
    ['check --get nme', 2, 'valid: lock, state'],
    ['check wbe', 5, "no image is locked as 'wbe'"],
    ['check --file x.json', 2, 'create it with: imgctl images lock add NAME TEXT --file x.json\n'],
    ['update db --get id --file ./images.lock.json x', 5, 'list --file ./images.lock.json\n'],
    ['remove webb', 5, 'hint: did you mean web?'],
  ])('%s exits %i and leaves the file', async (line, exitCode, message) => {
    const { lock, content, cwd } = await locked();
    const before = content();
    expect(await lock(line)).toEqual(failed(exitCode, message));
    expect(content()).toBe(before);
    expect(fs.readdirSync(cwd)).toEqual(['images.lock.json']);
  });

  unixOnly('links need rights')(
    'loses no name and keeps the links if several processes write by links and paths',
    async () => {
      const { env, cwd } = await project(WEB_1);
      const target = path.join(cwd, 'shared');
      fs.mkdirSync(target);
      const file = path.join(target, 'all.json');
      const links = { 'one.json': 'shared/all.json', 'two.json': 'one.json', folder: 'shared' };
      for (const [name, to] of Object.entries(links)) fs.symlinkSync(to, path.join(cwd, name));
      const paths = ['shared/all.json', 'one.json', 'two.json', 'folder/all.json'];
      const names = ['b', 'constructor', 'a.1', 'C', 'd'];
      // With the real clock: waits that take no time would take a lock for abandoned.
      const add = (name: string, index: number) =>
        runCli(['images', 'lock', 'add', name, 'ubuntu', '--file', paths[index % 4] ?? ''], {
          env,
          cwd,
        });
      const results = await Promise.all(names.map(add));
      expect(results.filter(({ exitCode }) => exitCode !== 0)).toEqual([]);
      const stored = Object.keys(JSON.parse(fs.readFileSync(file, 'utf8')).images);
      expect(stored).toEqual(names.toSorted());
      for (const [name, to] of Object.entries(links)) {
        expect(fs.readlinkSync(path.join(cwd, name))).toBe(to);
      }
      expect(fs.readdirSync(target)).toEqual(['all.json']);
    },
  );
});

describe('images lock', () => {
  it('list and remove need no request', async () => {
    const { requests, steps } = await locked();
    const before = requests().length;
    const db = { lock: 'db', text: [], filters: ['name,like,debian%'], id: 11, name: DB_1.name };
    await steps(
      ['lock list --get path', `${DB_1.path}\n${WEB_1.path}\n`],
      ['lock list --json', [db, { lock: 'web' }]],
      ['lock list', /^lock +id +name +updated_on\n/],
      ['lock remove web', '', 'imgctl: unlocked web\n'],
      ['lock list -q', 'db\n'],
    );
    expect(requests()).toHaveLength(before);
  });

  it.each(['list', 'check', 'update', 'remove web'])('%s exits 2 without a file', async (line) => {
    const { lock } = await project();
    const message = 'the lock file images.lock.json does not exist\nhint: create it with: imgctl';
    expect(await lock(line)).toEqual(failed(2, message));
  });

  it.each<[string, (text: string) => string, problem: string, hint?: string]>([
    ['damaged', (text: string) => text.slice(0, -10), 'is not valid JSON'],
    ['empty', () => '', 'is not valid JSON'],
    ['foreign', () => '{"name":"x","lockfileVersion":3}', 'has an unknown format'],
    ['a list', () => '[]', 'has an unknown format'],
    ['deep', () => '['.repeat(51) + ']'.repeat(51), 'is nested too deep'],
    [
      'without a list',
      (text: string) => text.replace('"images"', '"image"'),
      'has an unknown format',
    ],
    ['of no address', (text: string) => text.replace(/"http.*"/, '5'), 'is damaged at base_url'],
    [
      'newer',
      (text: string) => text.replace('"version": 1', '"version": 2'),
      'has the newer format 2',
      'upgrade imgctl to read it',
    ],
    ['without an id', (text: string) => text.replace('"id": 11', '"id": "x"'), 'is damaged at db'],
    [
      'with a name twice',
      (text: string) => text.replace('"web"', '"db"'),
      'has db twice',
      'remove one of the two',
    ],
    ['with a wrong query', (text: string) => text.replace('[]', '{}'), 'is damaged at db'],
  ])(
    'exits 2 and leaves the file untouched if it is %s',
    async (_, change, problem, hint = 'restore it, for example with git') => {
      const { lock, get, file, content } = await locked();
      const text = change(content());
      fs.writeFileSync(file, text);
      const stderr = `imgctl: the lock file images.lock.json ${problem}\nhint: ${hint}\n`;
      const result = { stdout: '', stderr, exitCode: 2 };
      for (const line of ['list', 'check', 'update', 'add x ubuntu', 'remove web']) {
        expect(await lock(line)).toEqual(result);
      }
      expect(await get('--lock web')).toEqual(result);
      expect(content()).toBe(text);
    },
  );

  it.each(['check', 'update'])('%s names the lock whose query is wrong', async (line) => {
    const { lock, file, content } = await locked();
    fs.writeFileSync(file, content().replace('"name,like,debian%"', '"foo,eq,1"'));
    expect(await lock(line)).toEqual(failed(2, "db: unknown field 'foo' in filter 'foo,eq,1'"));
  });

  it('quotes the names of a file in its hints', async () => {
    const { steps, file, content } = await project(WEB_2);
    await steps(['lock add web ubuntu -q', 'web\n']);
    fs.writeFileSync(file, content().replace('"web"', '"$(id)"').replace('"id": 2', '"id": 9'));
    const hint = /hint: lock .*: imgctl images lock update '\$\(id\)'\n/;
    await steps(['lock check --get state', 'gone\n', hint, 1], ["get --lock '$(id)'", '', hint, 5]);
  });

  it('matches words of digits with whole numbers', async () => {
    const { steps, service, file, content } = await project(NINE);
    await steps(['lock add web rocky 8', '', /web: no images match; rocky: 1, 8: 0\n$/, 5]);
    await steps([
      'lock add web rocky 95',
      '',
      /\nhint: a number matches only as a whole; write 9\.5\n/,
      5,
    ]);
    service.images = [EIGHT, NINE, named(3, 'rocky-8.11-x86_64.ova')];
    await steps(['lock add nine rocky 9 -q', 'nine\n']);
    // As an earlier imgctl wrote it, which found the 8 in x86_64.
    fs.writeFileSync(file, content().replace('"9"', '"8"'));
    const warning =
      /nine: its image rocky-9\.5-x86_64\.ova does not match rocky 8\nhint: lock one that does: imgctl images lock update nine/;
    await steps(
      ['lock check --get state', 'ok\n', warning],
      ['lock update --get name', 'rocky-8.11-x86_64.ova\n'],
      ['lock check --get state', 'ok\n'],
    );
  });
});

it('images lock check compares with all images that match edited words', async () => {
  const { steps, service, file, content } = await project(NINE);
  await steps(['lock add nine rocky 9 -q', 'nine\n']);
  service.images = [NINE, named(4, 'rocky-10.0-x86_64.ova')];
  fs.writeFileSync(file, content().replace('"9"', '"10"'));
  await steps(['lock check --get state', 'newer\n', / does not match rocky 10\n/]);
});

it('images lock add, update and remove keep members that imgctl does not know', async () => {
  const { lock, content, file, service } = await locked();
  const added = { ...JSON.parse(content()), comment: ['ours'] };
  Object.assign(added.images.web, { owner: { team: 'web' }, 'no-update': true, size: 'SIZE' });
  const size = '12345678901234567890';
  fs.writeFileSync(file, JSON.stringify(added).replace('"SIZE"', size));
  service.images = [WEB_1, WEB_2, DB_1];
  for (const line of ['add other debian', 'update web', 'remove other']) await lock(line);
  const { comment, images } = JSON.parse(content());
  expect([comment, Object.keys(images)]).toEqual([['ours'], ['db', 'web']]);
  expect(images.web).toMatchObject({ id: 2, owner: { team: 'web' }, 'no-update': true });
  expect(content()).toContain(`"size": ${size}`);
  expect((await lock('list --json')).stdout).not.toContain('owner');
});

it('images lock says on a terminal that no images are locked', async () => {
  const { lock, imgctl, cwd } = await locked();
  for (const name of ['db', 'web']) await lock(`remove ${name}`);
  const stderr = 'imgctl: no images are locked\n';
  for (const verb of ['list', 'check', 'update']) {
    const line = `images lock ${verb}`;
    expect(await imgctl(line, { cwd, errorColumns: 80 })).toMatchObject({ stderr, exitCode: 0 });
    expect(await lock(verb)).toMatchObject({ stdout: '', stderr: '' });
  }
});

describe('images lock check', () => {
  it.each([
    ['ok', [WEB_1, named(3, 'ubuntu-24.04-desktop-server.ova')], 0, 0],
    ['ok', [WEB_1, named(0, WEB_1.name)], 0, 0],
    ['newer', [WEB_1, WEB_2], 0, 10],
    ['newer', [WEB_1, { ...WEB_2, id: '2' as never }], 0, 10],
    ['newer', [WEB_1, named(3, WEB_1.name, { created_on: LATER })], 0, 10],
    ['replaced', [named(1, 'other-name.ova'), WEB_2], 1, 1],
    ['moved', [named(1, WEB_1.name, { path: '[other] x.ova' })], 1, 1],
    ['replaced', [named(1, 'other-name.ova', { updated_on: LATER }), WEB_2], 1, 1],
    ['replaced', [named(1, WEB_1.name, { updated_on: LATER, path: '[other] x.ova' })], 1, 1],
    ['ok', [named(1, WEB_1.name, { updated_on: '2018-07-19 Thu 12:00:00 UTC' })], 0, 0],
    ['gone', [WEB_2], 1, 1],
    ['gone', [undefined, named(3, 'ubuntu-20.04-server.ova')], 1, 1],
  ] as const)('says %s (%#)', async (state, images, exitCode, withExitCode) => {
    const { lock, service } = await locked();
    service.images = [...images, DB_1].flatMap((image) => image ?? []);
    const result = await lock('check --json');
    expect(result.exitCode).toBe(exitCode);
    const newest = state === 'newer' ? images[1] : state === 'gone' ? images[0] : undefined;
    const web = { lock: 'web', state, id: 1, name: WEB_1.name, path: WEB_1.path };
    const found = {
      newest_id: newest ? Number(newest.id) : null,
      newest_name: newest?.name ?? null,
    };
    const ok = expect.objectContaining({ lock: 'db', state: 'ok' });
    expect(JSON.parse(result.stdout)).toEqual([ok, { ...web, ...found }]);
    expect((await lock('check --exit-code')).exitCode).toBe(withExitCode);
    expect((await lock('check db --exit-code')).exitCode).toBe(0);
  });

  it('with four locks reads all images once', async () => {
    const names = ['ubuntu', 'debian', 'rocky', 'alma'];
    const images = names.flatMap((name, at) =>
      Array.from({ length: 60 }, (_, minor) =>
        named(1 + 60 * at + minor, `vm-${name}-9.${minor}.ova`),
      ),
    );
    const { lock, requests } = await project(...images);
    for (const name of names) await lock(`add ${name} ${name}`);
    const before = requests().length;
    expect(await lock('check -q')).toMatchObject({ stdout: 'alma\ndebian\nrocky\nubuntu\n' });
    const sent = requests().slice(before);
    // The longest word of the first lock, the page of all, a proof that like minds case, and the rest of all.
    expect(sent).toHaveLength(5);
    expect(sent.filter((each) => each.includes('vm'))).toEqual([]);
  });

  it('prints a table and names what changed', async () => {
    const { steps, service, imgctl, cwd, file } = await locked();
    service.images = [WEB_1, WEB_2];
    const table =
      'lock  state  id  name                     newest_name\n' +
      'db    gone   11  debian-11.ova            -\n' +
      'web   newer   1  ubuntu-22.04-server.ova  ubuntu-24.04-server.ova\n';
    const hint = 'lock the newest images instead: imgctl images lock update db';
    const message = `imgctl: 1 of 2 locked images changed\n  db: gone\nhint: ${hint}\n`;
    fs.copyFileSync(file, path.join(cwd, 'ci lock.json'));
    const named = message.replace(hint, `${hint} --file 'ci lock.json'`);
    const line = ['images', 'lock', 'check', '--file', 'ci lock.json'];
    await steps(['lock check', table, message, 1]);
    expect(await imgctl(line, { cwd })).toMatchObject({ stdout: table, stderr: named });
  });
});

it('images lock update locks all newest images, or those that are named, or none if one fails, and says which are older', async () => {
  const { steps, service, content } = await locked();
  const before = content();
  service.images = [DB_1, DB_2];
  await steps(['lock update', '', /web: no images match/, 5]);
  expect(content()).toBe(before);
  service.images = [WEB_1, WEB_2, DB_1];
  const table =
    'lock  change     old_name                 name\n' +
    'db    unchanged  debian-11.ova            debian-11.ova\n' +
    'web   updated    ubuntu-22.04-server.ova  ubuntu-24.04-server.ova\n';
  await steps(['lock update', table]);
  service.images = [WEB_1, DB_2];
  await steps(['lock update db -q', 'db\n'], ['lock list --get id', '12\n2\n']);
  service.images = [WEB_1, DB_2];
  await steps(['lock update --get change', 'unchanged\ndowngraded\n']);
  // Another image under the same id, and then another path of it.
  service.images = [REPLACED, DB_2];
  await steps(
    ['lock update --get change', 'unchanged\nupdated\n'],
    ['lock check --get state', 'ok\nok\n'],
  );
  service.images = [{ ...REPLACED, path: '[b] x' }, DB_2];
  await steps(
    ['lock update web --get change', 'updated\n'],
    ['get --lock web --get path', '[b] x\n'],
  );
});

it('images lock check and images get --lock agree if the service knows no single image', async () => {
  const { lock, get, service } = await locked();
  service.images = [named(1, 'other-name.ova'), DB_1];
  service.listsOnly = true;
  const row = expect.objectContaining({ lock: 'web', state: 'replaced' });
  expect(JSON.parse((await lock('check web --json')).stdout)).toEqual([row]);
  expect(await get('--lock web')).toEqual(failed(1, 'image 1 is now other-name.ova'));
});

describe('images get --lock', () => {
  const UPDATE = 'hint: lock the newest one instead: imgctl images lock update web\n';

  it('shows the locked image as it is now', async () => {
    const { steps, requests, service, imgctl } = await locked();
    await steps(['lock add ci ubuntu --file ci.json -q', 'ci\n']);
    const before = requests().length;
    await steps(['get --lock web --get path', `${WEB_1.path}\n`]);
    expect(requests().slice(before)).toEqual(['GET /v2/image/1']);
    await steps(['get --lock ci --file ci.json --json --time raw', WEB_1]);
    service.images = [named(1, WEB_1.name, { path: '[b] x' })];
    const moved = (place: string) =>
      `imgctl: warning: web was moved from ${WEB_1.path} to ${place}\n${UPDATE}`;
    await steps(['get --lock web --get path', '[b] x\n', moved('[b] x')]);
    service.images = [{ ...WEB_1, path: null as never }];
    await steps(['get --lock web -q', '1\n', moved('-')]);
    service.images = [REPLACED];
    await imgctl('config set time iso');
    await steps(['get --lock web', '', /: image 1 was updated on 2020-01-01T00:00:00Z\n/, 1]);
  });

  it.each([
    ['--lock web', [WEB_2], 5, 'web is gone: image 1 does not exist'],
    [
      '--lock web',
      [REPLACED],
      1,
      'web was replaced: image 1 was updated on 2020-01-01 00:00\nhint: lock',
    ],
    [
      '--lock web',
      [named(1, 'other.ova')],
      1,
      'web was replaced: image 1 is now other.ova\nhint: lock',
    ],
    [
      '--lock web',
      [named(1, null as never)],
      1,
      `web was replaced: image 1 is now without a name\n${UPDATE}`,
    ],
    [
      '--lock web',
      [named(1, WEB_1.name, { updated_on: null as never })],
      1,
      `web was replaced: image 1 was updated on an unknown date\n${UPDATE}`,
    ],
    ['--lock wbe', [], 5, "no image is locked as 'wbe'"],
    ['--lock web 1', [], 2, '--lock cannot be used with other images'],
    ['--file x.json 1', [], 2, '--file needs --lock'],
    ['--file images.lock.json 1', [], 2, '--file needs --lock'],
    ['', [], 2, 'no image given\nhint: provide an id or a name'],
  ])('rejects %s (%#)', async (line, images, exitCode, message) => {
    const { get, service } = await locked();
    service.images = images;
    expect(await get(line)).toEqual(failed(exitCode, message));
  });
});

describe('a lock file of another service', () => {
  const COMMANDS = [
    'lock add new ubuntu server',
    'lock add web debian --replace',
    'lock check',
    'lock update',
    'lock update web',
    'get --lock web',
  ];

  it.each(COMMANDS)('is refused by images %s, which names the profile that fits', async (line) => {
    const prod = await locked();
    const before = prod.content();
    const staging = await project(named(1, 'freebsd-14.ova'), named(11, 'netbsd-10.ova'));
    const io = { cwd: prod.cwd };
    const [from, to] = [prod.server.baseUrl, staging.server.baseUrl];
    const refusal = `imgctl: the lock file images.lock.json belongs to ${from}, not to ${to}\nhint: `;
    const change = `for another lock file, use --file FILE; if both addresses are one service, write into the file: "base_url": "${to}"\n`;
    expect(await staging.imgctl(`images ${line}`, io)).toEqual(failed(2, `${refusal}${change}`));
    const profiles: Record<string, object> = {
      prod: { 'base-url': from },
      staging: { 'base-url': to },
    };
    const config = path.join(temporaryDirectory(), 'config.json');
    fs.writeFileSync(config, JSON.stringify({ profiles }), { mode: 0o600 });
    const env = { IMGCTL_CONFIG_DIR: path.dirname(config), IMGCTL_BASE_URL: undefined };
    const run = (profile: string) =>
      staging.imgctl(`images ${line} --profile ${profile}`, { ...io, env });
    const hint = `use --profile prod; ${change}`;
    expect(await run('staging')).toEqual(failed(2, `${refusal}${hint}`));
    const variables = { ...env, IMGCTL_BASE_URL: to };
    const given = await staging.imgctl(`images ${line}`, { ...io, env: variables });
    expect(given).toEqual(failed(2, `${refusal}use --base-url ${from}; ${change}`));
    profiles.another = { ...profiles.prod, username: 'another' };
    fs.writeFileSync(
      config,
      JSON.stringify({ profiles: { another: profiles.another, ...profiles } }),
    );
    expect(await run('staging')).toEqual(failed(2, `${refusal}${hint}`));
    profiles.prod = profiles.another;
    fs.writeFileSync(config, JSON.stringify({ profiles }));
    expect(await run('staging')).toEqual(failed(2, `${refusal}${hint}`));
    expect(prod.content()).toBe(before);
    expect(staging.requests()).toEqual([]);
    expect((await run('prod')).exitCode).toBe(0);
  });

  it('that does not name its service can be listed and changed only by remove', async () => {
    const { steps, content, file, server } = await locked();
    const { base_url, ...old } = JSON.parse(content());
    fs.writeFileSync(file, JSON.stringify(old));
    const line = `"base_url": "${base_url}",`;
    const missing = `imgctl: the lock file images.lock.json does not name its service\nhint: if its images are from ${base_url}, add the line: ${line}\n`;
    await steps(
      ...COMMANDS.map((each): Step => [each, '', missing, 2]),
      ['lock list --get lock', 'db\nweb\n'],
      ['lock remove db', '', /unlocked db|Unlocked db/],
    );
    expect(JSON.parse(content()).base_url).toBeUndefined();
    fs.writeFileSync(file, content().replace('{', `{ ${line}`));
    await steps(['lock check --get state', 'ok\n']);
    expect(base_url).toBe(server.baseUrl);
  });

  it('is compared with a compressed snapshot of its own service, without a request', async () => {
    const { steps, cwd, requests, content, imgctl, file } = await locked();
    await imgctl('images snapshot all.json', { cwd });
    fs.writeFileSync(path.join(cwd, 'all.json.gz'), gzipSync(fs.readFileSync(`${cwd}/all.json`)));
    const sent = requests().length;
    const before = content();
    const inode = () => fs.statSync(file).ino;
    const written = inode();
    await steps(
      ['lock check --from all.json.gz --get state', 'ok\nok\n'],
      ['lock update --from all.json.gz --get change', 'unchanged\nunchanged\n'],
    );
    expect(inode()).toBe(written);
    await steps(
      ['lock add web2 ubuntu --from all.json.gz --get id', '1\n', /locked web2/],
      ['get --lock web2 --from all.json.gz --get id', '1\n'],
      ['lock remove web2', '', /nlocked web2/],
      ['list --from all.json.gz --get id', '11\n1\n'],
    );
    const other = fs.readFileSync(`${cwd}/all.json`, 'utf8').replace(/http:[^"]+/, 'https://x.y');
    fs.writeFileSync(path.join(cwd, 'other.json'), other);
    const refusal = /belongs to http:.*, not to https:\/\/x\.y\nhint: use a snapshot of http:/;
    await steps(['lock update --from other.json', '', refusal, 2]);
    expect([requests().length, content()]).toEqual([sent, before]);
  });
});

describe('a lock file that another program replaces while images are read', () => {
  /** Replaces the file at the first request, by what an editor makes of it. */
  async function edited(line: string, edit: (text: string) => string) {
    const all = await locked();
    all.service.images = [WEB_1, WEB_2, DB_1, DB_2];
    let isEdited = false;
    all.service.move = () => {
      if (!isEdited) fs.writeFileSync(all.file, edit(all.content()));
      isEdited = true;
    };
    const result = await all.lock(line);
    const locks = () => JSON.parse(all.content()).images;
    return { ...all, result, locks };
  }
  const addNote = (text: string) => text.replace('"version"', '"note": "by hand", "version"');
  const renameDb = (text: string) => text.replace('"db"', '"database"');

  it.each([
    ['add new debian', addNote, ['db', 'new', 'web']],
    ['update web', renameDb, ['database', 'web']],
    ['update', renameDb, ['database', 'web']],
  ])('keeps the edit, to which lock %s is applied', async (line, edit, names) => {
    const { result, content, locks } = await edited(line, edit);
    expect(result.exitCode).toBe(0);
    expect(Object.keys(locks()).sort()).toEqual(names);
    if (edit === addNote) expect(content()).toContain('"note": "by hand"');
    else expect(locks().web.id).toBe(WEB_2.id);
  });

  it('prints each lock once', async () => {
    const { result } = await edited('update --json', renameDb);
    expect(JSON.parse(result.stdout).map(({ lock }: { lock: string }) => lock)).toEqual([
      'database',
      'web',
    ]);
  });

  it('is left alone if it is damaged then', async () => {
    const { result, content } = await edited('update', () => '{');
    expect([result.exitCode, content()]).toEqual([2, '{']);
  });

  const hold = (target: string) => holdMutex(target, 1_000, fakeIo());

  it('is changed again if another process took over its mutex', async () => {
    const file = path.join(temporaryDirectory(), 'a');
    let count = 0;
    const change = async () => {
      count += 1;
      if (count === 1) breakMutex(file);
      return `${count}`;
    };
    await changeUserFile(file, 'the lock file a', hold, change);
    expect([count, fs.readFileSync(file, 'utf8')]).toEqual([2, '2']);
  });

  it('is not blamed for a defect of the change', async () => {
    const file = path.join(temporaryDirectory(), 'a');
    const defect = new TypeError('x is undefined');
    const changed = changeUserFile(file, 'the lock file a', hold, () => Promise.reject(defect));
    await expect(changed).rejects.toBe(defect);
  });

  it('that never stops changing is an error', async () => {
    const file = path.join(temporaryDirectory(), 'a');
    let count = 0;
    const change = async () => {
      count += 1;
      fs.writeFileSync(file, `${count}`);
      return 'changed';
    };
    const message = 'another program changed the lock file a';
    const changed = changeUserFile(file, 'the lock file a', hold, change);
    await expect(changed).rejects.toMatchObject({ code: 'failed', message });
    expect([count, fs.readFileSync(file, 'utf8')]).toEqual([10, '10']);
  });
});
