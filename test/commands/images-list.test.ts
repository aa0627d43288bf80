// images list: requests, local filters and sorts, pages, --meta, -q and empty results.

import { describe, expect, it } from 'vitest';
import { HOSTILE, RAW_HARM } from '../output/hostile.ts';
import {
  catalogueOf,
  cataloguePage,
  idsOf,
  testImage,
  testImages,
} from '../support/catalogue-page.ts';
import { failed, runCli } from '../support/io.ts';
import type { Handler } from '../support/scripted-server.ts';
import { emulatorUser, PASSWORD, scriptedUser } from '../support/users.ts';

const ODD_IDS = testImages(9).map((image) => ({ ...image, folder: image.id % 2 ? 'odd' : null }));

describe('images list with an unconfirmed filter or sort', () => {
  /** Sends pages with this meta.filter and meta.sort. */
  const echoing =
    (echo: { readonly filter?: unknown; readonly sort?: unknown }): Handler =>
    ({ url }) => {
      const page = cataloguePage(url, ODD_IDS);
      const { filter: _filter, sort: _sort, ...meta } = page.meta;
      return { json: { ...page, meta: { ...meta, ...echo } } };
    };
  const ignoring = echoing({});
  const FILTER = 'the service did not confirm the filter, so imgctl applies it';
  const SORT = 'the service did not confirm the sort, so imgctl applies it';
  const BOTH = 'the service did not confirm the filter and the sort, so imgctl applies it';

  it.each([
    ['-f folder,eq,odd', FILTER, [1, 3, 5, 7, 9]],
    ['-s id,desc --limit 3 -o ndjson', SORT, [9, 8, 7]],
    ['-f folder,eq,odd -s id,desc', BOTH, [9, 7, 5, 3, 1]],
    ['0007', FILTER, [7]],
    ['--page 2 -f folder,eq,odd', FILTER, [5]],
    ['--page 2 -s id,desc', SORT, [6, 5, 4]],
    ['--page 2 -s id,desc --limit 2', SORT, [6, 5]],
  ])('warns once and applies it locally: %s', async (options, warning, expected) => {
    const { imgctl } = await scriptedUser(ignoring);
    const format = options.includes('ndjson') ? '' : ' -o json';
    const result = await imgctl(`images list --per-page 3 ${options}${format}`);
    expect(idsOf(result.stdout)).toEqual(expected);
    expect(result).toMatchObject({
      stderr: `${JSON.stringify({ warning: { message: warning } })}\n`,
      exitCode: 0,
    });
  });

  it('applies it to --urls', async () => {
    const { imgctl, server } = await scriptedUser(ignoring);
    const urls = (...ids: number[]) =>
      ids.map((id) => `${server.baseUrl}/v2/image/${id}\n`).join('');
    const all = await imgctl('images list --urls -f folder,eq,odd -s id,desc');
    expect(all.stdout).toBe(urls(9, 7, 5, 3, 1));
    const page = await imgctl('images list --urls --page 2 --per-page 3 -s id,desc');
    expect(page.stdout).toBe(urls(6, 5, 4));
  });

  it.each([
    ['another filter', { filter: 'folder,eq,even', sort: 'id,asc' }, FILTER],
    ['null', { filter: null }, FILTER],
    ['itself percent-encoded', { filter: 'folder%2Ceq%2Codd' }, undefined],
    ['itself without the default sort', { filter: 'folder,eq,odd' }],
  ])(
    'warns only if it needs to if the service echoes %s',
    async (_what, echo, warning?: string) => {
      const { imgctl } = await scriptedUser(echoing(echo));
      const { stderr } = await imgctl('images list -f folder,eq,odd');
      expect(stderr).toBe(warning === undefined ? '' : `imgctl: warning: ${warning}\n`);
    },
  );
});

