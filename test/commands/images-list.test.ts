// images list: what goes to the service and what is done here, limits, pages, URLs, meta, empty results, progress.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cataloguePage, testImages } from '../support/catalogue-page.ts';
import { fakeIo, runCli } from '../support/io.ts';
import type { Handler } from '../support/scripted-server.ts';
import {
  catalogueOf,
  idsOf,
  pageWithEcho,
  scripted,
  startCatalogue,
  wordsOf,
} from './listing-harness.ts';

const ODD_IDS = testImages(9).map((image) => ({ ...image, folder: image.id % 2 ? 'odd' : null }));

describe('a filter or sort that the service does not echo', () => {
  const silent =
    (echo: (url: URL) => { filter?: unknown; sort?: unknown }): Handler =>
    ({ url }) =>
      pageWithEcho(url, ODD_IDS, echo(url));
  const ignoring = silent(() => ({}));
  const FILTER = 'the service did not confirm the filter, so imgctl applies it';
  const SORT = 'the service did not confirm the sort, so imgctl applies it';
  const BOTH = 'the service did not confirm the filter and the sort, so imgctl applies it';

  it.each([
    ['-f folder,eq,odd', FILTER, [1, 3, 5, 7, 9]],
    ['-f folder,eq,odd --limit 2', FILTER, [1, 3]],
    ['-f folder,eq,odd -f id,gt,4', FILTER, [5, 7, 9]],
    ['-f folder,eq,odd -o ndjson --limit 4', FILTER, [1, 3, 5, 7]],
    ['-s id,desc --limit 3', SORT, [9, 8, 7]],
    ['-s id,desc --limit 3 -o ndjson', SORT, [9, 8, 7]],
    ['-f folder,eq,odd -s id,desc', BOTH, [9, 7, 5, 3, 1]],
    ['0007', FILTER, [7]],
    ['--page 2 -f folder,eq,odd', FILTER, [5]],
    ['--page 2 -s id,desc', SORT, [6, 5, 4]],
    ['--page 2 -s id,desc --limit 2', SORT, [6, 5]],
  ])('%s: warns once and applies it', async (options, warning, expected) => {
    const { imgctl } = await scripted(ignoring);
    const format = options.includes('ndjson') ? '' : ' -o json';
    const result = await imgctl(`images list --per-page 3 ${options}${format}`);
    expect(idsOf(result.stdout)).toEqual(expected);
    expect(result).toMatchObject({
      stderr: `${JSON.stringify({ warning: { message: warning } })}\n`,
      exitCode: 0,
    });
  });

  it('applies it to --urls too, which the service then has to expand', async () => {
    const { imgctl, server } = await scripted(ignoring);
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
    ['itself, percent-encoded', { filter: 'folder%2Ceq%2Codd' }, undefined],
    ['itself, and nothing of the sort that only keeps pages apart', { filter: 'folder,eq,odd' }],
  ])('an echo that is %s', async (_what, echo, warning?: string) => {
    const { imgctl } = await scripted(silent(() => echo));
    const { stderr } = await imgctl('images list -f folder,eq,odd');
    expect(stderr).toBe(warning === undefined ? '' : `imgctl: warning: ${warning}\n`);
  });

  it.each([
    ['', [1, 3, 5, 7, 9]],
    ['--limit 4', [1, 3, 5, 7]],
  ])('that is gone from the second page on: ndjson has no image twice %s', async (limit, ids) => {
    const { imgctl } = await scripted(({ url }) => {
      const first = url.searchParams.get('page') === '1';
      const served = url.searchParams.has('filter')
        ? ODD_IDS.filter(({ folder }) => folder)
        : ODD_IDS;
      return pageWithEcho(url, served, first ? { filter: 'folder,eq,odd' } : {});
    });
    const { stdout } = await imgctl(
      `images list -f folder,eq,odd --per-page 2 -o ndjson ${limit}`.trim(),
    );
    expect(idsOf(stdout)).toEqual(ids);
  });

  it('of a later page, after which nothing comes twice', async () => {
    const { imgctl } = await scripted(
      silent((url) => (url.searchParams.get('page') === '1' ? { filter: 'folder,eq,odd' } : {})),
    );
    const { stdout } = await imgctl('images list --per-page 3 -f folder,eq,odd -o json');
    expect(idsOf(stdout)).toEqual([1, 3, 5, 7, 9]);
  });
});

