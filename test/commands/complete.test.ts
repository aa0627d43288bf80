// imgctl __complete: what each shell is offered, and silence if there is nothing to offer.

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  parseBash,
  quoteBash,
  quotePowershell,
  replyBash,
} from '../../src/commands/complete/shells.ts';
import { cataloguePage, testImage } from '../support/catalogue-page.ts';
import { runCli, temporaryDirectory } from '../support/io.ts';
import { scriptedServer } from '../support/scripted-server.ts';

const BREAKS = ' \t\n"\'@><=;|&(:';

/** The records that the program prints for a shell. */
async function records(
  shell: string,
  passed: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  const { stdout, stderr, exitCode } = await runCli(['__complete', shell, '--', ...passed], {
    env,
  });
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
  return stdout.split('\0').slice(0, -1);
}

/** What fish is offered for these words, without descriptions: it selects by itself. */
async function offers(words: readonly string[], env?: Readonly<Record<string, string>>) {
  const [, , ...found] = await records('fish', words, env);
  return found.map((record) => record.split('\t')[0]);
}

interface TestImage {
  readonly name: string;
  readonly folder?: string | null;
  readonly data_store?: string;
}

/** A service with these images, and a user of it. */
async function startService(given: readonly (string | TestImage)[]) {
  const images = given.map((image, index) => ({
    ...testImage(index + 1),
    ...(typeof image === 'string' ? { name: image } : image),
  }));
  const server = await scriptedServer(({ method, url }) => {
    if (method === 'PATCH') return { json: { request: { id: 41, status: 'PENDING' } } };
    const [, id] = /\/v2\/image\/(\d+)$/.exec(url.pathname) ?? [];
    return { json: id ? images[Number(id) - 1] : cataloguePage(url, images) };
  });
  const env = {
    IMGCTL_BASE_URL: server.baseUrl,
    IMGCTL_TOKEN: 'T',
    IMGCTL_CONFIG_DIR: temporaryDirectory(),
  };
  const imgctl = async (...argv: string[]) => {
    expect(await runCli(argv, { env })).toMatchObject({ exitCode: 0 });
  };
  return { server, env, imgctl, ask: (...words: string[]) => offers(words, env) };
}

describe('__complete > images get', () => {
  it('offers the images that were listed, without contacting the service', async () => {
    const names = ['b $(touch x)', 'a\nline', 'A\u001b[m', 'b', 'b'];
    const { server, imgctl, ask, env } = await startService(names);
    expect(await ask('images', 'get', '')).toEqual([]);
    expect(server.requests).toHaveLength(0);
    await imgctl('images', 'list', '--json');
    expect(await ask('images', 'get', '')).toEqual(names.slice(0, 4));
    const [, , ...bash] = await records('bash', [BREAKS, 'imgctl images get a'], env);
    expect(bash).toEqual(["$'a\\012line'"]);
    expect(server.requests).toHaveLength(1);
  });

  it('offers ids, with their names, once digits are typed', async () => {
    const { imgctl, env } = await startService(['1st', ...Array(10).fill('same')]);
    await imgctl('images', 'list', '--sort', 'id');
    const [, , ...found] = await records('fish', ['images', 'get', '1'], env);
    expect(found).toEqual(['1st', 'same', '1\t1st', '10\tsame', '11\tsame']);
  });

  it('offers images of images get too', async () => {
    const { imgctl, ask } = await startService(['one', 'two', 'three']);
    await imgctl('images', 'get', '2');
    expect(await ask('images', 'get', '')).toEqual(['two']);
  });

  it('separates profiles and services', async () => {
    const { imgctl, ask, env } = await startService(['one']);
    await imgctl('images', 'list');
    expect(await ask('--base-url', `${env.IMGCTL_BASE_URL}/`, 'images', 'get', '')).toEqual([
      'one',
    ]);
    expect(await ask('images', 'get', '--profile=staging', '')).toEqual([]);
    expect(await ask('--base-url', 'https://images.example.com', 'images', 'get', '')).toEqual([]);
  });

  it('omits names that show as something else or would be options', async () => {
    const names = ['right\u202eleft', 'zero\u200b', 'nul\0', '-dash', 'good é'];
    const { imgctl, ask } = await startService(names);
    await imgctl('images', 'list');
    expect(await ask('images', 'get', '')).toEqual(['good é']);
    expect(await ask('images', 'get', '--', '')).toEqual(['-dash', 'good é']);
  });
});

