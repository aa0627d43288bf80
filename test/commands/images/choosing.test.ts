// How words and filters choose: the same in every command, with hints for what was probably meant.

import { describe, expect, it } from 'vitest';
import type { Image } from '../../../src/api/types.ts';
import { PUBLISHED } from '../../query/published-names.ts';
import {
  catalogueByName,
  catalogueOf,
  cataloguePage,
  named,
} from '../../support/catalogue-page.ts';
import { type CliResult, failed, fakeTerminal, temporaryDirectory } from '../../support/io.ts';
import type { Step } from '../../support/steps.ts';
import { scriptedUser } from '../../support/users.ts';

const NAMES = [
  'debian-10-genericcloud-amd64-20241201.ova',
  'debian-12-genericcloud-amd64-20240101.ova',
  'rocky-9.4-minimal.x86_64.ova',
  'rocky-9.5-Base.x86_64.ova',
];
const IMAGES = NAMES.map((name, index) => named(index + 1, name));

/** A user whose service, and whose own images, are these. */
async function userOf(images: readonly Image[] = IMAGES) {
  const pages = catalogueOf(images);
  const user = await scriptedUser((request, index) => {
    const isOwn = request.url.pathname === '/v2/user/image/vm';
    return isOwn
      ? { json: { data: images, meta: { count: images.length } } }
      : pages(request, index);
  });
  const cwd = temporaryDirectory();
  const onTerminal = (line: Step[0]) => user.imgctl(line, { cwd, errorColumns: 200 });
  return { imgctl: (line: Step[0]) => user.imgctl(line, { cwd }), onTerminal };
}

it.each([
  'images list debian 12 --get id',
  'my-images debian 12 --get id',
  'images latest debian 12 --get id',
  'images lock add web debian 12 --get id -q',
])('a word is a whole number: %s', async (line) => {
  const { imgctl } = await userOf();
  expect(await imgctl(line)).toMatchObject({ stdout: '2\n', exitCode: 0 });
});

describe('an empty list on a terminal', () => {
  const WRITE = 'a number matches only as a whole; write';
  it.each([
    ['images list 64', 'no images match'],
    ['images list rocky 4', 'no images match; rocky: 2, 4: 0'],
    ["images list 96 -f 'name!~(a)'", 'no images match; 96: 0, name!~(a): 4'],
    ["images list rocky 95 -f 'name~minimal'", 'no images match; rocky: 2, 95: 0, name~minimal: 1'],
    ['images list 95', 'no images match', `${WRITE} 9.5`],
    ['my-images rocky 94', 'no images match; rocky: 2, 94: 0', `${WRITE} 9.4`],
    ['images changes 94-minimal', 'no images match', `${WRITE} 9.4-minimal`],
    ['images list rocky95 -s name', 'no images match', `${WRITE} rocky9.5`],
    ['images list rocky amd64', 'no images match; rocky: 2, amd64: 2'],
    ['my-images rocky amd64', 'no images match; rocky: 2, amd64: 2'],
    ['images changes rocky amd64', 'no images match; rocky: 2, amd64: 2'],
    ["images list rocky -f 'id>=3' -f id<2", 'no images match; rocky: 2, id>=3: 2, id<2: 1'],
    [
      "images list rocky '!minimal'",
      'no images match; rocky: 2, !minimal: 0',
      "to leave out names that contain it: -f 'name!~minimal'",
    ],
    [
      'images list 96 -f name=rocky-9.5-Base.x86_64.ova',
      'no images match; name=rocky-9.5-Base.x86_64.ova: 1, of these 96: 0',
    ],
    ["images list -f 'path,like,[x]%'", 'no images match'],
    [
      'images list -f name~rocky$ -f id<9',
      'no images match; name~rocky$: 0, id<9: 4',
      "~ takes ^ and $ literally; did you mean -f 'name,like,%rocky'?",
    ],
    ['images list 1467 rocky', 'no images match; 1467: 0, rocky: 2'],
  ])('%s says what each word and filter matches', async (line, message, hint = '') => {
    const { onTerminal } = await userOf();
    const { stderr, exitCode } = await onTerminal(line);
    const told = `imgctl: ${message}\n${hint && `hint: ${hint}\n`}`;
    expect([
      stderr.replace('warning: ', '').replace(/imgctl: first run.*\n/, ''),
      exitCode,
    ]).toEqual([told, 0]);
  });

  it.each([
    ['-f id=99 -f id>=4', 'id=99: 0'],
    ['-f id>=4 -f id=2', 'id=2: 1, of these id>=4: 0'],
  ])('images latest %s sends no request for it', async (filters, counts) => {
    const { imgctl, requests } = await scriptedUser(({ url }) => {
      const filter = url.searchParams.get('filter');
      const images = IMAGES.filter(({ id }) => filter === null || filter === `id,eq,${id}`);
      return { json: cataloguePage(url, images) };
    });
    expect(await imgctl(`images latest ${filters}`, { errorColumns: 200 })).toEqual(
      failed(5, `imgctl: no images match; ${counts}\n`),
    );
    expect(requests().length).toBe(1);
  });

  it('images latest says so everywhere if it read all images, without reading them again', async () => {
    const { imgctl, requests } = await scriptedUser(catalogueOf(IMAGES));
    const told = 'imgctl: no images match; i386: 0, i486: 0\n';
    for (const errorColumns of [0, 200]) {
      const before = requests().length;
      const result = await imgctl('images latest i386 i486', { errorColumns });
      expect(result).toEqual(failed(5, told));
      // The list of the first word, and all images.
      expect(requests().length - before).toBe(2);
    }
  });
});

