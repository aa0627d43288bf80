// images latest: the newest image of one series, or the choice; --each, --explain, --get, every page.

import { describe, expect, it } from 'vitest';
import type { Image } from '../../../src/api/types.ts';
import { catalogueOf, named, testImage } from '../../support/catalogue-page.ts';
import { failed } from '../../support/io.ts';
import { expectSteps } from '../../support/steps.ts';
import { emulatorUser, PASSWORD, scriptedUser } from '../../support/users.ts';

const CREATED = '2020-01-02 Thu 10:00:00 UTC';
const LATER = '2020-01-03 Fri 10:00:00 UTC';
const UNCLEAR = '2020-01-02 Thu 10:00:00 IST';

const ALMA = [
  named(1, 'alma-8.10-x86_64.ova'),
  named(2, 'alma-8.9-x86_64.ova', { updated_on: '2030-01-01 Tue 00:00:00 UTC' }),
  named(3, 'alma-8.8-x86_64.ova'),
];
const ALMA_ROW = '1,alma-8.10-x86_64.ova,linux,2018-07-19T12:00:00Z\r\n';
const BOTH = [named(4, 'rocky-9.ova'), named(5, 'rocky-10.ova'), ...ALMA];

async function latest(images: readonly Image[], line = '') {
  const user = await scriptedUser(catalogueOf(images));
  return user.imgctl(`images latest ${line}`);
}