describe('__complete > filters', () => {
  it('offers folders and data stores of the images that were listed', async () => {
    const { imgctl, ask } = await startService([
      { name: 'a', folder: 'Linux Server', data_store: 'ds2' },
      { name: 'b', folder: 'BSD', data_store: 'ds1' },
      { name: 'c', folder: 'BSD', data_store: 'a,b' },
      { name: 'd', folder: null, data_store: 'ds1' },
    ]);
    await imgctl('images', 'list');
    expect(await ask('images', 'list', '-f', 'folder,eq,')).toEqual([
      'folder,eq,BSD',
      'folder,eq,Linux Server',
    ]);
    expect(await ask('my-images', '--filter=data_store,ne,')).toEqual([
      '--filter=data_store,ne,a,b',
      '--filter=data_store,ne,ds1',
      '--filter=data_store,ne,ds2',
    ]);
    expect(await ask('images', 'list', '-f', 'data_store,in,ds1,')).toEqual([
      'data_store,in,ds1,ds2',
    ]);
    expect(await ask('images', 'list', '-f', 'name,eq,')).toEqual([]);
  });
});

describe('__complete > values of this machine', () => {
  it('offers sync requests newest first, with their status', async () => {
    const { imgctl, env } = await startService([]);
    const entry = { profile: 'default', base_url: env.IMGCTL_BASE_URL, status: null };
    const submitted_on = '2024-01-01T00:00:00Z';
    const requests = [7, 'x-8'].map((id) => ({ ...entry, id, submitted_on }));
    const elsewhere = { ...requests[0], id: 9, base_url: 'https://images.example.com' };
    const file = path.join(env.IMGCTL_CONFIG_DIR, 'sync-history.json');
    writeFileSync(file, JSON.stringify({ requests: [...requests, elsewhere] }));
    await imgctl('sync');
    const [, , ...found] = await records('fish', ['sync-status', ''], env);
    expect(found).toEqual(['41\tPENDING', 'x-8', '7']);
  });

  it('offers profiles', async () => {
    const { imgctl, ask } = await startService([]);
    await imgctl('config', 'set', 'time', 'iso', '--profile', 'staging');
    await imgctl('config', 'set', 'time', 'iso', '--profile', 'prod');
    expect(await ask('--profile', '')).toEqual(['staging', 'prod']);
    expect(await ask('profile', 'use', '')).toEqual(['staging', 'prod']);
  });
});

describe('__complete > the command table', () => {
  it('offers each option once, and only repeatable ones again', async () => {
    const found = await offers(['images', 'list', '--limit', '5', '-f', 'id,eq,1', '-q', '-']);
    expect(found.filter((flag) => flag === '--help')).toHaveLength(1);
    expect(found).toEqual(expect.arrayContaining(['-f', '--filter', '--sort', '--version']));
    expect(found).not.toEqual(expect.arrayContaining(['--limit']));
    expect(found).not.toEqual(expect.arrayContaining(['-q']));
  });

  it.each([
    [
      ['--color', 'a'],
      ['auto', 'always', 'never'],
    ],
    [
      ['-qo', ''],
      ['table', 'json', 'ndjson', 'yaml', 'csv', 'tsv'],
    ],
    [['-qoj'], ['table', 'json', 'ndjson', 'yaml', 'csv', 'tsv'].map((format) => `-qo${format}`)],
    [
      ['profile', ''],
      ['list', 'use', 'delete'],
    ],
    [
      ['images', 'list', '-s', 'name,'],
      ['name,asc', 'name,desc'],
    ],
    [['images', 'list', '-s', 'nope,'], []],
    [['images', 'list', '--limit', ''], []],
    [
      ['config', 'set', 'auth-scheme', ''],
      ['bearer', 'basic'],
    ],
    [['config', 'set', 'time', 'iso', ''], []],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish', 'powershell'],
    ],
    [
      ['help', 'config', 'p'],
      ['list', 'get', 'set', 'unset', 'path'],
    ],
    [
      ['help', '--', 'images', ''],
      ['list', 'ls', 'get'],
    ],
    [['--', 'im'], []],
    [['images', 'constructor', ''], []],
  ])('offers for %j: %j', async (words, expected) => {
    expect(await offers(words)).toEqual(expected);
  });

  it.each([
    [['images', 'list', '-f', 'na'], 'nospace', ''],
    [['images', 'list', '--columns', 'id,'], 'nospace', ''],
    [['inspect', 'a'], 'files', ''],
    [['emulator', '--uploads=a'], 'folders', '--uploads='],
    [['images', ''], 'space', ''],
  ])('prints the mode for %j: %s', async (words, mode, lead) => {
    expect((await records('zsh', words)).slice(0, 2)).toEqual([mode, lead]);
  });
});

