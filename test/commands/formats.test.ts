// Formats of images list: hostile names, and one query in every format.

import { describe, expect, it } from 'vitest';
import { buildCatalog } from '../../src/emulator/catalog.ts';
import { HOSTILE, HOSTILE_ESCAPED, RAW_HARM } from '../output/hostile.ts';
import { catalogueOf, testImage } from '../support/catalogue-page.ts';
import { emulatorUser, PASSWORD, scriptedUser } from '../support/users.ts';

const FORMATS = ['table', 'json', 'ndjson', 'yaml', 'csv', 'tsv'];
const hostile = { ...testImage(1), name: HOSTILE, folder: null, [HOSTILE]: [HOSTILE] };

/** Line ends are the command's own; csv has CRLF. */
const withoutLineEnds = (text: string) => text.replace(/\r?\n/g, '');

describe('images list', () => {
  it.each(FORMATS)('shows no hostile name raw on a terminal: %s', async (format) => {
    const { imgctl } = await scriptedUser(catalogueOf([hostile, testImage(2)]));
    for (const options of ['', '--columns all', '--columns name', '--meta']) {
      const line = `images list -o ${format} --color never ${options}`;
      const { stdout, exitCode } = await imgctl(line, { columns: 400 });
      const text = format === 'tsv' ? stdout.replaceAll('\t', ' ') : stdout;
      expect(withoutLineEnds(text)).not.toMatch(RAW_HARM);
      expect(stdout).toContain('image-0002.ova');
      expect(exitCode).toBe(0);
    }
  });

  it.each([
    ['csv', `1,"'${HOSTILE.replaceAll('"', '""')}"\r\n`],
    ['tsv', `1\t${HOSTILE.replace(/[\t\r\n]/g, ' ')}\n`],
    ['table', `1  ${HOSTILE_ESCAPED}\n`],
  ])('prints a hostile name to a pipe: %s', async (format, expected) => {
    const { imgctl } = await scriptedUser(catalogueOf([hostile]));
    const { stdout } = await imgctl(`images list -o ${format} --columns id,name --no-header`);
    expect(stdout.trimStart()).toBe(expected);
  });

  it('escapes hostile text in URLs, errors and notes', async () => {
    const { imgctl } = await scriptedUser(({ url }) => ({
      json: {
        data: url.searchParams.has('expand') ? [hostile, { ...hostile, id: 2 }] : [HOSTILE],
        meta: { pages: { total: 1, pages: 1, per_page: 100, next_url: null } },
      },
    }));
    expect((await imgctl('images list --urls')).stdout).toBe(`${HOSTILE_ESCAPED}\n`);
    for (const word of ['get', 'list']) {
      const { stderr } = await imgctl(['images', word, HOSTILE, '--base-url', '://']);
      expect(withoutLineEnds(stderr)).not.toMatch(RAW_HARM);
    }
    const { stderr } = await imgctl('images get none.ova');
    expect(stderr).toContain('no image with the name none.ova');
    expect(withoutLineEnds(stderr)).not.toMatch(RAW_HARM);
  });

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
  const rows = (row: (image: (typeof expected)[number]) => string) => expected.map(row).join('');
  const width = Math.max(...expected.map(({ name }) => name.length));

  it.each([
    ['--json', `${JSON.stringify(expected, null, 2)}\n`],
    ['-o ndjson', rows((image) => `${JSON.stringify(image)}\n`)],
    ['-o csv', `id,name,updated_on\r\n${rows((image) => `${Object.values(image).join(',')}\r\n`)}`],
    ['-o tsv --no-header', rows((image) => `${Object.values(image).join('\t')}\n`)],
    [
      '-o yaml',
      rows(
        ({ id, name, updated_on }) =>
          `- id: ${id}\n  name: ${name}\n  updated_on: "${updated_on}"\n`,
      ),
    ],
    [
      '--time wire',
      `  id  ${'name'.padEnd(width)}  updated_on\n${rows(
        ({ id, name, updated_on }) =>
          `${String(id).padStart(4)}  ${name.padEnd(width)}  ${updated_on}\n`,
      )}`,
    ],
    ['-q', rows(({ id }) => `${id}\n`)],
  ])('prints the result of a query: %s', async (options, stdout) => {
    const { imgctl } = await emulatorUser({ images: IMAGES, seed: 1 });
    const result = await imgctl([...QUERY, ...options.split(' ')], { env: PASSWORD });
    expect(result).toEqual({ stdout, stderr: '', exitCode: 0 });
  });
});