describe('images list', () => {
  const list = async (options: string) => {
    const { imgctl, server } = await scriptedUser(catalogueOf(testImages(7)));
    const result = await imgctl(`images list -o json ${options}`);
    const requests = server.requests.map(({ url }) => decodeURIComponent(url.search.slice(1)));
    return { ...result, requests };
  };

  it.each([
    ['', ['per_page=100&page=1&expand=1&sort=id,asc']],
    ['--urls', ['per_page=100&page=1&expand=1&sort=id,asc']],
    ['--limit 5', ['per_page=5&page=1&expand=1&sort=id,asc']],
    [
      '--limit 3 --per-page 2',
      ['per_page=2&page=1&expand=1&sort=id,asc', 'per_page=2&page=2&expand=1&sort=id,asc'],
    ],
    ['--limit 3 -f folder,ne,null --per-page 4', ['per_page=4&page=1&expand=1&sort=id,asc']],
    ['-s name,desc -s id', ['per_page=100&page=1&expand=1&sort=id,asc']],
    ['--page 3 --per-page 2', ['per_page=2&page=3&expand=1']],
    ['--page 1 --urls', ['per_page=100&page=1&expand=1']],
    [
      '--page 1 --sort name -f name,like,%a%',
      ['per_page=100&page=1&expand=1&filter=name,like,%a%&sort=name,asc'],
    ],
  ])('sends only what it needs: %s', async (options, requests) => {
    expect(await list(options)).toMatchObject({ requests, stderr: '', exitCode: 0 });
  });

  it.each([
    '--page 1 -f folder,ne,null',
    '--page 1 -f updated_on,ge,-30d',
    '--page 1 image ova',
    '--page 1 -s id -s name',
    '--per-page 101',
    '--limit 0',
    '--columns nam',
    '--urls --columns id',
    '--time utc',
  ])('rejects %s without a request', async (options) => {
    expect(await list(options)).toMatchObject({ requests: [], stdout: '', exitCode: 2 });
  });

  it('prints --page unchanged, with duplicates', async () => {
    const doubled = [...testImages(2), ...testImages(2)];
    const { imgctl } = await scriptedUser(catalogueOf(doubled));
    const { stdout } = await imgctl('images list --page 1 -o json');
    expect(JSON.parse(stdout)).toEqual(doubled);
  });

  it('warns if the service sends another page than --page', async () => {
    const { imgctl } = await scriptedUser(({ url }) => {
      url.searchParams.set('page', '2');
      return { json: cataloguePage(url, testImages(4)) };
    });
    const { stdout, stderr, exitCode } = await imgctl('images list --page 9 --per-page 2 -q');
    expect({ stdout, exitCode }).toEqual({ stdout: '3\n4\n', exitCode: 0 });
    expect(stderr).toBe('imgctl: warning: the service sent page 2 instead of page 9\n');
  });

  const emulated = async (line: string) =>
    (await emulatorUser({ images: 120 })).imgctl(line, { env: PASSWORD });

  it('prints the meta of the last page with its own count for --meta', async () => {
    const read = async (options: string) =>
      JSON.parse((await emulated(`images list --json --meta --per-page 50 ${options}`)).stdout);
    const all = await read('');
    expect(all.data).toHaveLength(120);
    expect(all.meta).toMatchObject({ count: 120, pages: { page: 3, total: 120 }, user: 'demo' });
    const local = await read('-f folder,ne,null --limit 7');
    expect(local.data).toHaveLength(7);
    expect(local.meta.count).toBe(7);
    const urls = await read('--urls --page 2');
    expect(urls.data).toHaveLength(50);
    expect(urls.meta).toMatchObject({ count: 50, pages: { page: 2 } });
  });

  it.each(['table', 'csv', 'tsv', 'ndjson'])('prints bare ids for -q -o %s', async (format) => {
    const { stdout, exitCode } = await emulated(
      `images list -q --limit 2 --fail-empty -o ${format}`,
    );
    expect(stdout).toMatch(/^\d{4}\n\d{4}\n$/);
    expect(exitCode).toBe(0);
  });

  it('prints a list of ids for -q with json and yaml', async () => {
    const json = JSON.parse((await emulated('images list -q --limit 2 --json')).stdout);
    const yaml = (await emulated('images list -q --limit 2 -o yaml')).stdout;
    expect(yaml).toBe(json.map((id: number) => `- ${id}\n`).join(''));
  });

  it.each([
    ['table', '', 'imgctl: no images match\n'],
    ['json', '[]\n', ''],
    ['ndjson', '', ''],
    ['csv', 'id,name,folder,data_store,updated_on\r\n', ''],
    ['csv --urls', 'url\r\n', ''],
    ['table -q', '', ''],
  ])(
    'prints an empty list as %s, and exits 5 with --fail-empty',
    async (options, stdout, stderr) => {
      const line = `images list no-such-name -o ${options}`;
      expect(await emulated(line)).toEqual({ stdout, stderr, exitCode: 0 });
      expect(await emulated(`${line} --fail-empty`)).toMatchObject({ stdout, exitCode: 5 });
    },
  );

  it('fails without a list if a page keeps failing, but after the rows of ndjson', async () => {
    const { imgctl } = await scriptedUser((request, index) =>
      request.url.searchParams.get('page') === '3'
        ? { status: 503, json: { message: 'Busy.' } }
        : catalogueOf(testImages(6))(request, index),
    );
    const json = await imgctl('images list --per-page 2 -o json');
    expect(json).toMatchObject({ stdout: '', exitCode: 1 });
    expect(JSON.parse(json.stderr)).toMatchObject({ error: { code: 'server-error' } });
    const ndjson = await imgctl('images list --per-page 2 -o ndjson');
    expect(idsOf(ndjson.stdout).slice(0, 2)).toEqual([1, 2]);
    expect(ndjson.exitCode).toBe(1);
  });

  it.each(['table', 'json', 'ndjson', 'yaml', 'csv', 'tsv'])(
    'shows no hostile name raw on a terminal: %s',
    async (format) => {
      const image = { ...testImage(1), name: HOSTILE, folder: null, [HOSTILE]: [HOSTILE] };
      const { imgctl } = await scriptedUser(catalogueOf([image, testImage(2)]));
      const meta = ['json', 'yaml'].includes(format) ? ['--meta'] : [];
      for (const options of ['', '--columns all', '--columns name', ...meta]) {
        const line = `images list -o ${format} --color never ${options}`;
        const { stdout } = await imgctl(line, { columns: 400 });
        const text = format === 'tsv' ? stdout.replaceAll('\t', ' ') : stdout;
        expect(text.replace(/\r?\n/g, '')).not.toMatch(RAW_HARM);
        expect(stdout).toContain('image-0002.ova');
      }
    },
  );
});

