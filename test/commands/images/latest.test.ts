// images latest: the newest image of one series, or the choice; --each, --explain, --get, every page.

import { describe, expect, it } from 'vitest';
import type { Image } from '../../../src/api/types.ts';
import { catalogueOf, named, testImage } from '../../support/catalogue-page.ts';
import { failed, fakeTerminal } from '../../support/io.ts';
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

const imagesOf = (names: readonly string[]) => names.map((name, index) => named(index + 1, name));

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
      ['images latest --json --time raw', { ...ALMA[0] }],
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
    const details = ['rocky-10.ova', 'alma-8.10-x86_64.ova'];
    const choice =
      `imgctl: 2 series match\n  ${details.join('\n  ')}\n` +
      "hint: select the first with: imgctl images latest -f 'name,like,rocky-%.ova'\n";
    await expectSteps(
      imgctl,
      ['images latest', '', choice, 2],
      ['images latest --json', '', { error: { code: 'ambiguous', details, exitCode: 2 } }, 2],
      [
        'images latest --get path',
        '',
        / images latest --get path -f 'name,like,rocky-%.ova'\n$/,
        2,
      ],
      [
        'images latest -c id,path -o tsv --profile work',
        '',
        / images latest -c id,path -o tsv -f 'name,like,rocky-%.ova' --profile work\n$/,
        2,
      ],
      ['images latest --each alma -o csv', `id,name,folder,updated_on\r\n${ALMA_ROW}`],
    );
    const { stderr } = await latest(imagesOf(['a-2-rc1', 'b-1', 'c-3-rc1', 'd-2']));
    expect(stderr).toMatch(/^imgctl: 4 series match\n {2}d-2\n {2}b-1\n {2}c-3-rc1\n {2}a-2-rc1\n/);
    const unversioned = await latest([named(1, 'web.ova')], '--explain --json');
    expect(JSON.parse(unversioned.stdout)).toMatchObject([{ series: 'web.ova', version: null }]);
    const { stdout } = await imgctl('images latest --explain -o csv');
    const ranked = stdout.split('\r\n').map((line) => line.split(',').slice(0, 4).join(' '));
    expect(ranked).toEqual([
      'series rank version id',
      'alma-#-x86_64.ova 1 8.10 1',
      'alma-#-x86_64.ova 2 8.9 2',
      'alma-#-x86_64.ova 3 8.8 3',
      'rocky-#.ova 1 10 5',
      'rocky-#.ova 2 9 4',
      '',
    ]);
  });

  it('lists at most 20 series', async () => {
    const letters = [...'abcdefghijklmnopqrstuvwxyz'];
    const images = letters.map((letter, id) => named(id, `${letter}-1`));
    const [all, twenty] = [await latest(images), await latest(images.slice(0, 20))];
    expect(all.stderr).toMatch(/26 series match[\s\S]* {2}s-1\n.*\n {2}and 6 more\nhint: /);
    expect(twenty.stderr).toMatch(/20 series match\n[\s\S]* {2}t-1\nhint: /);
  });

  it.each(['', '--each', '--explain'])('exits 5 if nothing matches %s', async (option) => {
    expect(await latest([], option)).toEqual(failed(5, 'no images match\n'));
    expect(await latest(ALMA, `zz ${option}`)).toEqual(failed(5, 'no images match\n'));
    const hint = 'to match each word separately, omit the quotes: ubuntu 22.04\n';
    const quotes = await latest([], `'ubuntu 22.04' ${option}`);
    expect(quotes).toEqual(failed(5, `no images match\nhint: ${hint}`));
  });

  it.each([
    ['later', LATER, CREATED, 7],
    ['earlier', CREATED, LATER, 8],
    ['equal', CREATED, CREATED, undefined],
    ['unclear', UNCLEAR, CREATED, undefined],
    ['unreadable', CREATED, 'soon', undefined],
    ['unclear, but years later', '2024-01-02 Tue 10:00:00 IST', CREATED, 7],
  ])('compares the created_on of two equal names: %s', async (_, one, two, id) => {
    const seven = named(7, 'a-1.ova', { created_on: one });
    const images = [named(8, 'a-1.ova', { created_on: two }), seven, named(9, 'a-0.ova')];
    const equal = '2 images are equally new\n  8  [images] linux/a-1.ova  (';
    const expected = id ? { stdout: `${id}\n`, stderr: '', exitCode: 0 } : failed(2, equal);
    expect(await latest(images, '-q')).toEqual(expected);
    expect(await latest(images, '-q --each')).toEqual(expected);
    const { stdout } = await latest(images, '--explain -o csv');
    expect(stdout.match(/a-#\.ova,1,/g)).toHaveLength(id === undefined ? 2 : 1);
  });

  it('tells equal names in a choice apart', async () => {
    const path = (folder: string) => ({ path: `[images] ${folder}` });
    const images = [named(1, 'a-8.1.ova', path('x')), named(2, 'a-8.1.ova', path('y'))];
    const created = '(2018-07-18 Wed 15:36:49 EDT)';
    const choice = `\n  a-8.01.ova\n  2  [images] y  ${created}\n  1  [images] x  ${created}\n`;
    expect(await latest([...images, named(3, 'a-8.01.ova')])).toEqual(failed(2, choice));
  });

  it.each([
    ['without a zone', '2020-01-02T10:00'],
    ['that cannot be read', 'soon'],
  ])('exits 2 if a time %s decides whether the newest matches', async (what, time) => {
    const images = [named(1, 'a-1.ova'), named(2, 'a-2.ova', { updated_on: time })];
    const problem = `a time ${what} decides whether the newest image matches\n`;
    const line = '-f updated_on<2020-01-02T12:00Z';
    expect(await latest(images, line)).toEqual(failed(2, problem));
  });

  it('exits 2 if an unknown zone decides whether the newest image matches a filter', async () => {
    const older = named(1, 'a-1.ova', { updated_on: '2020-01-01 Wed 00:00:00 UTC' });
    const newer = named(2, 'a-2.ova', { updated_on: UNCLEAR });
    const problem =
      'a time in the unknown zone IST decides whether the newest image matches\n  2  [images] linux/a-2.ova';
    for (const options of ['', '--each']) {
      const line = `${options} -f updated_on<2020-01-02T12:00Z`;
      expect(await latest([older, newer], line)).toEqual(failed(2, problem));
      expect(await latest([older, newer], `${line} a-2.ova`)).toEqual(failed(2, problem));
    }
    // There is nothing to choose.
    const { imgctl } = await scriptedUser(catalogueOf([older, newer]));
    const terminal = { stdin: fakeTerminal('1\n'), columns: 80, errorColumns: 80 };
    const unasked = await imgctl('images latest -f updated_on<2020-01-02T12:00Z', terminal);
    expect([unasked.exitCode, unasked.stderr.includes('Which one?')]).toEqual([2, false]);
    const warning = 'imgctl: warning: 1 image has times in the unknown zone IST; it is shown\n';
    const newest = named(3, 'a-3.ova', { updated_on: CREATED });
    expect(await latest([older, newer, newest], '-q -f updated_on<2020-01-02T12:00Z')).toEqual({
      stdout: '3\n',
      stderr: warning,
      exitCode: 0,
    });
    const other = named(4, 'b-1.ova', { updated_on: CREATED });
    const asking = await scriptedUser(catalogueOf([older, newer, newest, other]));
    const typed = { stdin: fakeTerminal('1\n'), columns: 200, errorColumns: 200 };
    const asked = await asking.imgctl('images latest -f updated_on<2020-01-02T12:00Z', typed);
    // The warning comes before the question.
    expect(asked.stderr.startsWith(`${warning}2 series match:\n1  `)).toBe(true);
    const sure = { stdout: '1\n', exitCode: 0 };
    expect(await latest([older, newer], '-q -f updated_on<2020-01-01T12:00Z')).toMatchObject(sure);
  });

  it.each([
    ['2204', 'hint: a number matches only as a whole; write 22.04\n'],
    ['web-2204 --each', 'hint: a number matches only as a whole; write web-22.04\n'],
    ['2.04', ''],
  ])('exits 5 and names the dot that %s lacks', async (line, hint) => {
    const images = imagesOf(['web-22.04.ova', 'web-22.04.1.ova']);
    const stderr = expect.stringMatching(new RegExp(`no images match.*\n${hint}$`));
    const result = await latest(images, `web -f id,gt,0 ${line}`);
    expect(result).toEqual({ stdout: '', stderr, exitCode: 5 });
  });

  it.each([
    ['8', 'hint: select the first with: imgctl images get 1\n'],
    ['8 --each', ''],
  ])('exits 2 if 8 means different numbers in a series: %s', async (line, hint) => {
    const names = ['web-8.1-3.ova', 'web-7.2-8.ova', 'web-7.1-8.ova', 'web-9.9-9.ova'];
    const stderr =
      'imgctl: 8 matches different numbers in web-#.ova\n' +
      `  web-8.1-3.ova\n  web-7.2-8.ova\n${hint}`;
    expect(await latest(imagesOf(names), line)).toEqual({ stdout: '', stderr, exitCode: 2 });
    const both = 'imgctl: 8 and 3 match different numbers in web-#.ova\n';
    const twoWords = line.replace('8', '8 web 3');
    const crossed = imagesOf(['web-8.1-3.ova', 'web-3.2-8.ova']);
    expect((await latest(crossed, twoWords)).stderr).toMatch(both);
  });

  it('reads every page and applies words and filters', async () => {
    const { imgctl, requests } = await emulatorUser({ images: 400 });
    const query = 'ubuntu server -f folder,eq,ubuntu --get name';
    const { stdout } = await imgctl(`images latest ${query}`, { env: PASSWORD });
    expect(stdout).toBe((await imgctl(`images list ${query} -s name:version,desc -n 1`)).stdout);
    expect(stdout).toMatch(/^ubuntu-24\.04-server-cloudimg-amd64-\d+\.ova\n$/);
    requests.length = 0;
    await imgctl('images latest --each');
    // Four pages, as the ids have gaps perhaps another, and whether anything changed meanwhile.
    expect(requests.length).toBeLessThanOrEqual(7);
  });

  it.each([
    [['a-12_sp3.ova', 'a-12_2021.ova'], 'the versions in a-#.ova cannot be compared'],
    [['a-2.0-rc1.ova', 'a-1.9.ova'], 'the newest of a-#.ova is a pre-release'],
    [['a-31-12-2023.ova', 'a-01-02-2024.ova'], 'the dates in a-#.ova cannot be compared'],
  ])('exits 2 and shows the candidates if the newest of %j is a guess', async (names, problem) => {
    const { stderr, exitCode } = await latest(imagesOf(names));
    expect(stderr).toMatch(new RegExp(`^imgctl: ${problem}\n  a-\\S+\n  a-\\S+\nhint: `));
    expect(exitCode).toBe(2);
  });

  it('--each prints the others, and names each series without a single newest image and how to leave it out', async () => {
    const names = ['a-12_sp3', 'a_12_2021', 'b-2.0-rc1', 'b-1.9', 'c-1', 'b-7-d-1'];
    const out = "-f 'name,notlike,a-%' -f 'name,notlike,a_%' -f name,ne,b-2.0-rc1 -f name,ne,b-1.9";
    const stdout = 'b-7-d-1\nc-1\n';
    expect(await latest(imagesOf(names), '--each --get name')).toEqual({
      stdout,
      stderr:
        'imgctl: 2 series have no single newest image\n' +
        '  the versions in a-# cannot be compared: a_12_2021, a-12_sp3\n' +
        '  the newest of b-# is a pre-release: b-1.9, b-2.0-rc1\n' +
        `hint: leave them out with: imgctl images latest --each --get name ${out}\n`,
      exitCode: 2,
    });
    const certain = { stdout, stderr: '', exitCode: 0 };
    expect(await latest(imagesOf(names), `--each --get name ${out}`)).toEqual(certain);
    const many = [...'abcdefghijklmnopqrstu'].flatMap((word) => [
      `${word}-12_sp3`,
      `${word}-12_2021`,
    ]);
    const { stderr } = await latest(imagesOf(['web-1', ...many]), '--each');
    expect(stderr).toMatch(/^imgctl: 21 series .*\n( {2}.*\n)+$/);
    const fewer = await latest(imagesOf(['web-1', ...many.slice(2)]), '--each');
    expect(fewer.stderr).toMatch(/^imgctl: 20 series .*\n( {2}.*\n)+hint: leave them out with: /);
    const choice = /^imgctl: 21 series match; add words\n( {2}.*\n){20} {2}and 1 more\nhint: /;
    expect((await latest(imagesOf(many))).stderr).toMatch(choice);
  });

  it.each([
    ['a-1.01.ova', 'a-1.1.ova'],
    ['a-1.ova', 'a-1.ova'],
  ])('exits 2 and names the id of the first if %s and %s are equally new', async (one, other) => {
    const hint = 'hint: select the first with: imgctl images get 2\n';
    expect(await latest(imagesOf([one, other]))).toEqual(failed(2, hint));
  });

  it('quotes the pattern that selects the first of several series', async () => {
    const odd = `hint: select the first with: imgctl images latest -f $'name,like,a\\n\\u001b-%.ova'\n`;
    expect(await latest(imagesOf(['a\n\u001b-1.ova', 'b-1.ova']))).toEqual(failed(2, odd));
    const dash = "hint: select the first with: imgctl images latest -f 'name,like,b-x-%' -- -x\n";
    expect(await latest(imagesOf(['a-x-1', 'b-x-2']), '-- -x')).toEqual(failed(2, dash));
    const hint = `hint: select the first with: imgctl images latest -f 'name,like,a'\\''$(id)-%.ova'\n`;
    expect(await latest(imagesOf(["a'$(id)-1.ova", 'b-1.ova']))).toEqual(failed(2, hint));
  });
});
