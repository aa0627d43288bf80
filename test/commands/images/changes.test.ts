// images changes: what is reported, when the state advances, and which runs share it.

import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { Image } from '../../../src/api/types.ts';
import { changeOf, compareLabels } from '../../../src/commands/images/changes/compare.ts';
import { findImages } from '../../../src/emulator/resources.ts';
import { ImgctlError } from '../../../src/errors.ts';
import { BrokenPipeError } from '../../../src/io.ts';
import { run } from '../../../src/main.ts';
import { catalogueByName, named, testImage, testImages } from '../../support/catalogue-page.ts';
import { failed, fakeIo } from '../../support/io.ts';
import { unixOnly } from '../../support/platform.ts';
import { after } from '../../support/scripted-server.ts';
import { expectSteps, type Step } from '../../support/steps.ts';
import { type Environment, noted, scriptedUser } from '../../support/users.ts';

/** A user of a service whose images and failures a test changes between runs. */
async function watcher(images: readonly Image[]) {
  const service = {
    images,
    own: [] as readonly Image[],
    /** The ids of images that the next list does not show. */
    hidden: [] as readonly number[],
    /** A path that gets 500. */
    failing: '',
    /** True if the list of own images has no meta.count. */
    withoutCount: false,
  };
  const user = await scriptedUser((request, index) => {
    const { pathname, searchParams } = request.url;
    if (pathname === '/v2/user/image/vm') {
      const meta = service.withoutCount ? {} : { count: service.own.length };
      return { json: { data: service.own, meta } };
    }
    if (pathname === service.failing) return { status: 500 };
    const isList = pathname === '/v2/image';
    const filter = isList ? (searchParams.get('filter') ?? undefined) : undefined;
    const { hidden } = service;
    if (isList) service.hidden = [];
    const shown = service.images.filter(({ id }) => !hidden.includes(id));
    // A service may not know this resource, section 4.4.
    if (!isList) return { status: 404 };
    return catalogueByName(findImages(shown, { filter }).found)(request, index);
  });
  const directory = user.env.IMGCTL_CONFIG_DIR;
  const folder = path.join(directory, 'changes');
  const names = () => (fs.existsSync(folder) ? fs.readdirSync(folder) : []);
  const changes = (line = '', env: Environment = {}) =>
    user.imgctl(`images changes ${line}`, { env });
  /** Expects the results of lines of `images changes`. */
  const steps = (...all: readonly Step[]) =>
    expectSteps((line) => noted(user.imgctl)(`images changes ${line}`), ...all);
  /** Returns the changes of a run as `added 3`. */
  const changed = async (line = '') => summary((await changes(`${line} --json`)).stdout);
  const stateFiles = () => names().map((name) => path.join(folder, name));
  return { ...user, service, changes, changed, steps, stateFiles };
}

const updated = (image: Image): Image => ({ ...image, updated_on: '2020-01-01 Wed 00:00:00 UTC' });

/** The changes as `added 3`. */
const summary = (stdout: string) =>
  JSON.parse(stdout).map(({ change, id }: Record<string, string>) => `${change} ${id}`);

it.each(['name', 'path', 'folder', 'data_store', 'label', 'public', 'updated_on'])(
  'an image with another %s is moved if that says where it is, else updated',
  (field) => {
    const change = ['label', 'public', 'updated_on'].includes(field) ? 'updated' : 'moved';
    const image = testImage(1);
    expect(changeOf(image, { ...image, [field]: null })).toMatchObject({ change });
  },
);

it('images of two services are compared by name if they have no label', () => {
  const [one, two] = [
    { id: 1, name: 'a' },
    { id: 1, name: 'b' },
  ];
  expect(compareLabels([one], [two]).map(({ image }) => image)).toEqual([two, one]);
});