describe('images list rejects options that would be ignored', () => {
  it.each([
    ['--meta', '--meta cannot be used with the format table'],
    ['--meta -o csv', '--meta cannot be used with the format csv'],
    ['-q -o csv --columns id', '--quiet and --columns cannot be used together'],
  ])('%s', async (options, message) => {
    const { imgctl, requests } = await emulatorUser();
    const result = await imgctl(`images list ${options}`);
    expect(result).toEqual(failed(2, `imgctl: ${message}\nhint: `));
    expect(requests).toEqual([]);
  });
});

describe('images list explains why nothing matches', () => {
  const LIKE = 'like compares the whole value; to search in it: -f name,like,%ubuntu%';
  it.each([
    ['-f name,like,ubuntu', LIKE],
    ['-f folder,ne,null -f name,like,ubuntu', LIKE],
    ['-f name,like,ubuntu*', '% matches any text, * only itself: -f name,like,ubuntu%'],
    ['*ubuntu*', 'a word matches any part of the name; omit the *: ubuntu'],
  ])('%s', async (options, hint) => {
    const { imgctl } = await emulatorUser();
    const note = `imgctl: no images match\nhint: ${hint}\n`;
    const line = `images list ${options}`;
    expect(await imgctl(line, { env: PASSWORD })).toEqual({
      stdout: '',
      stderr: note,
      exitCode: 0,
    });
    const json = await imgctl(`${line} --json`, { env: PASSWORD });
    expect(json.stdout).toBe('[]\n');
    expect(JSON.parse(json.stderr)).toEqual({ note: { message: 'no images match', hint } });
    const { stderr } = await imgctl(`${line} --fail-empty`, { env: PASSWORD });
    expect(stderr).toBe(note);
  });

  it.each(['table', 'json'])('names the last page: %s', async (format) => {
    const { imgctl } = await emulatorUser({ images: 25 });
    const line = `images list --page 99 --per-page 10 -o ${format}`;
    const { stderr, exitCode } = await imgctl(line, { env: PASSWORD });
    expect(stderr).toContain('page 99 does not exist; the last page is 3');
    expect(exitCode).toBe(0);
    expect((await imgctl(`${line} --fail-empty`, { env: PASSWORD })).exitCode).toBe(5);
  });
});

describe('images list selects', () => {
  const NOW = Date.parse('2024-06-30T00:00:00Z');
  const IMAGES = ['2024-06-01', '2024-06-20', '2024-06-29'].map((day, index) => ({
    ...testImage(index + 1),
    updated_on: `${day} ${['Sat', 'Thu', 'Sat'][index]} 00:00:00 UTC`,
  }));

  it.each([
    ['--since 36h', [3]],
    ['--since 2w', [2, 3]],
    ['--since 90d', [1, 2, 3]],
    ['--since 90d -n 2', [1, 2]],
  ])('%s', async (options, ids) => {
    const { env } = await scriptedUser(catalogueOf(IMAGES));
    const argv = `images list --json ${options}`.split(' ');
    const { stdout } = await runCli(argv, { env, time: NOW });
    expect(idsOf(stdout)).toEqual(ids);
  });

  it('columns with -c', async () => {
    const { imgctl } = await scriptedUser(catalogueOf(testImages(1)));
    const { stdout } = await imgctl('images list -c name -o csv');
    expect(stdout).toBe('name\r\nimage-0001.ova\r\n');
  });
});
