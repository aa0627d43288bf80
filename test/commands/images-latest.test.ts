// images latest: the newest image of one series, or the choice; --each, --explain, --get, every page.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Image } from '../../src/api/types.ts';
import { SeriesIndex } from '../../src/query/series.ts';
import { WordReader } from '../../src/query/words.ts';
import { catalogueOf, testImage } from '../support/catalogue-page.ts';
import { failed } from '../support/io.ts';
import { emulatorUser, PASSWORD, scriptedUser } from '../support/users.ts';

const named = (id: number, name: string, changes: Partial<Image> = {}): Image => ({
  ...testImage(id),
  name,
  path: `[images] linux/${name}`,
  ...changes,
});

const CREATED = '2020-01-02 Thu 10:00:00 UTC';
const LATER = '2020-01-03 Fri 10:00:00 UTC';
const UNCLEAR = '2020-01-02 Thu 10:00:00 IST';

const alma = [
  named(1, 'alma-8.10-x86_64.ova'),
  named(2, 'alma-8.9-x86_64.ova', { updated_on: '2030-01-01 Tue 00:00:00 UTC' }),
  named(3, 'alma-8.8-x86_64.ova'),
];
const rocky = [named(4, 'rocky-9.ova'), named(5, 'rocky-10.ova')];

function ranked<Row extends { id: number }>(images: readonly Row[]) {
  const index = new SeriesIndex<Row>(new WordReader([]), true);
  for (const image of images) index.add(image);
  return index.ranked();
}

async function latest(images: readonly Image[], line = '') {
  const user = await scriptedUser(catalogueOf(images));
  return user.imgctl(`images latest ${line}`);
}