describe('images changes', () => {
  it('stores a baseline in the first run and prints nothing', async () => {
    const { steps } = await watcher(testImages(3));
    const note = 'imgctl: first run: remembered 3 images; the next run shows what changed\n';
    await steps(
      ['', '', note],
      ['ubnutu -o tsv --no-header', '', `imgctl: no images match\n${note.replace('3', '0')}`],
      ['-o json --cursor json', '[]\n', /first run/],
      ['-o ndjson --cursor ndjson', '', /first run/],
      ['-o csv --cursor csv', 'change,id,name,folder,updated_on,before\r\n', /first run/],
    );
  });

  it('reports each change once, in rows with the image before', async () => {
    const { changes, changed, service } = await watcher(testImages(6));
    await changes();
    const [one, two, three, four, five] = testImages(6) as [Image, Image, Image, Image, Image];
    const now = [
      one,
      updated(two),
      named(3, 'new-name.ova'),
      updated({ ...four, folder: 'old', path: `[images] old/${four.name}` }),
      { ...five, data_store: 'other' },
      testImage(7),
    ];
    service.images = now;
    const row = (change: string, image: Image, before: Image | null) => {
      const { id, name, path, folder, updated_on } = image;
      return { change, id, name, path, folder, updated_on, before };
    };
    expect(JSON.parse((await changes('--json --time raw')).stdout)).toEqual([
      row('added', testImage(7), null),
      row('moved', now[4] as Image, five),
      row('moved', now[3] as Image, four),
      row('moved', now[2] as Image, three),
      row('updated', updated(two), two),
      row('removed', testImage(6), testImage(6)),
    ]);
    expect(await changed()).toEqual([]);
    service.images = testImages(6);
    const back = ['added 6', 'moved 5', 'moved 4', 'moved 3', 'updated 2', 'removed 7'];
    expect(await changed()).toEqual(back);
  });

  it('shows the old values in a table, and since when nothing changed, in local time', async () => {
    const { data_store: _, ...two } = updated({ ...testImage(2), folder: 'old', public: false });
    const seven = { ...testImage(7), updated_on: null } as unknown as Image;
    const images = [testImage(1), two as Image, ...testImages(3, 3), seven];
    const { steps, service, imgctl } = await watcher(images);
    await steps(['', '', /first run/]);
    // A run without changes leaves the state as it was.
    await imgctl('images changes', { time: 3_600_000 });
    await steps(
      ['', '', 'imgctl: no changes since 1970-01-01 00:00\n'],
      ['--time iso', '', 'imgctl: no changes since 1970-01-01T00:00:00Z\n'],
    );
    const other = { ...testImage(3), public: false };
    const now = [named(1, 'b.ova'), testImage(2), other, updated(testImage(4)), testImage(6)];
    service.images = [...now, updated(seven)];
    const table =
      'change   id  name            folder  updated_on        before\n' +
      'updated   7  image-0007.ova  linux   2020-01-01 00:00  updated_on: -\n' +
      'added     6  image-0006.ova  linux   2018-07-19 12:00  -\n' +
      'updated   4  image-0004.ova  linux   2020-01-01 00:00  2018-07-19 12:00\n' +
      'updated   3  image-0003.ova  linux   2018-07-19 12:00  public: true, now false\n' +
      'moved     2  image-0002.ova  linux   2018-07-19 12:00  folder: old; data_store: -, now images; public: false, now true; updated_on: 2020-01-01 00:00\n' +
      'moved     1  b.ova           linux   2018-07-19 12:00  name: image-0001.ova\n' +
      'removed   5  image-0005.ova  linux   2018-07-19 12:00  -\n';
    await steps(['', table]);
    vi.unstubAllEnvs();
  });

  it.each([
    ['C', 'folder: linux -> x'],
    ['C.UTF-8', 'folder: linux → x'],
  ])('shows old and new folder on a terminal: LANG=%s', async (LANG, before) => {
    const { changes, service, imgctl } = await watcher(testImages(1));
    await changes();
    service.images = [{ ...testImage(1), folder: 'x' }];
    const { stdout } = await imgctl('images changes', { columns: 200, env: { LANG } });
    expect(stdout).toContain(`  ${before}\n`);
  });

  it('prints csv and ids, and advances only without --peek', async () => {
    const { changes, service, steps, stateFiles } = await watcher(testImages(1));
    const note = 'first run: 1 image, not remembered because of --peek';
    await steps(['--peek', '', `imgctl: ${note}\n`]);
    expect(stateFiles()).toEqual([]);
    await changes();
    service.images = testImages(2);
    const row = 'added,2,image-0002.ova,linux,2018-07-19T12:00:00Z,';
    await steps(
      ['--peek -o csv --no-header', `${row}\r\n`],
      ['--peek -q --exit-code', '2\n', '', 10],
      ['-q --exit-code', '2\n', '', 10],
      ['-q --exit-code'],
    );
  });

  it('shows both images in UTC for programs, also the one before', async () => {
    const { changes, service } = await watcher(testImages(1));
    await changes();
    service.images = [updated(testImage(1))];
    const [row] = JSON.parse((await changes('--json')).stdout);
    for (const time of [row.updated_on, row.before.updated_on, row.before.created_on]) {
      expect(time).toMatch(/^\d{4}-\d\d-\d\dT[\d:]{8}Z$/);
    }
  });

  it('counts the last of the own images with one id, and warns', async () => {
    const { changes, service, steps } = await watcher([]);
    const [first, second, other] = [testImage(1), updated(testImage(1)), testImage(2)];
    service.own = [other];
    await changes('--mine');
    service.own = [first, other, second];
    const added = [{ change: 'added', id: 1, updated_on: second.updated_on }];
    const message = 'the service lists images twice, such as 1; the last one counts';
    await steps(
      ['--mine --json --time raw', added, { warning: { message } }],
      ['--mine --json', [], { warning: { message } }],
    );
  });

  it('compares ids as texts or numbers', async () => {
    const { changes, changed, service, steps } = await watcher(testImages(150));
    service.own = testImages(2);
    for (const line of ['', '--mine']) await changes(line);
    const asText = (image: Image) => ({ ...image, id: `${image.id}` }) as unknown as Image;
    service.images = testImages(149).map(asText);
    service.own = service.own.map(asText);
    expect(await changed()).toEqual(['removed 150']);
    await steps(['--json', []], ['--mine --json', []]);
  });

  it('stores nothing if an image has no id, unless a filter leaves it out', async () => {
    const { service, stateFiles, steps } = await watcher([]);
    const [one, two] = testImages(2) as [Image, Image];
    service.own = [one, { ...two, id: null as unknown as number }];
    const error = 'cannot compare an image without an id';
    await steps(['--mine', '', `imgctl: ${error}\nhint: leave it out with: -f 'id!=null'\n`, 1]);
    expect(stateFiles()).toEqual([]);
    await steps(["--mine -f 'id!=null'", '', /remembered 1 image;/]);
  });

  it('compares times as instants', async () => {
    const { changes, changed, service, steps } = await watcher(testImages(2));
    await changes();
    const [one, two] = testImages(2) as [Image, Image];
    // 15:36:49 EDT and 08:00:00 EDT, an hour later.
    const created_on = '2018-07-18 Wed 19:36:49 UTC';
    service.images = [
      { ...one, created_on },
      { ...two, created_on, updated_on: '2018-07-19 Thu 13:00:00 UTC' },
    ];
    expect(await changed()).toEqual(['updated 2']);
    await steps(['--json', []]);
    service.images = [
      { ...one, created_on: '2018-07-18 Wed 20:36:49 UTC' },
      ...service.images.slice(1),
    ];
    const before = 'created_on: 2018-07-18T19:36:49Z, now 2018-07-18T20:36:49Z';
    const row = `updated,1,image-0001.ova,linux,2018-07-19T12:00:00Z,"${before}"\r\n`;
    await steps(['-o csv --no-header', row]);
  });

  it('stores nothing if the response of the own images lacks their number', async () => {
    const { changes, changed, service } = await watcher([]);
    service.own = testImages(2);
    await changes('--mine');
    service.own = [];
    service.withoutCount = true;
    expect(await changes('--mine')).toEqual(failed(1, 'the body has no number of images'));
    service.own = testImages(2);
    service.withoutCount = false;
    expect(await changed('--mine')).toEqual([]);
  });

  it('ignores the order of fields, and null instead of a missing field', async () => {
    const { changes, changed, service } = await watcher([{ ...testImage(1), folder: null }]);
    await changes();
    const { folder: _, ...others } = testImage(1);
    service.images = [Object.fromEntries(Object.entries(others).reverse()) as Image];
    expect(await changed()).toEqual([]);
  });

  it('has a state for each cursor, query, source, user, profile and service', async () => {
    const { changes } = await watcher(testImages(1));
    const another = await watcher(testImages(1));
    const lines = ['--cursor nightly', 'image', '-f id,le,5', '-f id,le,6', '--mine'];
    const envs = [{ IMGCTL_USERNAME: 'bob' }, { IMGCTL_BASE_URL: another.server.baseUrl }];
    const runs = ['', ...lines, '--profile other'].map((line) => [line, {}] as const);
    for (const [line, env] of [...runs, ...envs.map((each) => ['', each] as const)]) {
      const { stderr } = await changes(line, env);
      const isFirst = stderr.includes('first run');
      expect({ line, env, isFirst }).toEqual({ line, env, isFirst: true });
    }
  });

  it('treats words and filters in any order as the same query', async () => {
    const { changes } = await watcher(testImages(2));
    await changes('image ova -f id,le,5 -f id,ge,1');
    const same = 'ova image -f id,ge,1 -f id,le,5';
    expect(await changes(same)).toEqual({ stdout: '', stderr: '', exitCode: 0 });
  });

  describe.each(['', '--mine '])('%swith a filter', (source) => {
    const line = `${source}-f folder=linux`;
    const watched = async (count: number) => {
      const { service, ...user } = await watcher(testImages(count));
      const show = (images: readonly Image[]) => {
        service.images = images;
        service.own = images;
      };
      show(testImages(count));
      await user.changes(line);
      return { ...user, show };
    };

    it('calls an image removed only if it is gone, and one that left the query moved, once', async () => {
      const { changes, changed, show } = await watched(3);
      const moved = named(2, 'image-0002.ova', { folder: 'bsd' });
      show([testImage(1), moved]);
      const result = await changes(`${line} --json --time raw`);
      expect(summary(result.stdout)).toEqual(['removed 3', 'moved 2']);
      expect(JSON.parse(result.stdout)[1]).toMatchObject({ folder: 'bsd', before: testImage(2) });
      expect(await changed(line)).toEqual([]);
    });

    it('reads the list once if no image left the query', async () => {
      const { changed, requests } = await watched(3);
      const before = requests().length;
      expect(await changed(line)).toEqual([]);
      expect(requests().length - before).toBe(1);
    });

    it('looks for all images that left the query in one reading without the filter', async () => {
      const { changed, show, requests } = await watched(102);
      show(testImages(101).map((image) => ({ ...image, folder: 'bsd' })));
      const before = requests().length;
      const rows = await changed(line);
      const moved = testImages(101).map(({ id }) => `moved ${id}`);
      expect(rows.sort()).toEqual([...moved, 'removed 102'].sort());
      expect(requests().length - before).toBe(source === '' ? 3 : 2);
    });
  });

  it('lets an image leave the query silently that is the same as before', async () => {
    const line = '-f folder=linux --json';
    const { changes, service, stateFiles } = await watcher(testImages(2));
    await changes(line);
    // As if the filter had matched it before.
    const [file = ''] = stateFiles();
    const isElsewhere = (image: Image) => (image.id === 2 ? { ...image, folder: 'bsd' } : image);
    service.images = testImages(2).map(isElsewhere);
    const second = JSON.stringify(service.images[1]);
    const state = fs.readFileSync(file, 'utf8');
    fs.writeFileSync(file, state.replace(JSON.stringify(testImage(2)), second));
    expect(summary((await changes(line)).stdout)).toEqual([]);
    expect(fs.readFileSync(file, 'utf8')).not.toContain(second);
  });

  it.each(['-f id,in,1,2,3', ''])(
    '%s fails if an image that is not listed once exists and matches',
    async (line) => {
      const { changes, service, stateFiles } = await watcher(testImages(3));
      await changes(line);
      const state = fs.readFileSync(stateFiles()[0] ?? '', 'utf8');
      service.hidden = [2];
      const message = 'the list is incomplete: image 2 exists, but is not listed\nhint: run';
      expect(await changes(line)).toEqual(failed(1, message));
      expect(fs.readFileSync(stateFiles()[0] ?? '', 'utf8')).toBe(state);
    },
  );

  it.each([
    ...['updated_on>=-30d', 'created_on,lt,-1h', 'updated_on>=+2d', 'updated_on,in,2024-01-01,-1d'],
  ])('refuses the relative time of %s, before anything is sent', async (filter) => {
    const { changes, requests } = await watcher([]);
    const message = `images changes takes no relative time (got ${filter})\nhint: use a date`;
    expect(await changes(`-f ${filter}`)).toEqual(failed(2, message));
    expect(requests()).toEqual([]);
  });

  it('keeps the state if a page fails, and reports everything in the next run', async () => {
    const { changes, changed, service } = await watcher(testImages(250));
    await changes();
    service.images = [...testImages(249), ...testImages(50, 300)];
    service.failing = '/v2/image';
    expect(await changes('-o ndjson')).toEqual(failed(1, '500'));
    service.failing = '';
    expect(await changed()).toHaveLength(51);
    expect(await changed()).toEqual([]);
  });

  it.each([
    ['is closed early', new BrokenPipeError(), 0],
    ['fails', new ImgctlError('failed', 'cannot write the output: ENOSPC'), 1],
  ])('keeps the state if the output %s', async (_, error, exitCode) => {
    const { changes, changed, service, env } = await watcher(testImages(1));
    await changes();
    service.images = testImages(2);
    const write = () => Promise.reject(error);
    const io = { ...fakeIo({ env }), stdout: { isTTY: false, columns: undefined, write } };
    expect(await run(['images', 'changes'], io)).toBe(exitCode);
    expect(await changed()).toEqual(['added 2']);
  });

  unixOnly('modes are Unix')('stores the state with mode 0600 and no other file', async () => {
    const { changes, stateFiles } = await watcher(testImages(1));
    await changes('--cursor nightly');
    const files = stateFiles().map((file) => [path.basename(file), fs.statSync(file).mode & 0o777]);
    expect(files).toEqual([[expect.stringMatching(/^nightly\.[0-9a-f]{16}\.json$/), 0o600]]);
  });

  it('says what helps if a folder or a file has the name of the state', async () => {
    const { changes, stateFiles, service } = await watcher(testImages(1));
    await changes();
    const [file = ''] = stateFiles();
    fs.rmSync(file);
    fs.mkdirSync(file);
    const folder = 'is not a regular file\nhint: move it elsewhere to start again\n';
    expect(await changes()).toEqual(failed(2, folder));
    fs.rmdirSync(file);
    fs.rmSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(path.dirname(file), '');
    expect(await changes()).toEqual(failed(1, 'not a directory\nhint: check disk space'));
    fs.rmSync(path.dirname(file));
    Object.defineProperty(service, 'images', {
      get() {
        fs.mkdirSync(file, { recursive: true });
        return [];
      },
    });
    const unwritten = `imgctl: cannot write the file ${file}: it is a folder\nhint: check its folder`;
    expect(await changes()).toEqual(failed(1, unwritten));
  });

  unixOnly('/proc is of Linux').each([
    [
      { IMGCTL_CONFIG_DIR: '/proc/x' },
      1,
      /: no such file or directory\nhint: check disk space and permissions, or set IMGCTL_CONFIG_DIR to a writable directory\n$/,
    ],
    [
      { IMGCTL_CONFIG_DIR: undefined, HOME: undefined },
      2,
      'imgctl: cannot remember this run: no home directory\nhint: set HOME, such as HOME=/home/alice, or IMGCTL_CONFIG_DIR\n',
    ],
  ])('says what helps if there is no place for the state: %j', async (env, exitCode, message) => {
    const { changes } = await watcher([]);
    expect(await changes('', env)).toEqual(failed(exitCode, message));
  });

  it.each([
    ['damaged in an image', (text: string) => text.replace('"id":1', '"id":"1'), 'is damaged'],
    [
      'of an unknown version',
      (text: string) => text.replace('"version":1', '"version":"1"'),
      'has an unknown format',
    ],
    [
      'of other words',
      (text: string) => text.replace('"words":[]', '"words":1'),
      'belongs to another query',
    ],
  ])('exits 2 and leaves the state untouched if it is %s', async (_, change, message) => {
    const { changes, stateFiles } = await watcher(testImages(3));
    await changes();
    const [file = ''] = stateFiles();
    const text = change(fs.readFileSync(file, 'utf8'));
    fs.writeFileSync(file, text);
    const whole = `imgctl: the file ${file} ${message}\nhint: move it elsewhere to start again\n`;
    for (const line of ['', '--peek']) expect(await changes(line)).toEqual(failed(2, whole));
    expect(fs.readFileSync(file, 'utf8')).toBe(text);
  });

  it('compares with a snapshot, and neither reads nor stores a state', async () => {
    const { imgctl, changes, service, stateFiles, env } = await watcher(testImages(3));
    const io = { cwd: env.IMGCTL_CONFIG_DIR };
    await imgctl('images snapshot before.json', io);
    service.images = [testImage(1), updated(testImage(2)), named(4, 'x.ova')];
    const line = 'images changes --since-file before.json --json';
    const all = ['added 4', 'updated 2', 'removed 3'];
    const result = await imgctl(`${line} --exit-code`, io);
    expect([summary(result.stdout), result.exitCode]).toEqual([all, 10]);
    expect(summary((await imgctl(`${line} image`, io)).stdout)).toEqual(['updated 2', 'removed 3']);
    // Image 3 has not matched before.
    expect(summary((await imgctl(`${line} x.ova`, io)).stdout)).toEqual(['added 4']);
    expect(stateFiles()).toEqual([]);
    expect((await changes()).stderr).toContain('first run');
  });

  it('compares the labels of two services, of which equal ones are counted', async () => {
    const of = (id: number, label: string, more = {}) => ({
      ...named(id, `${label}.ova`),
      label,
      ...more,
    });
    const prod = await watcher([of(1, 'a'), of(2, 'a'), of(3, 'b'), of(4, 'c', { folder: 'x' })]);
    const io = { cwd: prod.env.IMGCTL_CONFIG_DIR };
    await prod.imgctl('images snapshot prod.json', io);
    const staging = await watcher([
      of(1, 'b'),
      of(2, 'd', { updated_on: '2026-01-05 Mon 10:00:00 IST' }),
      of(3, 'a'),
      of(9, 'c', { folder: 'y' }),
    ]);
    const line = 'images changes --since-file prod.json --json';
    const result = await staging.imgctl(`${line} --exit-code`, io);
    expect([summary(result.stdout), result.exitCode]).toEqual([['added 2', 'removed 2'], 10]);
    const [note] = result.stderr.split('\n').map((text) => (text ? JSON.parse(text) : {}));
    expect(note.note.message).toMatch(
      /^compared by label: prod\.json belongs to http:\S+, not to http:/,
    );
    expect(note.note.hint).toMatch(
      /^if both addresses are one service, compare ids: set base_url in prod\.json to http:/,
    );
    const some = await staging.imgctl(`${line} -f folder=x`, io);
    expect([summary(some.stdout), some.exitCode]).toEqual([[], 0]);
    const table = 'images changes --since-file prod.json -f folder=x';
    const { stderr } = await staging.imgctl(table, { ...io, errorColumns: 500 });
    expect(stderr).toContain('\nimgctl: no images match\n');
    const zoned = await staging.imgctl(`${line} -f updated_on>=2026-01-05T06:00:00Z`, io);
    expect(summary(zoned.stdout)).toEqual(['added 2']);
    expect(zoned.stderr).toContain('1 image has times in the unknown zone IST; it is shown');
  });

  it('compares more images of another service than a call takes arguments', async () => {
    const count = 130_000;
    const { env, imgctl } = await scriptedUser(({ url }) => {
      const page = Number(url.searchParams.get('page'));
      const data = Array.from({ length: 10_000 }, (_, at) => ({ id: `${page} ${at}` }));
      const pages = { page, pages: count / 10_000, total: count, per_page: 10_000, next_url: null };
      return { json: { data, meta: { pages } } };
    });
    const io = { cwd: env.IMGCTL_CONFIG_DIR };
    const head = { version: 1, taken_at: '2026-01-01T00:00:00Z', base_url: 'https://x.y' };
    fs.writeFileSync(`${io.cwd}/prod.json`, JSON.stringify({ ...head, images: [] }));
    const { stdout } = await imgctl('images changes --since-file prod.json -o csv --no-header', io);
    expect(stdout.split('\r\n')).toHaveLength(count + 1);
  });

  it.each([
    ['--cursor ../x', 'invalid cursor name: ../x'],
    ['--cursor a.b', 'invalid cursor name: a.b'],
    ['--since-file none.json', 'imgctl: none.json does not exist'],
  ])('rejects %s and sends nothing', async (line, message) => {
    const { changes, requests } = await watcher([]);
    expect(await changes(line)).toEqual(failed(2, message));
    expect(requests()).toEqual([]);
  });
});

it('images changes does not say that it remembered images if their file cannot be written', async () => {
  let folder = '';
  const remove = () => fs.rmSync(folder, { recursive: true });
  const script = catalogueByName(testImages(3));
  const { env, imgctl } = await scriptedUser(after('GET /v2/image', remove, script));
  folder = path.join(env.IMGCTL_CONFIG_DIR, 'changes');
  const lost =
    /^imgctl: \S+\.json\.lock was removed, or another imgctl took it over\nhint: run the command again\n$/;
  expect(await imgctl('images changes')).toEqual(failed(1, lost));
  const { stderr } = await imgctl('images changes');
  expect(stderr).toBe('imgctl: first run: remembered 3 images; the next run shows what changed\n');
});
