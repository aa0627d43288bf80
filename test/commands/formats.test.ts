// Every format through the command: names that do harm, one query in all formats, and what Python reads back.

import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildCatalog } from '../../src/emulator/catalog.ts';
import { HOSTILE, HOSTILE_ESCAPED, RAW_HARM } from '../output/hostile.ts';
import { testImage, testImages } from '../support/catalogue-page.ts';
import { runCli } from '../support/io.ts';
import { catalogueOf, scripted, startCatalogue } from './listing-harness.ts';

const FORMATS = ['table', 'json', 'ndjson', 'yaml', 'csv', 'tsv'];
const hostile = { ...testImage(1), name: HOSTILE, folder: null, [HOSTILE]: [HOSTILE] };

describe('a name that does harm', () => {
  const list = async (options: string, columns?: number) => {
    const { imgctl } = await scripted(catalogueOf([hostile, testImage(2)]));
    return imgctl(`images list ${options}`, columns === undefined ? {} : { columns });
  };
  /** Line ends are the command's own; csv has CRLF. */
  const withoutLineEnds = (text: string) => text.replace(/\r?\n/g, '');

  it.each(FORMATS)('%s: none reaches a terminal raw', async (format) => {
    for (const options of ['', '--columns all', '--columns name', '--meta']) {
      const { stdout, exitCode } = await list(`-o ${format} --color never ${options}`, 400);
      const text = format === 'tsv' ? stdout.replaceAll('\t', ' ') : stdout;
      expect(withoutLineEnds(text)).not.toMatch(RAW_HARM);
      expect(stdout).toContain('image-0002.ova');
      expect(exitCode).toBe(0);
    }
  });

  it.each(['table', 'json', 'ndjson', 'yaml'])('%s: none in a pipe either', async (format) => {
    expect(withoutLineEnds((await list(`-o ${format}`)).stdout)).not.toMatch(RAW_HARM);
  });

  it('table: on one line, escaped, one row an image', async () => {
    const { stdout } = await list('--columns name,id');
    expect(stdout.split('\n')).toHaveLength(4);
    expect(stdout).toContain(HOSTILE_ESCAPED);
  });

  it('json and ndjson: back to the very same value', async () => {
    expect(JSON.parse((await list('-o json')).stdout)[0]).toEqual(hostile);
    expect(JSON.parse((await list('-o ndjson --limit 1')).stdout)).toEqual(hostile);
  });

  it('csv: guarded and quoted', async () => {
    const { stdout } = await list('-o csv --columns id,name --limit 1 --no-header');
    expect(stdout).toBe(`1,"'${HOSTILE.replaceAll('"', '""')}"\r\n`);
  });

  it('tsv: one line, one cell', async () => {
    const { stdout } = await list('-o tsv --columns id,name --limit 1 --no-header');
    expect(stdout).toBe(`1\t${HOSTILE.replace(/[\t\r\n]/g, ' ')}\n`);
  });

  it('URLs, errors and notes hold it escaped', async () => {
    const { imgctl } = await scripted(({ url }) => ({
      json: {
        data: url.searchParams.has('expand') ? [hostile, { ...hostile, id: 2 }] : [HOSTILE],
        meta: { pages: { total: 1, pages: 1, per_page: 100, next_url: null } },
      },
    }));
    expect((await imgctl('images list --urls')).stdout).toBe(`${HOSTILE_ESCAPED}\n`);
    for (const word of ['get', 'list']) {
      const { stderr } = await runCli(['images', word, HOSTILE, '--base-url', '://'], {});
      expect(withoutLineEnds(stderr)).not.toMatch(RAW_HARM);
    }
    const { stderr } = await imgctl('images get none.ova');
    expect(stderr).toContain('no image with the name none.ova');
    expect(withoutLineEnds(stderr)).not.toMatch(RAW_HARM);
  });
});

