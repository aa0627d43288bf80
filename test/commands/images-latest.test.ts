// images latest: the newest image of one series, or the choice; --each, --explain, --get, every page.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Image } from '../../src/api/types.ts';
import { SeriesIndex, WordReader } from '../../src/query/series.ts';
import { catalogueOf, testImage } from '../support/catalogue-page.ts';
import { failed } from '../support/io.ts';
import { expectSteps } from '../support/steps.ts';
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

const ALMA = [
  named(1, 'alma-8.10-x86_64.ova'),
  named(2, 'alma-8.9-x86_64.ova', { updated_on: '2030-01-01 Tue 00:00:00 UTC' }),
  named(3, 'alma-8.8-x86_64.ova'),
];
const BOTH = [named(4, 'rocky-9.ova'), named(5, 'rocky-10.ova'), ...ALMA];

async function latest(images: readonly Image[], line = '') {
  const user = await scriptedUser(catalogueOf(images));
  return user.imgctl(`images latest ${line}`);
}

describe('images latest', () => {
  it('shows the newest image in every format, whatever was updated last', async () => {
    const nameless = { ...testImage(9), name: null } as unknown as Image;
    const { imgctl } = await scriptedUser(catalogueOf([nameless, ...ALMA]));
    await expectSteps(
      imgctl,
      ['images latest --json', { ...ALMA[0] }],
      ['images latest --get path', '[images] linux/alma-8.10-x86_64.ova\n'],
      ['images latest -q', '1\n'],
      ['images latest -c name', 'name  alma-8.10-x86_64.ova\n'],
      ['images latest -c name -o json', '{\n  "name": "alma-8.10-x86_64.ova"\n}\n'],
      ['images latest -c name -o ndjson', '{"name":"alma-8.10-x86_64.ova"}\n'],
      ['images latest -c name -o yaml', '"name": "alma-8.10-x86_64.ova"\n'],
      ['images latest -c name -o csv', 'name\r\nalma-8.10-x86_64.ova\r\n'],
      ['images latest -c name -o tsv', 'name\nalma-8.10-x86_64.ova\n'],
    );
  });

  it('exits 2 and lists the choice if several series match, unless --each is given', async () => {
    const { imgctl } = await scriptedUser(catalogueOf(BOTH));
    const rocky = 'rocky-#.ova  (newest: rocky-10.ova)';
    const choice =
      'imgctl: 2 series match\n' +
      `  alma-#.#-x86_64.ova  (newest: alma-8.10-x86_64.ova)\n  ${rocky}\n` +
      'hint: add words or a --filter that only one series matches, or use --each\n';
    const details = [expect.stringContaining('alma'), rocky];
    await expectSteps(
      imgctl,
      ['images latest', '', choice, 2],
      ['images latest --json', '', { error: { code: 'ambiguous', details, exitCode: 2 } }, 2],
      [
        'images latest --each -c id,name -o tsv',
        'id\tname\n1\talma-8.10-x86_64.ova\n5\trocky-10.ova\n',
      ],
    );
    const { stdout } = await imgctl('images latest --explain -o csv');
    const ranked = stdout.split('\r\n').map((line) => line.split(',').slice(0, 4).join(' '));
    expect(ranked).toEqual([
      'series rank version id',
      'alma-#.#-x86_64.ova 1 8.10 1',
      'alma-#.#-x86_64.ova 2 8.9 2',
      'alma-#.#-x86_64.ova 3 8.8 3',
      'rocky-#.ova 1 10 5',
      'rocky-#.ova 2 9 4',
      '',
    ]);
  });

  it('lists at most 20 series', async () => {
    const letters = [...'abcdefghijklmnopqrstuvwxyz'];
    const { stderr } = await latest(letters.map((letter, id) => named(id, `${letter}-1`)));
    expect(stderr).toMatch(/26 series match[\s\S]* {2}s-# .*\n.*\n {2}and 6 more\nhint: /);
  });

  it.each(['', '--each', '--explain'])('exits 5 if nothing matches %s', async (option) => {
    expect(await latest([], option)).toEqual(failed(5, 'no images match'));
  });

  it.each([
    ['later', LATER, CREATED, 7],
    ['earlier', CREATED, LATER, 8],
    ['equal', CREATED, CREATED, undefined],
    ['unclear', UNCLEAR, CREATED, undefined],
  ])('compares the created_on of two equal names: %s', async (_, one, two, id) => {
    const [seven, eight] = [one, two].map((created_on, at) =>
      named(7 + at, 'a-1.ova', { created_on }),
    );
    const images = [eight, seven, named(9, 'a-0.ova')].flatMap((image) => image ?? []);
    for (const option of ['-q', '-q --each']) {
      const result = await latest(images, option);
      if (id !== undefined) expect(result).toMatchObject({ stdout: `${id}\n`, exitCode: 0 });
      else
        expect(result).toEqual(
          failed(2, '2 images are equally new\n  7  [images] linux/a-1.ova  ('),
        );
    }
    const { stdout } = await latest(images, '--explain -o csv');
    expect(stdout.match(/a-#\.ova,1,/g)).toHaveLength(id === undefined ? 2 : 1);
  });

  it.each([
    ['rocky 8 Base', 'Rocky-8.10-GenericCloud-Base-20260518.x86_64.ova'],
    ['debian 10 nocloud', 'debian-10-nocloud-amd64-20240610.ova'],
    ['alma 8', 'AlmaLinux-8.10-GenericCloud-20260518.x86_64.ova'],
    ['centos 8', 'CentOS-Stream-GenericCloud-8-20240429.x86_64.ova'],
  ])('finds the release of %s, where text would find a newer one', async (words, name) => {
    const newer = name.replace(/\d+(\.\d+)?/, '99').replace(/20\d{6}/, '20261008');
    const { stdout } = await latest([named(1, name), named(2, newer)], `${words} --get name`);
    expect(stdout).toBe(`${name}\n`);
  });

  it.each([
    ['2.04', 'no image of version 2.04; 2 names contain 2.04'],
    ['web-2', 'no image matches web-2 as a whole; 2 names contain it'],
    ['2.04 --explain', 'no image of version 2.04; 2 names contain 2.04'],
    ['2.04 --each', 'no image of version 2.04; 2 names contain 2.04'],
  ])('exits 5 and names the command to list them if %s occurs only as text', async (line, text) => {
    const images = [named(1, 'web-22.04.ova'), named(2, 'web-22.04.1.ova')];
    const hint = `list them with: imgctl images list -f id,gt,0 web ${line.split(' ')[0]}\n`;
    const result = await latest(images, `web -f id,gt,0 ${line}`);
    expect(result).toEqual(failed(5, `${text}\nhint: ${hint}`));
  });

  it.each(['', '--each'])(
    'exits 2 if a word means different numbers in a series %s',
    async (each) => {
      const names = ['web-8.1-3.ova', 'web-7.2-8.ova', 'web-7.1-8.ova', 'web-9.9-9.ova'];
      const images = names.map((name, index) => named(index + 1, name));
      const stderr =
        'imgctl: 8 matches different numbers in web-#.#-#.ova\n' +
        "  web-8.1-3.ova  (-f 'name,like,web-8.%-%.ova')\n" +
        "  web-7.2-8.ova  (-f 'name,like,web-%.%-8.ova')\n" +
        'hint: use one of these filters instead of 8\n';
      expect(await latest(images, `8 ${each}`)).toEqual({ stdout: '', stderr, exitCode: 2 });
    },
  );

  it('reads every page, applies words and filters, and prints nothing if a page fails', async () => {
    const { imgctl, requests } = await emulatorUser({ images: 400 });
    const query = 'ubuntu server -f folder,eq,ubuntu --get name';
    const { stdout } = await imgctl(`images latest ${query}`, { env: PASSWORD });
    expect(stdout).toBe((await imgctl(`images list ${query} -s name:version,desc -n 1`)).stdout);
    expect(stdout).toMatch(/^ubuntu-24\.04-server-cloudimg-amd64-\d+\.ova\n$/);
    requests.length = 0;
    await imgctl('images latest --each');
    expect(requests).toHaveLength(4);
    const images = Array.from({ length: 150 }, (_, id) => named(id, `a-${id}.ova`));
    const failing = await scriptedUser((request, index) =>
      request.url.searchParams.get('page') === '2'
        ? { status: 500, json: {} }
        : catalogueOf(images)(request, index),
    );
    expect(await failing.imgctl('images latest --get id')).toEqual(failed(1, '500'));
  });

  it('does not depend on the order of the images', () => {
    const anyImage = fc.record({
      id: fc.nat(20),
      name: fc.constantFrom('a-1', 'a-01', 'a-2', 'a-10', 'b-1-x64', 'b-2-x64', ''),
      created_on: fc.constantFrom(CREATED, LATER, UNCLEAR),
    });
    const some = fc.uniqueArray(anyImage, { selector: ({ id }) => id, minLength: 1 });
    const shuffled = some.chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
    );
    const resultOf = (all: readonly { id: number }[]) => {
      const index = new SeriesIndex(new WordReader([]), true);
      for (const image of all) index.add(image);
      return [index.all(), index.ranked()];
    };
    fc.assert(
      fc.property(shuffled, ([all, others]) => {
        expect(resultOf(others)).toEqual(resultOf(all));
      }),
    );
  });
});