describe('what is asked of the service', () => {
  const ask = async (options: string) => {
    const { imgctl, server } = await scripted(catalogueOf(testImages(7)));
    const result = await imgctl(`images list -o json ${options}`);
    const requests = server.requests.map(({ url }) => decodeURIComponent(url.search.slice(1)));
    return { ...result, requests };
  };

  it.each([
    ['', ['per_page=100&page=1&expand=1&sort=id,asc']],
    ['--urls', ['per_page=100&page=1&sort=id,asc']],
    ['--urls -f folder,ne,null', ['per_page=100&page=1&expand=1&sort=id,asc']],
    ['--limit 5', ['per_page=5&page=1&expand=1&sort=id,asc']],
    [
      '--limit 3 --per-page 2',
      ['per_page=2&page=1&expand=1&sort=id,asc', 'per_page=2&page=2&expand=1&sort=id,asc'],
    ],
    ['--limit 3 -f folder,ne,null --per-page 4', ['per_page=4&page=1&expand=1&sort=id,asc']],
    ['-s name,desc -s id', ['per_page=100&page=1&expand=1&sort=id,asc']],
    ['-s name,desc', ['per_page=100&page=1&expand=1&sort=name,desc']],
    ['--page 3 --per-page 2', ['per_page=2&page=3&expand=1']],
    ['--page 1 --urls', ['per_page=100&page=1']],
    [
      '--page 1 --sort name -f name,like,%a%',
      ['per_page=100&page=1&expand=1&filter=name,like,%a%&sort=name,asc'],
    ],
  ])('images list %s', async (options, requests) => {
    expect(await ask(options)).toMatchObject({ requests, stderr: '', exitCode: 0 });
  });

  it.each([
    '--page 1 -f folder,ne,null',
    '--page 1 -f updated_on,ge,-30d',
    '--page 1 image ova',
    '--page 1 -s id -s name',
    '--page 0',
    '--per-page 101',
    '--per-page 0',
    '--limit 0',
    '--limit 1.5',
    '--columns nam',
    '--urls --columns id',
    '--time utc',
    '-s id,up',
    '-f nam,eq,1',
  ])('%s is a usage error, and nothing is sent', async (options) => {
    expect(await ask(options)).toMatchObject({ requests: [], stdout: '', exitCode: 2 });
  });

  it('gives exactly the page, with what the service has on it', async () => {
    const doubled = [...testImages(2), ...testImages(2)];
    const { imgctl } = await scripted(catalogueOf(doubled));
    const { stdout } = await imgctl('images list --page 1 -o json');
    expect(JSON.parse(stdout)).toEqual(doubled);
  });

  it('warns of a page in place of the one that was asked for', async () => {
    // A service that gives its last page for every number beyond it.
    const { imgctl } = await scripted(({ url }) => {
      url.searchParams.set('page', '2');
      return { json: cataloguePage(url, testImages(4)) };
    });
    const { stdout, stderr, exitCode } = await imgctl('images list --page 9 --per-page 2 -q');
    expect({ stdout, exitCode }).toEqual({ stdout: '3\n4\n', exitCode: 0 });
    expect(stderr).toBe('imgctl: warning: the service sent page 2 where page 9 was asked for\n');
  });
});

describe('the result', () => {
  let service: Awaited<ReturnType<typeof startCatalogue>>;
  beforeAll(async () => {
    service = await startCatalogue({ images: 120 });
  });
  afterAll(() => service.close());
  const imgctl = (line: string) => runCli(wordsOf(line), { env: service.env });

  it('--meta counts what is shown, of the page read last', async () => {
    const read = async (options: string) =>
      JSON.parse((await imgctl(`images list --json --meta --per-page 50 ${options}`)).stdout);
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

  it.each(['table', 'csv', 'tsv', 'ndjson'])('-q -o %s: bare ids', async (format) => {
    const { stdout } = await imgctl(`images list -q --limit 2 -o ${format}`);
    expect(stdout).toMatch(/^\d{4}\n\d{4}\n$/);
  });

  it('-q -o json and yaml: a list of ids', async () => {
    const json = JSON.parse((await imgctl('images list -q --limit 2 --json')).stdout);
    const yaml = (await imgctl('images list -q --limit 2 -o yaml')).stdout;
    expect(yaml).toBe(json.map((id: number) => `- ${id}\n`).join(''));
  });

  it.each([
    ['table', '', 'imgctl: no images match\n'],
    ['json', '[]\n', ''],
    ['ndjson', '', ''],
    ['yaml', '[]\n', ''],
    ['csv', 'id,name,folder,data_store,updated_on\r\n', ''],
    ['tsv', 'id\tname\tfolder\tdata_store\tupdated_on\n', ''],
    ['csv --no-header', '', ''],
    ['csv --urls', 'url\r\n', ''],
    ['json --urls', '[]\n', ''],
    ['table --urls', '', 'imgctl: no images match\n'],
    ['table -q', '', ''],
    ['csv -q', '', ''],
  ])('nothing, as %s', async (options, stdout, stderr) => {
    const line = `images list no-such-name -o ${options}`;
    expect(await imgctl(line)).toEqual({ stdout, stderr, exitCode: 0 });
    expect(await imgctl(`${line} --fail-empty`)).toMatchObject({ stdout, exitCode: 5 });
  });

  it('--fail-empty is content with something', async () => {
    expect(await imgctl('images list --limit 1 --fail-empty')).toMatchObject({ exitCode: 0 });
  });
});

describe('memory for what is short-lived', () => {
  const LONG = 21;
  it.each([
    ['-o ndjson', LONG, 1],
    ['-o ndjson', LONG - 2, 0],
    ['-o json', LONG, 0],
    ['-o ndjson -s folder -s id', LONG, 0],
  ])('%s over %i pages freezes it %i times', async (options, pages, freezes) => {
    const { server } = await scripted(catalogueOf(testImages(pages)));
    const env = { IMGCTL_BASE_URL: server.baseUrl, IMGCTL_TOKEN: 'T' };
    const io = fakeIo({ env });
    expect(await runCli(wordsOf(`images list --per-page 1 ${options}`), io)).toMatchObject({
      exitCode: 0,
    });
    expect(io.freezes()).toBe(freezes);
  });
});