describe('images latest on a terminal', () => {
  const CHOICE = `1  debian-12-genericcloud-amd64-20240101.ova\n2  rocky-9.5-Base.x86_64.ova\n3  rocky-9.4-minimal.x86_64.ova\nWhich one? [1-3]: `;

  async function typing(keys: string, line = 'images latest', env = {}) {
    const { imgctl } = await scriptedUser(catalogueOf(IMAGES));
    return imgctl(line, { stdin: fakeTerminal(keys), columns: 80, env });
  }

  it('asks which of several images is meant', async () => {
    const { stdout, stderr, exitCode } = await typing('2\n', 'images latest --get name');
    expect({ stdout, exitCode }).toEqual({ stdout: 'rocky-9.5-Base.x86_64.ova\n', exitCode: 0 });
    expect(stderr).toContain(CHOICE);
    expect(stderr).toMatch(
      / imgctl: to skip the prompt: imgctl images latest --get name -f 'name,like,rocky-%-Base.x86_64.ova'\n$/,
    );
  });

  const FIRST = 'select the first with: imgctl images latest';
  it.each([
    ['three empty lines', '\n\n\n1\n', 2, `no number entered\nhint: ${FIRST}`],
    ['Ctrl-D', '\u0004', 2, `no input (end of file)\nhint: ${FIRST}`],
    ['Ctrl-C', '\u0003', 130, 'interrupted\n'],
    ['three words that no name has', 'x1\n2x\nsuse\n', 2, `no image was chosen\nhint: ${FIRST}`],
    ['three wrong answers', '4\n\u001b[A9\nsuse\n1\n', 2, `no image was chosen\nhint: ${FIRST}`],
  ])('chooses nothing after %s', async (_, keys, exitCode, message) => {
    expect(await typing(keys)).toEqual(failed(exitCode, `imgctl: ${message}`));
  });

  it('asks again after a wrong number, and a word narrows the list', async () => {
    const { stdout, stderr } = await typing('4\nrocky\n2\n', 'images latest --get name');
    expect(stdout).toBe('rocky-9.4-minimal.x86_64.ova\n');
    expect(stderr).toContain('[1-3]: 0 of 3 match 4:\n1  debian');
    expect(stderr).toContain('[1-3]: 2 of 3 match rocky:\n1  rocky-9.5-Base.x86_64.ova\n');
    expect((await typing('9.4\n', 'images latest --get name')).stdout).toBe(stdout);
    // A narrower list allows as many wrong answers again.
    const again = await typing('4\n9\nrocky\n9\n8\n2\n', 'images latest --get name');
    expect(again.stdout).toBe(stdout);
  });

  it('shows the id of an image that a filter of its name does not select', async () => {
    const images = [
      named(1, 'web_1.ova', { created_on: 'soon' }),
      named(2, 'web-1.ova', { created_on: '2024-01-02T00:00Z' }),
      named(3, 'web-1.ova', { created_on: '2024-01-01T00:00Z' }),
    ];
    const { imgctl } = await scriptedUser(catalogueOf(images));
    const terminal = { stdin: fakeTerminal('3\n'), columns: 80, errorColumns: 80 };
    const { stderr } = await imgctl('images latest', terminal);
    expect(stderr).toMatch(/imgctl images get 3\n/);
  });

  it.each([
    [20, true],
    [21, false],
  ])('asks which of %i images is meant: %s', async (count, isAsked) => {
    const letters = [...'abcdefghijklmnopqrstu'].slice(0, count);
    const images = letters.map((letter, index) => named(index + 1, `${letter}-1.ova`));
    const { imgctl } = await scriptedUser(catalogueOf(images));
    const { stderr } = await imgctl('images latest', { stdin: fakeTerminal('1\n'), columns: 80 });
    expect([count, stderr.includes('Which one?')]).toEqual([count, isAsked]);
  });

  it('escapes the names that it lists', async () => {
    const images = [named(1, 'a\u001b-1.ova'), named(2, 'b-1.ova')];
    const { imgctl } = await scriptedUser(catalogueOf(images));
    const terminal = { stdin: fakeTerminal('1\n'), columns: 80 };
    expect((await imgctl('images latest', terminal)).stderr).toMatch(/^[12] {2}a\\u001b-1\.ova$/m);
  });

  it.each([
    ['in CI', 'images latest', { CI: 'true' }],
    ['with -q', 'images latest -q', {}],
    ['in another format', 'images latest --json', {}],
    ['for each series', 'images latest --each', {}],
    ['in images lock', 'images lock add web', {}],
  ])('never asks %s', async (_, line, env) => {
    const { stderr, exitCode } = await typing('1\n', line, env);
    expect(stderr).not.toContain('Which one?');
    expect(exitCode).toBe(line.endsWith('each') ? 0 : 2);
  });

  it.each(['stdin', 'stdout', 'stderr'])('never asks if %s is no terminal', async (stream) => {
    const { imgctl } = await scriptedUser(catalogueOf(IMAGES));
    const { stderr, exitCode } = await imgctl('images latest', {
      stdin: stream === 'stdin' ? '1\n' : fakeTerminal('1\n'),
      ...(stream === 'stdout' ? {} : { columns: 80 }),
      errorColumns: stream === 'stderr' ? undefined : 80,
    });
    expect([stderr.includes('Which one?'), exitCode]).toEqual([false, 2]);
  });
});