describe('__complete > shells', () => {
  it('gives zsh each value with what it shows in the list', async () => {
    const [, , ...found] = await records('zsh', ['profile', '']);
    expect(found.slice(0, 4)).toEqual([
      'list',
      'list    -- list profiles and mark the default one',
      'use',
      'use     -- make a profile the default',
    ]);
  });

  it('gives PowerShell what replaces the part after a comma', async () => {
    const encode = (...words: string[]) => Buffer.from(words.join('\0')).toString('base64');
    const line = encode('images', 'list', '--sort', 'name,d', 'd');
    expect((await records('powershell', [line])).slice(2)).toEqual([
      'desc',
      'name,desc',
      'name,desc',
    ]);
  });

  it.each([
    ['imgctl images ', { words: ['images'], current: '', settled: '' }],
    ['imgctl  a\\ b "c\'d\\e\\$" \'f\\', { words: ['a b', "c'd\\e$"], current: 'f\\', quote: "'" }],
    ['imgctl --output=a:b', { current: '--output=a:b', settled: '--output=a:' }],
    ['imgctl a\\=b', { current: 'a=b', settled: '' }],
    ['imgctl a"b c', { current: 'ab c', quote: '"', before: 'a' }],
  ])('parses the bash line %j', (line, expected) => {
    expect(parseBash(line, BREAKS)).toMatchObject(expected);
  });

  it.each([
    ['imgctl x', 'x y', 'x\\ y'],
    ['imgctl --output=', '--output=json', 'json'],
    ["imgctl 'x", "x'y", "x'\\''y"],
    ['imgctl "x', 'x$y`"', 'x\\$y\\`\\""'],
    ['imgctl "x', 'x!', undefined],
    ["imgctl 'x", 'x\ny', undefined],
    ['imgctl a"x', 'axy', 'xy'],
  ])('after %j bash inserts %j as %j', (line, text, expected) => {
    expect(replyBash(text, parseBash(line, BREAKS))).toBe(expected);
  });

  it.each([
    ['plain-word_1.2', 'plain-word_1.2', 'plain-word_1.2'],
    ["the user's", "the\\ user\\'s", "'the user''s'"],
    ['$(touch x)', '\\$\\(touch\\ x\\)', "'$(touch x)'"],
    ['ü~*', 'ü\\~\\*', "'ü~*'"],
    ['’s', '’s', "'’’s'"],
    ['-x', '-x', "'-x'"],
    ['a\n\u009b`b', "$'a\\012\\302\\233`b'", '"a$([char]10)$([char]155)``b"'],
  ])('quotes %j for bash and PowerShell', (text, bash, powershell) => {
    expect(quoteBash(text)).toBe(bash);
    expect(quotePowershell(text)).toBe(powershell);
  });
});

describe('__complete > prints no error', () => {
  const broken = (name: string) => {
    const directory = temporaryDirectory();
    writeFileSync(path.join(directory, name), '{"profiles": 1');
    return { IMGCTL_CONFIG_DIR: directory, IMGCTL_BASE_URL: 'http://127.0.0.1:9' };
  };

  it.each([
    ['without a shell', []],
    ['for an unknown shell', ['nope']],
    ['for an unknown option', ['zsh', '--nope']],
    ['for a word of JavaScript', ['constructor', '--', 'constructor', '']],
  ])('%s', async (_what, argv) => {
    expect(await runCli(['__complete', ...argv])).toMatchObject({ stderr: '', exitCode: 0 });
  });

  it.each([
    ['without a home', ['--profile', ''], {}],
    ['without a base URL', ['sync-status', ''], { HOME: '/nonexistent' }],
    ['for an invalid base URL', ['--base-url', 'nope', 'images', 'get', ''], {}],
    ['for an invalid profile', ['--profile', '../x', 'images', 'get', ''], {}],
    ['for an invalid format in the environment', ['images', 'get', ''], { IMGCTL_OUTPUT: 'nope' }],
  ])('%s', async (_what, words, env) => {
    expect(await offers(words, env)).toEqual([]);
  });

  it.each([
    ['settings', ['--profile', ''], 'config.json'],
    ['settings', ['images', 'get', ''], 'config.json'],
    ['history', ['sync-status', ''], 'sync-history.json'],
  ])('if the %s are unreadable, for %j', async (_what, words, name) => {
    expect(await offers(words, broken(name))).toEqual([]);
  });

  it('completes commands even if the settings are unreadable', async () => {
    expect(await offers(['images', ''], broken('config.json'))).toEqual(['list', 'ls', 'get']);
  });
});

it('__complete > is in no help and no suggestion', async () => {
  expect((await runCli(['--help'])).stdout).not.toContain('__complete');
  expect((await runCli(['__complet'])).stderr).not.toContain('__complete');
});