describe('one query in every format', () => {
  const IMAGES = 300;
  const QUERY = [
    ...['images', 'list', '--filter', 'created_on,ge,2024-01-01T00:00:00Z', '--sort', 'folder'],
    ...['--sort', 'updated_on,desc', '--limit', '5', '--columns', 'id,name,updated_on'],
  ];
  const text = (value: string | null) => value ?? '';
  const expected = buildCatalog(IMAGES, 1)
    .filter(({ created }) => created >= Date.UTC(2024, 0, 1))
    .sort((a, b) => {
      const [left, right] = [text(a.image.folder), text(b.image.folder)];
      return left === right ? b.updated - a.updated : left < right ? -1 : 1;
    })
    .slice(0, 5)
    .map(({ image: { id, name, updated_on } }) => ({ id, name, updated_on }));

  let service: Awaited<ReturnType<typeof startCatalogue>>;
  beforeAll(async () => {
    service = await startCatalogue({ images: IMAGES, seed: 1 });
  });
  afterAll(() => service.close());
  const answer = async (...options: string[]) => {
    const { stdout, stderr, exitCode } = await runCli([...QUERY, ...options], { env: service.env });
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    return stdout;
  };
  const lines = (separator: string, end: string) =>
    expected.map((row) => Object.values(row).join(separator) + end).join('');

  it('json', async () =>
    expect(await answer('--json')).toBe(`${JSON.stringify(expected, null, 2)}\n`));
  it('ndjson', async () =>
    expect(await answer('-o', 'ndjson')).toBe(
      expected.map((row) => `${JSON.stringify(row)}\n`).join(''),
    ));
  it('csv', async () =>
    expect(await answer('-o', 'csv')).toBe(`id,name,updated_on\r\n${lines(',', '\r\n')}`));
  it('tsv', async () => expect(await answer('-o', 'tsv', '--no-header')).toBe(lines('\t', '\n')));
  it('yaml', async () =>
    expect(await answer('-o', 'yaml')).toBe(
      expected
        .map(
          ({ id, name, updated_on }) =>
            `- id: ${id}\n  name: ${name}\n  updated_on: "${updated_on}"\n`,
        )
        .join(''),
    ));
  it('table', async () => {
    const width = Math.max(...expected.map(({ name }) => name.length));
    const row = (id: string, name: string, time: string) =>
      `${id.padStart(4)}  ${name.padEnd(width)}  ${time}\n`;
    expect(await answer('--time', 'wire')).toBe(
      row('id', 'name', 'updated_on') +
        expected.map(({ id, name, updated_on }) => row(String(id), name, updated_on)).join(''),
    );
  });
  it('-q', async () =>
    expect(await answer('-q')).toBe(expected.map(({ id }) => `${id}\n`).join('')));
});

const pythonCan = (program: string) => spawnSync('python3', ['-c', program]).status === 0;

describe.skipIf(!pythonCan('pass'))('python3 (skipped where there is none)', () => {
  const images = [
    hostile,
    ...testImages(120, 2),
    { ...testImage(122), name: 'yes', folder: 'null', data_store: '1e3', label: '2024-01-01' },
    { ...testImage(123), name: '- [a]: {b} # c', folder: '', extra: { a: [1.5, null, true] } },
  ];
  /** What a program prints of the list in that format, and the list as imgctl's JSON has it. */
  const readBack = async (format: string, program: string) => {
    const { imgctl } = await scripted(catalogueOf(images));
    const { stdout } = await imgctl(`images list -o ${format} --columns all`);
    const json = JSON.parse((await imgctl('images list --json --columns all')).stdout);
    expect(json).toHaveLength(images.length);
    const child = spawnSync('python3', ['-c', program], { input: stdout, encoding: 'utf8' });
    expect(child.stderr).toBe('');
    return { read: JSON.parse(child.stdout), json: json as Record<string, unknown>[] };
  };

  it('reads csv as the texts of the values', async () => {
    const { read, json } = await readBack(
      'csv',
      'import csv, io, json, sys\n' +
        'text = io.TextIOWrapper(sys.stdin.buffer, encoding="utf8", newline="")\n' +
        'print(json.dumps(list(csv.DictReader(text))))',
    );
    const guarded = (value: unknown) =>
      `${/^[=+\-@\t\r\n]/.test(String(value)) ? "'" : ''}${value ?? ''}`;
    expect(read).toEqual(
      json.map((row) =>
        Object.fromEntries(Object.entries(row).map(([name, value]) => [name, guarded(value)])),
      ),
    );
  });

  it('reads ndjson as the values', async () => {
    const { read, json } = await readBack(
      'ndjson',
      'import json, sys; print(json.dumps([json.loads(line) for line in sys.stdin]))',
    );
    expect(read).toEqual(json);
  });

  it.skipIf(!pythonCan('import yaml'))(
    'reads yaml as the values (skipped without PyYAML)',
    async () => {
      const { read, json } = await readBack(
        'yaml',
        'import json, sys, yaml; print(json.dumps(yaml.safe_load(sys.stdin.buffer.read())))',
      );
      expect(read).toEqual(json);
    },
  );
});

it.each(FORMATS)('%s stays what it is on a terminal', async (format) => {
  const { imgctl } = await scripted(catalogueOf(testImages(3)));
  const line = `images list -o ${format} --color never`;
  expect((await imgctl(line, { columns: 200 })).stdout).toBe((await imgctl(line)).stdout);
});