it('each cell of a table that is printed whole, typed as a filter, finds its image', async () => {
  const changes = {
    updated_on: '2024-10-27 Sun 00:30:15 UTC',
    created_on: '2024-07-01 Mon 23:59:59 EDT',
    folder: 'a b, c',
    label: 'it\'s 50% "new"',
  };
  const { imgctl } = await scriptedUser(catalogueByName([named(7, 'web-1.ova', changes)]));
  const line = 'images list --json -c all';
  const [image] = JSON.parse((await imgctl(line)).stdout);
  for (const field of Object.keys(image)) {
    for (const style of ['raw', 'iso', 'local']) {
      const list = ['images', 'list', '-c', field, '--time', style];
      const { stdout } = await imgctl([...list, '--no-header']);
      const filter = `${field}=${stdout.slice(0, -1)}`;
      const found = await imgctl(['images', 'list', '-f', filter, '--get', 'id']);
      expect({ filter, found }).toEqual({
        filter,
        found: { stdout: '7\n', stderr: '', exitCode: 0 },
      });
    }
  }
});

describe('of the names that distributions published', () => {
  const published = async () => {
    const images = PUBLISHED.map((name, index) => named(index + 1, name));
    const pages = catalogueOf(images);
    const user = await scriptedUser((request, index) => {
      const [, id] = /^\/v2\/image\/(\d+)$/.exec(request.url.pathname) ?? [];
      return id ? { json: { data: images[Number(id) - 1] } } : pages(request, index);
    });
    return user.imgctl;
  };

  it.each([
    ...['debian 12', 'alma 8', 'alma 8.10', 'opensuse 15', 'al2023 2023.5', 'windows 2019'],
  ])('list and latest find the same images: %s', async (words) => {
    const imgctl = await published();
    const listed = await imgctl(`images list ${words} -o ndjson -c name`);
    const ranked = await imgctl(`images latest ${words} --explain -o ndjson`);
    const namesIn = ({ stdout }: CliResult) => stdout.match(/"name":"[^"]+"/g)?.sort();
    expect(namesIn(ranked)).toEqual(namesIn(listed));
    expect(listed.stdout).not.toBe('');
  });

  it('each command that an ambiguous latest suggests selects the first image that it shows', async () => {
    const imgctl = await published();
    const families = [...new Set(PUBLISHED.flatMap((name) => name.match(/[a-z]{3,}/gi) ?? []))];
    const numbers = [...new Set(PUBLISHED.flatMap((name) => name.match(/\d+/g) ?? []))];
    const queries = ['', ...[...families, ...numbers].filter((_, index) => index % 4 === 0)];
    for (const family of ['centos', 'debian', 'photon']) {
      queries.push(...numbers.slice(0, 4).map((number) => `${family} ${number}`));
    }
    let ambiguous = 0;
    for (const query of queries) {
      const { stderr, exitCode } = await imgctl(`images latest ${query}`);
      expect({ query, exitCode }).toEqual({ query, exitCode: expect.toBeOneOf([0, 2, 5]) });
      const [, command] = /hint: select the first with: imgctl (.*)\n/.exec(stderr) ?? [];
      if (exitCode !== 2) continue;
      ambiguous += 1;
      const [, first = ''] = /\n {2}(?:\d+ .*\/)?(\S+)/.exec(stderr) ?? [];
      const chosen = await imgctl(`${command} --get name`);
      expect({ query, command, chosen }).toEqual({
        query,
        command,
        chosen: { stdout: `${first}\n`, stderr: '', exitCode: 0 },
      });
    }
    expect(ambiguous).toBeGreaterThan(5);
  });
});