describe('images latest', () => {
  it('shows the newest image, whatever was updated last', async () => {
    const nameless = { ...testImage(9), name: null } as unknown as Image;
    const { imgctl } = await scriptedUser(catalogueOf([nameless, ...ALMA]));
    await expectSteps(
      imgctl,
      ['images latest --json', { ...ALMA[0] }],
      ['images latest --get path', '[images] linux/alma-8.10-x86_64.ova\n'],
      ['images latest -q', '1\n'],
      ['images latest -o csv', `id,name,folder,updated_on\r\n${ALMA_ROW}`],
      ['images latest -c name', 'name  alma-8.10-x86_64.ova\n'],
      ['images latest -c name -o ndjson', '{"name":"alma-8.10-x86_64.ova"}\n'],
      ['images latest -c name -o yaml', 'name: alma-8.10-x86_64.ova\n'],
      ['images latest -c name -o csv', 'name\r\nalma-8.10-x86_64.ova\r\n'],
    );
  });

  it('exits 2 and lists the choice if several series match, unless --each is given', async () => {
    const { imgctl } = await scriptedUser(catalogueOf(BOTH));
    const details = ['alma-8.10-x86_64.ova', 'rocky-10.ova'];
    const choice =
      `imgctl: 2 series match\n  ${details.join('\n  ')}\n` +
      'hint: select the first with: imgctl images latest alma\n';
    await expectSteps(
      imgctl,
      ['images latest', '', choice, 2],
      ['images latest --json', '', { error: { code: 'ambiguous', details, exitCode: 2 } }, 2],
      ['images latest --each alma -o csv', `id,name,folder,updated_on\r\n${ALMA_ROW}`],
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
    expect(stderr).toMatch(/26 series match[\s\S]* {2}s-1\n.*\n {2}and 6 more\nhint: /);
  });

  it.each(['', '--each', '--explain'])('exits 5 if nothing matches %s', async (option) => {
    expect(await latest([], option)).toEqual(failed(5, 'no images match\n'));
    const all = 'no images match\nhint: list all images with: imgctl images list\n';
    expect(await latest(ALMA, `zz ${option}`)).toEqual(failed(5, all));
    const hint = 'to match each word separately, omit the quotes: ubuntu 22.04\n';
    const quotes = await latest([], `'ubuntu 22.04' ${option}`);
    expect(quotes).toEqual(failed(5, `no images match\nhint: ${hint}`));
  });

  it.each([
    ['later', LATER, CREATED, 7],
    ['earlier', CREATED, LATER, 8],
    ['equal', CREATED, CREATED, undefined],
    ['unclear', UNCLEAR, CREATED, undefined],
  ])('compares the created_on of two equal names: %s', async (_, one, two, id) => {
    const seven = named(7, 'a-1.ova', { created_on: one });
    const images = [named(8, 'a-1.ova', { created_on: two }), seven, named(9, 'a-0.ova')];
    const equal = '2 images are equally new\n  7  [images] linux/a-1.ova  (';
    const expected = id ? { stdout: `${id}\n`, stderr: '', exitCode: 0 } : failed(2, equal);
    expect(await latest(images, '-q')).toEqual(expected);
    expect(await latest(images, '-q --each')).toEqual(expected);
    const { stdout } = await latest(images, '--explain -o csv');
    expect(stdout.match(/a-#\.ova,1,/g)).toHaveLength(id === undefined ? 2 : 1);
  });

  it.each([
    ['2.04', 'no image has the number 2.04; 2 names contain it'],
    ['web-2', 'no image matches web-2 as a whole; 2 names contain it'],
    ['2.04 --each', 'no image has the number 2.04; 2 names contain it'],
  ])('exits 5 and names the command to list them if %s occurs only as text', async (line, text) => {
    const images = [named(1, 'web-22.04.ova'), named(2, 'web-22.04.1.ova')];
    const hint = `list them with: imgctl images list web -f id,gt,0 -f 'name~${line.split(' ')[0]}'\n`;
    const result = await latest(images, `web -f id,gt,0 ${line}`);
    expect(result).toEqual(failed(5, `${text}\nhint: ${hint}`));
  });

  it.each([
    ['8', "hint: select the first with: imgctl images latest 8 -f 'name,like,web-8.%-%.ova'\n"],
    ['8 --each', ''],
  ])('exits 2 if 8 means different numbers in a series: %s', async (line, hint) => {
    const names = ['web-8.1-3.ova', 'web-7.2-8.ova', 'web-7.1-8.ova', 'web-9.9-9.ova'];
    const images = names.map((name, index) => named(index + 1, name));
    const stderr =
      'imgctl: 8 matches different numbers in web-#.#-#.ova\n' +
      `  web-8.1-3.ova\n  web-7.2-8.ova\n${hint}`;
    expect(await latest(images, line)).toEqual({ stdout: '', stderr, exitCode: 2 });
  });

  it('reads every page and applies words and filters', async () => {
    const { imgctl, requests } = await emulatorUser({ images: 400 });
    const query = 'ubuntu server -f folder,eq,ubuntu --get name';
    const { stdout } = await imgctl(`images latest ${query}`, { env: PASSWORD });
    expect(stdout).toBe((await imgctl(`images list ${query} -s name:version,desc -n 1`)).stdout);
    expect(stdout).toMatch(/^ubuntu-24\.04-server-cloudimg-amd64-\d+\.ova\n$/);
    requests.length = 0;
    await imgctl('images latest --each');
    expect(requests).toHaveLength(4);
  });

  it.each([
    ['by the year', ['app-31-12-2023.ova', 'app-01-02-2024.ova'], 2],
    ['by the month', ['app-31-01-2024.ova', 'app-01-02-2024.ova'], 2],
    ['by the month, which may come first', ['app_02_01_2024.ova', 'app_01_31_2024.ova'], 1],
    ['by the month if another image tells', ['a-05-01-2024', 'a-04-02-2024', 'a-31-12-2023'], 2],
    ['by the year alone', ['app-05-06-2023.ova', 'app-01-02-2024.ova'], 2],
    ['though it is unclear which is the month', ['a-01-02-2024', 'a-03-04-2024'], 2],
    ['not in a release', ['CentOS-8.01.2004.ova', 'CentOS-7.09.2009.ova'], 1],
    ['not if one name has no date', ['a-31-01-2024', 'a-01-02-2024', 'a-1-2-2024'], 1],
    ['not beyond 2099', ['a-31-01-2100', 'a-01-02-2101'], 1],
  ])('compares dates %s', async (_, names, id) => {
    const images = names.map((name, index) => named(index + 1, name));
    for (const all of [images, images.toReversed()]) {
      expect(await latest(all, '-q')).toEqual({ stdout: `${id}\n`, stderr: '', exitCode: 0 });
    }
  });

  it('exits 2 if the newest depends on whether dates begin with the day or the month', async () => {
    const names = ['a-02-01-2024.ova', 'a-01-02-2024.ova', 'a-01-01-2024.ova'];
    const images = names.map((name, index) => named(index + 1, name));
    const stderr =
      'imgctl: the dates in a-#-#-#.ova may start with the day or the month\n' +
      '  a-01-02-2024.ova  (day first)\n  a-02-01-2024.ova  (month first)\n';
    const hint = "hint: select the first with: imgctl images latest -f 'name=a-01-02-2024.ova'\n";
    expect(await latest(images)).toEqual({ stdout: '', stderr: `${stderr}${hint}`, exitCode: 2 });
    expect(await latest(images, '--each')).toEqual({ stdout: '', stderr, exitCode: 2 });
  });

  it.each([
    ["imgctl images latest -f 'name=a-1.01.ova'", ['a-1.01.ova', 'a-1.1.ova'], {}],
    [
      "imgctl images latest -f 'name=a-1.ova' -f 'folder=linux'",
      ['a-1.ova', 'a-1.ova'],
      { folder: 'bsd' },
    ],
    ['imgctl images get 1', ['a-1.ova', 'a-1.ova'], {}],
    [`imgctl images latest -f 'name=a'\\''$(id)-1.ova'`, ["a'$(id)-1.ova", "a'$(id)-01.ova"], {}],
  ])(
    'names what selects one of two equal images: %s',
    async (hint, [one = '', two = ''], other) => {
      const result = await latest([named(1, one), named(2, two, other)]);
      expect(result).toEqual(failed(2, `hint: select the first with: ${hint}\n`));
    },
  );
});