describe('images latest', () => {
  it('shows the newest image, whatever was updated last', async () => {
    const { stdout, exitCode } = await latest(alma, '--json');
    expect({ image: JSON.parse(stdout), exitCode }).toEqual({ image: alma[0], exitCode: 0 });
  });

  it('prints nothing but the value with --get, and the id with -q', async () => {
    expect(await latest(alma, '--get path')).toEqual({
      stdout: '[images] linux/alma-8.10-x86_64.ova\n',
      stderr: '',
      exitCode: 0,
    });
    expect((await latest(alma, '-q')).stdout).toBe('1\n');
  });

  it.each([
    ['table', 'name  alma-8.10-x86_64.ova\n'],
    ['json', '{\n  "name": "alma-8.10-x86_64.ova"\n}\n'],
    ['ndjson', '{"name":"alma-8.10-x86_64.ova"}\n'],
    ['yaml', '"name": "alma-8.10-x86_64.ova"\n'],
    ['csv', 'name\r\nalma-8.10-x86_64.ova\r\n'],
    ['tsv', 'name\nalma-8.10-x86_64.ova\n'],
  ])('prints %s', async (format, text) => {
    expect((await latest(alma, `-o ${format} --columns name`)).stdout).toBe(text);
  });

  it('exits 2 and lists the choice if several series match', async () => {
    expect(await latest([...rocky, ...alma])).toEqual({
      stdout: '',
      stderr: [
        'imgctl: 2 series match',
        '  alma-#.#-x86_64.ova  (newest: alma-8.10-x86_64.ova)',
        '  rocky-#.ova  (newest: rocky-10.ova)',
        'hint: add words or a --filter that only one series matches, or use --each',
        '',
      ].join('\n'),
      exitCode: 2,
    });
  });

  it('lists the choice in the JSON of the error too', async () => {
    const { stderr } = await latest([...rocky, ...alma], '--json');
    expect(JSON.parse(stderr).error).toMatchObject({
      code: 'ambiguous',
      details: [expect.stringContaining('alma'), 'rocky-#.ova  (newest: rocky-10.ova)'],
      exitCode: 2,
    });
  });

  it('lists at most 20 series', async () => {
    const letters = [...'abcdefghijklmnopqrstuvwxyz'];
    const { stderr } = await latest(letters.map((letter, id) => named(id, `${letter}-1`)));
    expect(stderr).toContain('26 series match');
    expect(stderr).toContain('  s-#  (newest: s-1)\n');
    expect(stderr).toContain('  and 6 more\nhint: ');
    expect(stderr).not.toContain('  u-#');
  });

  it('shows the newest image of every series with --each', async () => {
    expect((await latest([...rocky, ...alma], '--each --columns id,name -o tsv')).stdout).toBe(
      'id\tname\n1\talma-8.10-x86_64.ova\n5\trocky-10.ova\n',
    );
  });

  it.each(['', '--each', '--explain'])('exits 5 if nothing matches %s', async (option) => {
    expect(await latest([], option)).toEqual(failed(5, 'no images match'));
  });

  it.each([
    ['is later', LATER, CREATED, 7],
    ['is earlier', CREATED, LATER, 8],
  ])('selects the first of two equal names if its created_on %s', async (_, one, two, id) => {
    const twins = [
      named(7, 'a-1.ova', { created_on: one }),
      named(8, 'a-1.ova', { created_on: two }),
    ];
    expect((await latest([...twins, named(9, 'a-0.ova')], '--get id')).stdout).toBe(`${id}\n`);
  });

  it.each([
    ['equal', CREATED],
    ['unclear', UNCLEAR],
  ])('exits 2 and lists two equal names if their created_on is %s', async (_, created) => {
    const twins = [
      named(8, 'a-1.ova', { created_on: CREATED }),
      named(7, 'a-1.ova', { created_on: created }),
    ];
    for (const option of ['', '--each']) {
      const result = await latest([...twins, named(9, 'a-0.ova')], option);
      expect(result).toEqual(failed(2, '2 images are equally new\n  7  [images] linux/a-1.ova  ('));
    }
  });

  it.each([
    ['rocky 8 Base', 'Rocky-8.10-GenericCloud-Base-20260518.x86_64.ova'],
    ['debian 10 nocloud', 'debian-10-nocloud-amd64-20240610.ova'],
    ['alma 8', 'AlmaLinux-8.10-GenericCloud-20260518.x86_64.ova'],
    ['centos 8', 'CentOS-Stream-GenericCloud-8-20240429.x86_64.ova'],
  ])('finds the release of %s, where text would find a newer one', async (words, name) => {
    const newer = name.replace(/\d+(\.\d+)?/, '99').replace(/20\d{6}/, '20261008');
    expect((await latest([named(1, name), named(2, newer)], `${words} --get name`)).stdout).toBe(
      `${name}\n`,
    );
  });

  it.each([
    ['2.04', 'no image of version 2.04; 2 names contain 2.04'],
    ['web-2', 'no image matches web-2 as a whole; 2 names contain it'],
    ['2.04 --explain', 'no image of version 2.04; 2 names contain 2.04'],
    ['2.04 --each', 'no image of version 2.04; 2 names contain 2.04'],
  ])('exits 5 and names the command to list them if %s occurs only as text', async (line, text) => {
    const images = [named(1, 'web-22.04.ova'), named(2, 'web-22.04.1.ova')];
    const user = await scriptedUser(catalogueOf(images));
    const [word] = line.split(' ');
    expect(await user.imgctl(`images latest web -f id,gt,0 ${line}`)).toEqual(
      failed(5, `${text}\nhint: list them with: imgctl images list -f id,gt,0 web ${word}\n`),
    );
  });

  it.each(['', '--each'])(
    'exits 2 if a word means different numbers in a series %s',
    async (each) => {
      const images = [
        named(1, 'web-8.1-3.ova'),
        named(2, 'web-7.2-8.ova'),
        named(3, 'web-7.1-8.ova'),
        named(4, 'web-9.9-9.ova'),
      ];
      expect(await latest(images, `8 ${each}`)).toEqual({
        stdout: '',
        stderr: [
          'imgctl: 8 matches different numbers in web-#.#-#.ova',
          "  web-8.1-3.ova  (-f 'name,like,web-8.%-%.ova')",
          "  web-7.2-8.ova  (-f 'name,like,web-%.%-8.ova')",
          'hint: use one of these filters instead of 8',
          '',
        ].join('\n'),
        exitCode: 2,
      });
    },
  );

  it('ignores images without a name', async () => {
    const nameless = { ...testImage(9), name: null } as unknown as Image;
    expect((await latest([nameless, ...alma], '--get id')).stdout).toBe('1\n');
  });

  it('shows all candidates with --explain, the newest of each series first', async () => {
    const { stdout, exitCode } = await latest([...rocky, ...alma], '--explain -o csv');
    expect({
      lines: stdout.split('\r\n').map((line) => line.split(',').slice(0, 5)),
      exitCode,
    }).toEqual({
      lines: [
        ['series', 'rank', 'version', 'id', 'name'],
        ['alma-#.#-x86_64.ova', '1', '8.10', '1', 'alma-8.10-x86_64.ova'],
        ['alma-#.#-x86_64.ova', '2', '8.9', '2', 'alma-8.9-x86_64.ova'],
        ['alma-#.#-x86_64.ova', '3', '8.8', '3', 'alma-8.8-x86_64.ova'],
        ['rocky-#.ova', '1', '10', '5', 'rocky-10.ova'],
        ['rocky-#.ova', '2', '9', '4', 'rocky-9.ova'],
        [''],
      ],
      exitCode: 0,
    });
  });

  it('gives images of which neither is newer the same rank', () => {
    const twins = [LATER, UNCLEAR, CREATED, LATER].map((created_on, id) =>
      named(id, 'a-1.ova', { created_on }),
    );
    expect(ranked(twins).map(({ image, rank }) => [image.id, rank])).toEqual([
      [1, 1],
      [0, 1],
      [3, 1],
      [2, 2],
    ]);
  });

  it('reads every page, and applies words and filters', async () => {
    const { imgctl, requests } = await emulatorUser({ images: 400 });
    const line = 'images latest ubuntu server -f folder,eq,ubuntu --get name';
    const { stdout } = await imgctl(line, { env: PASSWORD });
    const all = await imgctl(
      'images list ubuntu server -f folder,eq,ubuntu -s name:version,desc --limit 1 --get name',
    );
    expect(stdout).toBe(all.stdout);
    expect(stdout).toMatch(/^ubuntu-24\.04-server-cloudimg-amd64-\d+\.ova\n$/);
    requests.length = 0;
    await imgctl('images latest --each');
    expect(requests).toHaveLength(4);
  });

  it('prints nothing if a page fails', async () => {
    const images = Array.from({ length: 150 }, (_, id) => named(id, `a-${id}.ova`));
    const user = await scriptedUser((request, index) =>
      request.url.searchParams.get('page') === '2'
        ? { status: 500, json: {} }
        : catalogueOf(images)(request, index),
    );
    expect(await user.imgctl('images latest --get id')).toEqual(failed(1, '500'));
  });

  it('does not depend on the order of the images', () => {
    const times = [CREATED, LATER, UNCLEAR];
    const anyImage = fc.record({
      id: fc.nat(20),
      name: fc.constantFrom('a-1', 'a-01', 'a-2', 'a-10', 'b-1-x64', 'b-2-x64', ''),
      created_on: fc.constantFrom(...times),
    });
    const images = fc.uniqueArray(anyImage, { selector: ({ id }) => id, minLength: 1 });
    const resultOf = (all: readonly { id: number }[]) => {
      const index = new SeriesIndex();
      for (const image of all) index.add(image);
      return [index.all(), ranked(all)];
    };
    fc.assert(
      fc.property(
        images.chain((all) =>
          fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
        ),
        ([all, shuffled]) => {
          expect(resultOf(shuffled)).toEqual(resultOf(all));
        },
      ),
    );
  });
});
