// images list and my-images: requests, local filters and sorts, pages, --meta, --get, -q and empty results.

import { describe, expect, it } from 'vitest';
import type { Image } from '../../../src/api/types.ts';
import {
  catalogueOf,
  cataloguePage,
  idsOf,
  named,
  rowsOf,
  testImage,
  testImages,
} from '../../support/catalogue-page.ts';
import { failed } from '../../support/io.ts';
import { errorResponse } from '../../support/scripted-server.ts';
import { expectSteps } from '../../support/steps.ts';
import { emulatorUser, noted, PASSWORD, scriptedUser, TOKEN_REQUEST } from '../../support/users.ts';

describe('images list', () => {
  const list = async (options: string, images = testImages(7)) => {
    const { imgctl, server } = await scriptedUser(catalogueOf(images));
    const result = await imgctl(`images list ${options}`);
    const requests = server.requests.map(({ url }) => decodeURIComponent(url.search.slice(1)));
    return { ...result, requests };
  };
  const REST = 'expand=1&sort=id,desc';

  it.each([
    ['', [`per_page=100&page=1&${REST}`]],
    ['--urls', [`per_page=100&page=1&${REST}`]],
    ['-n 3 -f folder,ne,null --per-page 4', [`per_page=4&page=1&${REST}`]],
    ['--page 3 --per-page 2', ['per_page=2&page=3&expand=1']],
    ['--page 1 -f name~image', ['per_page=100&page=1&expand=1&filter=name,like,%image%']],
    ['--page 1 -s id -f id,eq,7', ['per_page=100&page=1&expand=1&filter=id,eq,7&sort=id,asc']],
  ])('sends only what it needs: %s', async (options, requests) => {
    expect(await list(`--json ${options}`)).toMatchObject({ requests, stderr: '', exitCode: 0 });
  });

  it.each([
    [
      '--page 1 -f folder,ne,null',
      '--page cannot be used with words, filters or sorts that imgctl',
    ],
    ['--page 1 image', '--page cannot be used with words, filters or sorts that imgctl'],
    ['--page 1 -f name,like,a%', '--page cannot be used with words, filters or sorts that imgctl'],
    ['--page 1 image ova', '--page cannot be used with words, filters or sorts that imgctl'],
    ['--page 1 -s id -s name', '--page cannot be used with words, filters or sorts that imgctl'],
    ['--columns nam', "unknown field 'nam'"],
    ['--time utc', "'utc'"],
    [
      '--time age -o yaml',
      '--time age cannot be used with the format yaml\nhint: use --time iso, or -o table',
    ],
    [
      '--time local -o tsv',
      '--time local cannot be used with the format tsv\nhint: use --time iso, or -o table',
    ],
    [
      '--since tomorrow',
      "invalid time 'tomorrow' in --since\nhint: use 2024-01-31, 2024-01-31T12:00:00Z, 30d (units: s",
    ],
    [
      '--meta',
      '--meta cannot be used with the format table\nhint: add -o json or -o yaml, or omit --meta',
    ],
    ['--meta -o csv', '--meta cannot be used with the format csv\nhint: '],
    ['-q -o csv --columns id', '--quiet and --columns cannot be used together\nhint: '],
    ['--get nam', "unknown field 'nam' in --get 'nam'\nhint: did you mean name?"],
    ['--get __proto__', "unknown field '__proto__'"],
    ['--get id -o json', '--get and --output cannot be used together'],
  ])('rejects %s without a request', async (options, message) => {
    const { requests, ...result } = await list(options);
    expect({ result, requests }).toEqual({ result: failed(2, message), requests: [] });
  });

  it('prints --page unchanged, and warns if the service sends another page', async () => {
    const doubled = [...testImages(2), ...testImages(2)];
    expect(JSON.parse((await list('--page 1 --json --time raw', doubled)).stdout)).toEqual(doubled);
    const { imgctl } = await scriptedUser(({ url }) => {
      url.searchParams.set('page', '2');
      return { json: cataloguePage(url, testImages(4)) };
    });
    const warning = 'imgctl: warning: the service sent page 2 instead of page 9\n';
    await expectSteps(imgctl, ['images list --page 9 --per-page 2 -q', '3\n4\n', warning]);
    const note = 'no images match on page 1\n';
    const ignoring = await scriptedUser(({ url }) => ({ json: cataloguePage(url, testImages(4)) }));
    await expectSteps(
      noted(ignoring.imgctl),
      ['images list -f id=4 --page 1 --per-page 2', '', `imgctl: ${note}`],
      ['images list -f id=4 --page 2 --per-page 2 -q', '4\n'],
      ['images list -s id,desc --page 2 --per-page 2 --urls -n 1', /\/v2\/image\/2\n$/],
      [
        'images list --page 9 --per-page 2',
        '',
        'imgctl: page 9 does not exist; the last page is 2\nhint: use --page 2\n',
        5,
      ],
    );
    const empty = await scriptedUser(({ url }) => ({ json: cataloguePage(url, []) }));
    await expectSteps(noted(empty.imgctl), ['images list -f id=9 --page 1', '', `imgctl: ${note}`]);
    const { imgctl: ending } = await scriptedUser({});
    await expectSteps(ending, [
      'images list --page 9',
      '',
      'imgctl: page 9 does not exist\nhint: use --page 1\n',
      5,
    ]);
  });

  it.each([
    ['--since 36h', '3\n'],
    ['-f updated_on>=129600s', '3\n'],
    ['--since 90d -n 2', '3\n2\n'],
    ['--since 2024-06-20T00:00:00Z', '3\n2\n'],
    ['--since 2024-06-20T00:00:01Z', '3\n'],
  ])('selects by age or date: %s', async (options, ids) => {
    const days = ['2024-06-01 Sat', '2024-06-20 Thu', '2024-06-29 Sat'];
    const images = days.map((day, at) => ({
      ...testImage(at + 1),
      updated_on: `${day} 00:00:00 UTC`,
    }));
    const { imgctl } = await scriptedUser(catalogueOf(images));
    const time = Date.parse('2024-06-30T00:00:00Z');
    expect((await imgctl(`images list -q ${options}`, { time })).stdout).toBe(ids);
  });

  it('reads all images for the newest if the service says that it sorts otherwise', async () => {
    const dayOf = (id: number) => new Date(Date.UTC(2018, 0, id === 1 ? 999 : id)).toISOString();
    const images = testImages(150).map((image) => ({ ...image, created_on: dayOf(image.id) }));
    const { imgctl } = await scriptedUser(({ url }) => {
      url.searchParams.set('sort', 'id,desc');
      return { json: cataloguePage(url, images) };
    });
    await expectSteps(imgctl, ['images list -s created_on,desc -n 1 --get id', '1\n']);
  });

  it('warns if it sorts times in an unknown zone, and finds names in another Unicode form', async () => {
    const image = named(2, 'cafe\u0301-8.ova', { updated_on: '2024-06-30 Sun 10:00:00 IST' });
    const { imgctl } = await scriptedUser(({ url }) => {
      url.searchParams.delete('sort');
      return { json: cataloguePage(url, [testImage(1), image]) };
    });
    const message = '1 image has times in the unknown zone IST; it is sorted as UTC';
    await expectSteps(
      imgctl,
      ['images list -q -s updated_on', '1\n2\n', `imgctl: warning: ${message}\n`],
      ['images list -q caf\u00e9', '2\n'],
      ['images latest -q CAF\u00c9-8', '2\n'],
      ['images get -q caf\u00e9-8.ova', '2\n'],
    );
  });

  it.each([
    ['', 120, { pages: { page: 1, total: 120 }, user: 'demo' }],
    ['-f folder,ne,null --limit 7', 7, { total: null }],
    ['--urls --page 2', 50, { pages: { page: 2 } }],
  ])('prints the first meta with its own count: --meta %s', async (options, count, meta) => {
    const { imgctl } = await emulatorUser({ images: 120 });
    const line = `images list --json --meta --per-page 50 ${options}`;
    const { data, ...rest } = JSON.parse((await imgctl(line, { env: PASSWORD })).stdout);
    expect(data).toHaveLength(count);
    expect(rest).toMatchObject({ meta: { count, ...meta } });
  });

  it.each([
    ['-q', '7\n6\n'],
    ['-q -o yaml', '- 7\n- 6\n'],
    ['-q -o json', '[\n  7,\n  6\n]\n'],
    ['-c name -o csv', 'name\r\nimage-0007.ova\r\nimage-0006.ova\r\n'],
    ['--get updated_on --time raw', '2018-07-19 Thu 08:00:00 EDT\n'.repeat(2)],
    ['-c updated_on -o csv --time local', `updated_on\r\n${'2018-07-19 12:00\r\n'.repeat(2)}`],
    ['--get updated_on', '2018-07-19T12:00:00Z\n'.repeat(2)],
    ['--get PUBLIC', 'true\n'.repeat(2)],
  ])('prints ids, columns or values: %s', async (options, stdout) => {
    const result = await list(`${options} --limit 2 --fail-empty`);
    expect(result).toMatchObject({ stdout, stderr: '', exitCode: 0 });
  });

  it('shows the versions of a name only if -c or --get asks for them', async () => {
    const images = [named(2, 'web-22.04-2024.ova'), named(1, 'plain.ova')];
    const { imgctl } = await scriptedUser(catalogueOf(images));
    expect(rowsOf((await imgctl('images list --json --time raw')).stdout)).toEqual(images);
    await expectSteps(
      imgctl,
      [
        'images list -c version,id --json',
        [
          { version: '22.04-2024', id: 2 },
          { version: null, id: 1 },
        ],
      ],
      [
        ['images', 'list', '-c', 'ID, version', '-o', 'csv'],
        'id,version\r\n2,22.04-2024\r\n1,\r\n',
      ],
      ['images list web --get version', '22.04-2024\n'],
      ['images list -c all -o csv --limit 1', /^(?!.*version)id,/],
      ['images list -c ALL,version -o csv --limit 1', /^id,.*,version\b/],
    );
  });

  it('reads the setting time for tables only', async () => {
    const { imgctl } = await scriptedUser(catalogueOf(testImages(1)));
    const time = Date.parse('2018-07-21T12:00:00Z');
    const shown = async (line: string) => (await imgctl(line, { time })).stdout.slice(0, -1);
    const row = 'images list --no-header -c updated_on';
    expect(await shown(row)).toBe('2018-07-19 12:00');
    await imgctl('config set time age');
    expect(await shown(row)).toBe('2 days ago');
    expect(await shown('images list --get updated_on')).toBe('2018-07-19T12:00:00Z');
    for (const format of ['csv', 'tsv']) {
      expect((await shown(`${row} -o ${format}`)).trim()).toBe('2018-07-19T12:00:00Z');
    }
    expect(await shown(`${row} --time raw`)).toBe('2018-07-19 Thu 08:00:00 EDT');
  });

  it.each(['json', 'ndjson', 'yaml', 'csv', 'tsv', '--get'])(
    'prints times in UTC for programs, and those it cannot read as they are: %s',
    async (format) => {
      const times = [
        ['2018-07-18 Wed 15:36:49 EDT', '2018-07-18T19:36:49Z'],
        ['2018-07-18 Wed 15:36:49 +0530', '2018-07-18T10:06:49Z'],
        ['2018-07-18 15:36', '2018-07-18 15:36'],
        ['2018-07-18 Wed 15:36:49 IST', '2018-07-18 Wed 15:36:49 IST'],
        ['2018-07-18 03:36:49 PM', '2018-07-18 03:36:49 PM'],
        ['yesterday', 'yesterday'],
        ['', ''],
        [1_531_942_609, '1531942609'],
      ] as const;
      const images = times.map(([time], id) =>
        named(id + 1, 'a.ova', { updated_on: time as string }),
      );
      const { imgctl } = await scriptedUser(catalogueOf(images));
      const style = format === '--get' ? '--get updated_on' : `-c updated_on -o ${format}`;
      const shown = async (more: string) =>
        (await imgctl(`images list -s id ${style}${more}`)).stdout;
      const [stdout, raw] = [await shown(''), await shown(' --time raw')];
      for (const [sent, time] of times) {
        expect(raw).toContain(`${sent}`);
        expect(stdout).toContain(time);
      }
      expect(stdout).not.toMatch(/EDT|\+0530/);
    },
  );

  it('reads the setting columns.images, which -c replaces', async () => {
    const { imgctl } = await scriptedUser(catalogueOf(testImages(1)));
    await expectSteps(
      imgctl,
      ['config set columns.images public,id'],
      ['images list --no-header', 'true  1\n'],
      ['images list --no-header -c id', '1\n'],
      ['config set columns.images version,id'],
      ['images list --no-header', '0001  1\n'],
    );
  });

  it.each<[string, string | null, string, number, string]>([
    [
      'is null',
      null,
      '',
      5,
      'imgctl: folder has no value\nhint: use -c folder -o tsv --no-header\n',
    ],
    ['is empty', '', '\n', 0, ''],
    ['is hostile', 'a\n\u001b[31mb\u200f', 'a \u001b[31mb\u200f\n', 0, ''],
  ])('--get of what %s prints one line, or nothing', async (_, folder, stdout, exitCode, text) => {
    const image = { ...testImage(1), folder };
    const stderr = expect.stringContaining(text);
    expect(await list('--get folder', [image])).toMatchObject({ stdout, exitCode, stderr });
    const { imgctl } = await scriptedUser(catalogueOf([testImage(2), image]));
    const shown = await imgctl('IMGCTL_OUTPUT=json images list --get folder', { columns: 80 });
    expect(shown.stdout).not.toMatch(/[\u001b\u200f]/);
    if (exitCode === 5) expect(shown).toEqual(failed(5, '1 of 2 results have no folder'));
  });

  it.each([
    ['-o table', '', 'imgctl: no images match\n'],
    ['-o json', '[]\n', ''],
    ['-o ndjson', '', ''],
    ['-o csv', 'id,name,folder,updated_on\r\n', ''],
    ['-q', '', ''],
    ['--get id', '', 'imgctl: no images match\n'],
  ])(
    'prints an empty list for %s, and exits 5 with --fail-empty',
    async (options, stdout, note) => {
      const line = `images list ${options}`;
      const { imgctl } = await scriptedUser(catalogueOf([]));
      await expectSteps(imgctl, [line, stdout]);
      await expectSteps(
        noted(imgctl),
        [line, stdout, note],
        [`${line} --fail-empty`, stdout, /match/, 5],
      );
    },
  );

  it.each([
    ['id>=1100', "no images match\nhint: did you mean -f 'id>=1100'?"],
    [
      'zz, yy',
      'no images match; zz,: 0, yy: 0\nhint: a word matches any part of the name; omit ,: zz',
    ],
    ['-s name DESC', 'no images match\nhint: to sort in this direction: -s FIELD,DESC'],
    [
      '-c id name',
      "no images match\nhint: to show this field: -c name; to search for it: -f 'name~name'",
    ],
    ['-f name==zz', "no images match\nhint: did you mean -f 'name=zz'?"],
  ])('warns in every format of a word that is probably a slip: %s', async (options, text) => {
    const { imgctl } = await emulatorUser({ images: 25 });
    const [message, hint] = text.split('\nhint: ');
    const line = `IMGCTL_PASSWORD=demo images list ${options}`;
    await expectSteps(
      imgctl,
      [line, '', `imgctl: warning: ${text}\n`],
      [`${line} --json`, '[]\n', { warning: { message, hint } }],
      [`${line} --fail-empty`, '', `imgctl: ${text}\n`, 5],
    );
  });

  it.each([403, 404, 500])('requests one token if that is answered with %i', async (status) => {
    const login = { IMGCTL_TOKEN: '', IMGCTL_USERNAME: 'demo', IMGCTL_PASSWORD: 'demo' };
    const { imgctl, requests } = await scriptedUser(() => errorResponse(status, 'No.'), login);
    expect((await imgctl('images list -f name~a --json')).stderr).toContain(`"status":${status}`);
    expect(requests()).toEqual([TOKEN_REQUEST]);
  });

  it('fails without a list if a page keeps failing, but after the rows of ndjson', async () => {
    const { imgctl } = await scriptedUser((request, index) =>
      request.url.searchParams.get('filter') === 'id,lt,3'
        ? { status: 503, json: { message: 'Busy.' } }
        : catalogueOf(testImages(6))(request, index),
    );
    const error = /limits requests.*\n\{"error":\{"code":"server-error"/;
    await expectSteps(imgctl, ['images list --per-page 2 --json', '', error, 1]);
    const ndjson = await imgctl('images list --per-page 2 -o ndjson');
    expect([idsOf(ndjson.stdout).slice(0, 2), ndjson.exitCode]).toEqual([[6, 5], 1]);
  });
});

describe('--get of other commands', () => {
  it.each([
    ['state', { id: 4, status: 'PROCESSED' }, 'succeeded\n', 0],
    ['added', { id: 4, status: 'PROCESSED', added: ['a', 'b'] }, 'a\nb\n', 0],
    ['added', { id: 4, status: 'PROCESSED', added: [] }, '', 0],
    ['added', { id: 4, status: 'PROCESSED', added: null }, '', 0],
    ['errors', { id: 4, status: 'PROCESSED' }, '', 5],
    ['errors', { id: 4, status: 'PROCESSED', message: { errors: null } }, '', 0],
    ['added', { id: 4, status: 'PROCESSED' }, '', 5],
    ['added', { id: 4, status: 'ERROR' }, '', 1],
  ])('sync-status --get %s of %j prints %j and exits %i', async (field, data, stdout, exitCode) => {
    const { imgctl } = await scriptedUser(() => ({ json: { data } }));
    expect(await imgctl(`sync-status 4 --get ${field}`)).toMatchObject({ stdout, exitCode });
  });

  it('is checked before a request is sent', async () => {
    const { imgctl, requests } = await scriptedUser({});
    await expectSteps(
      imgctl,
      ['sync --get added', '', /valid: id, status, url/, 2],
      ['sync --wait --get url', '', /valid: id, status, state/, 2],
      ['sync-status --list --get response', '', /valid: id, status, state, added, deleted/, 2],
      ['whoami --check --get password', '', /valid: profile, base_url/, 2],
      ['config list --get default', '', /valid: key, value, origin/, 2],
      ['config list --get key', /^base-url\n/],
      ['whoami --get username', '', /username has no value\nhint: omit --get/, 5],
      ['IMGCTL_TOKEN= whoami --get expires_on', '', /not logged in/, 4],
    );
    expect(requests()).toEqual([]);
  });
});

const NO_MATCH = 'imgctl: no images match\n';

describe('my-images', () => {
  const STAMP = '2024-03-01 Fri 14:30:00 UTC';
  const own = (id: number, name: string, updated_on: string): Image =>
    named(id, name, { folder: null, public: false, updated_on });
  const OWN = [
    own(3, 'web.ova', '2024-03-01 Fri 10:00:00 EST'),
    own(1, 'db.ova', '2024-03-01 Fri 14:30:00 UTC'),
    own(2, 'web-old.ova', '2023-01-02 Mon 09:00:00 UTC'),
  ];
  const userOf = (...data: readonly Image[]) => {
    const meta = { count: data.length, time: '0.1s', user: 'tester' };
    return scriptedUser(() => ({ json: { data, meta } }));
  };

  it.each([
    ['', [3, 2, 1]],
    ['web', [3, 2]],
    // 10:00 in New York is 15:00 UTC.
    ['-s updated_on,desc --limit 1', [3]],
    ['-f updated_on,ge,2024-03-01T14:45:00Z', [3]],
    ['-f public,eq,false -f folder,eq,null -f id,ne,1', [3, 2]],
    ['-f name,like,%.OVA -f id,in,1,2', [2, 1]],
  ])('filters, sorts and limits locally: %s', async (options, ids) => {
    const { imgctl, requests } = await userOf(...OWN);
    const { stdout, stderr } = await imgctl(`my-images ${options} --json`);
    expect([idsOf(stdout), stderr, requests()]).toEqual([ids, '', ['GET /v2/user/image/vm']]);
  });

  it('is also images list --mine, which reads no catalogue, page or snapshot', async () => {
    const { imgctl, requests } = await userOf(...OWN);
    const refused = (option: string) =>
      [`images list --mine ${option} 1`, '', /cannot be used together/, 2] as const;
    await expectSteps(
      imgctl,
      ['images list --mine web --get id', '3\n2\n'],
      ['my-images ls web --get id', '3\n2\n'],
      ['my-images list web --get id', '3\n2\n'],
      ['images list --mine --json --meta -n 1', { meta: { count: 1, total: 3 } }],
      ...['--page', '--per-page', '--from'].map(refused),
    );
    expect(requests()).toEqual(Array(4).fill('GET /v2/user/image/vm'));
  });

  it('shows the last of the images with one id, and warns', async () => {
    const { imgctl } = await userOf(
      own(3, 'a.ova', STAMP),
      own(4, 'b.ova', STAMP),
      own(3, 'c.ova', STAMP),
      own(4, 'd.ova', STAMP),
    );
    const warning =
      'imgctl: warning: the service lists images twice, such as 3; the last one counts\n';
    await expectSteps(imgctl, ['my-images --get name', 'd.ova\nc.ova\n', warning]);
  });

  it('shows each image without an id', async () => {
    const unnumbered = (name: string) => ({ ...own(1, name, STAMP), id: undefined as never });
    const { imgctl } = await userOf(unnumbered('a.ova'), unnumbered('b.ova'));
    await expectSteps(imgctl, ['my-images --get name', 'a.ova\nb.ova\n', '']);
    const urls =
      'imgctl: cannot print the URL of an image without an id\nhint: list the images without --urls\n';
    const public_ = await scriptedUser(catalogueOf([unnumbered('a.ova')]));
    await expectSteps(public_.imgctl, ['images list --urls', '', urls, 1]);
    const odd = await scriptedUser(catalogueOf([{ ...testImage(1), id: '\ud800' as never }]));
    await expectSteps(odd.imgctl, ['images list --urls', /\/v2\/image\/%EF%BF%BD\n$/]);
    const twice = await userOf(unnumbered('a.ova'), unnumbered('a.ova'));
    await expectSteps(twice.imgctl, ['my-images', '', /sent an image without an id twice/, 1]);
  });

  it('prints a table, and the meta of the service with its own count', async () => {
    const table =
      'id  name     folder  updated_on\n 3  web.ova  -       2024-03-01 Fri 10:00:00 EST\n';
    const meta = { count: 2, time: '0.1s', user: 'tester' };
    await expectSteps(
      (await userOf(...OWN)).imgctl,
      ['my-images --time raw --limit 1', table],
      ['my-images web --json --meta --time raw', { data: [OWN[0], OWN[2]], meta }],
      ['my-images none'],
      ['my-images none --fail-empty', '', NO_MATCH, 5],
      ['my-images none -o ndjson'],
    );
    const note = 'imgctl: no images yet\nhint: upload one with: imgctl push FILE\n';
    await expectSteps(
      noted((await userOf()).imgctl),
      ['my-images', '', note],
      ['my-images --fail-empty', '', note, 5],
    );
  });
});
