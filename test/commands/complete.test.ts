// imgctl __complete: what shells are offered, and silence if there is nothing to offer.

import { statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Image } from '../../src/api/types.ts';
import { cataloguePage, testImage } from '../support/catalogue-page.ts';
import { runCli, temporaryDirectory } from '../support/io.ts';
import { unixOnly } from '../support/platform.ts';
import { type Environment, scriptedUser } from '../support/users.ts';

/** The lines that the program prints for these words. */
async function linesFor(words: readonly string[], env: Environment = {}): Promise<string[]> {
  const { stdout, stderr, exitCode } = await runCli(['__complete', '--', ...words], { env });
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
  return stdout.split('\n').slice(0, -1);
}

/** What is offered for these words, without descriptions: the shell selects what fits. */
async function offers(words: readonly string[], env?: Environment) {
  const lines = await linesFor(words, env);
  return lines.slice(0, -1).map((line) => line.split('\t')[0]);
}

/** A service with these images, and a user of it. */
async function startService(given: readonly Partial<Image>[]) {
  const images = given.map((image, index) => ({ ...testImage(index + 1), ...image }));
  const user = await scriptedUser(({ method, url }) => {
    if (method === 'PATCH') return { json: { request: { id: 41, status: 'PENDING' } } };
    const [, id] = /\/v2\/image\/(\d+)$/.exec(url.pathname) ?? [];
    return { json: id ? images[Number(id) - 1] : cataloguePage(url, images) };
  });
  const imgctl = async (line: string) => {
    expect(await user.imgctl(line)).toMatchObject({ exitCode: 0 });
  };
  return { ...user, imgctl, ask: (line: string) => offers(line.split(' '), user.env) };
}

const named = (...names: string[]) => startService(names.map((name) => ({ name })));

describe('__complete > choosing images', () => {
  it('offers the cursors that were used, once each', async () => {
    const { imgctl, ask } = await named('one');
    expect(await ask('images changes --cursor ')).toEqual([]);
    for (const line of ['--cursor mail', 'one --cursor mail', '']) {
      await imgctl(`images changes ${line}`);
    }
    expect(await ask('images changes --cursor ')).toEqual(['default', 'mail']);
  });

  unixOnly('modes are Unix')(
    'offers the names in the lock file, and nothing if it is damaged',
    async () => {
      const cwd = temporaryDirectory();
      const file = path.join(cwd, 'images.lock.json');
      const ask = async (line: string) => {
        const argv = ['__complete', '--', ...line.split(' ')];
        const { stdout, stderr } = await runCli(argv, { cwd });
        expect(stderr).toBe('');
        return stdout.split('\n').slice(0, -2);
      };
      expect(await ask('images lock check ')).toEqual([]);
      writeFileSync(file, '{"version":1,"images":{"db":{},"web":{}}}', { mode: 0o644 });
      expect(await ask('images lock check ')).toEqual(['db', 'web']);
      expect(await ask('images get --lock ')).toEqual(['db', 'web']);
      expect(statSync(file).mode & 0o777).toBe(0o644);
      writeFileSync(file, '{"images":');
      expect(await ask('images lock remove ')).toEqual([]);
    },
  );

  it('offers fields after --get, and version order after --sort', async () => {
    const { ask } = await named('one');
    expect(await ask('images latest --get ')).toContain('path');
    expect(await ask('images list --sort ')).toContain('name:version,');
  });

  it.each(['images list --from', 'images snapshot --file', 'images changes --since-file'])(
    'offers files after %s',
    async (line) => {
      expect(await linesFor([...line.split(' '), ''])).toEqual([':files']);
    },
  );
});

describe('__complete > images get', () => {
  it('offers the images that were listed, without contacting the service', async () => {
    const { server, imgctl, ask } = await named('b-1.ova', 'a', 'b-1.ova');
    expect(await ask('images get ')).toEqual([]);
    expect(server.requests).toHaveLength(0);
    await imgctl('images list --json');
    expect(await ask('images get ')).toEqual(['b-1.ova', 'a']);
    expect(server.requests).toHaveLength(1);
  });

  it('omits names with characters that a shell would interpret', async () => {
    const hostile = [...' \t\n\0\u001b"\'`$\\;|&<>(){}[]*?!#~^'].map((each) => `a${each}b`);
    const { imgctl, ask } = await named(...hostile, 'a_b.c/d+e:f,g=h%i-j', 'ü');
    await imgctl('images list');
    expect(await ask('images get ')).toEqual(['a_b.c/d+e:f,g=h%i-j', 'ü']);
  });

  it('offers ids, with their names, once digits are typed', async () => {
    const { imgctl, env } = await named('1st', ...Array(10).fill('same'));
    await imgctl('images list --sort id');
    const found = await linesFor(['images', 'get', '1'], env);
    expect(found).toEqual(['1st', 'same', '1\t1st', '10\tsame', '11\tsame', ':space']);
  });

  it('offers images of images get too', async () => {
    const { imgctl, ask } = await named('one', 'two', 'three');
    await imgctl('images get 2');
    expect(await ask('images get ')).toEqual(['two']);
  });

  it('separates profiles and services', async () => {
    const { imgctl, ask, env } = await named('one');
    await imgctl('images list');
    expect(await ask(`--base-url ${env.IMGCTL_BASE_URL}/ images get `)).toEqual(['one']);
    expect(await ask('images get --profile=staging ')).toEqual([]);
    expect(await ask('--base-url https://images.example.com images get ')).toEqual([]);
  });

  it('omits names that would look different or be read as options', async () => {
    const names = ['right\u202eleft', 'zero\u200b', 'nul\0', '-dash', 'goodé'];
    const { imgctl, ask } = await named(...names);
    await imgctl('images list');
    expect(await ask('images get ')).toEqual(['goodé']);
    expect(await ask('images get -- ')).toEqual(['-dash', 'goodé']);
  });
});

describe('__complete > filters', () => {
  it('offers folders and data stores of the images that were listed', async () => {
    const { imgctl, ask } = await startService([
      { name: 'a', folder: 'Linux Server', data_store: 'ds2' },
      { name: 'b', folder: 'BSD', data_store: 'ds1' },
      { name: 'e', folder: 'linux', data_store: 'ds1' },
      { name: 'c', folder: 'BSD', data_store: 'a,b' },
      { name: 'd', folder: null, data_store: 'ds1' },
    ]);
    await imgctl('images list');
    expect(await ask('images list -f folder,eq,')).toEqual(['folder,eq,BSD', 'folder,eq,linux']);
    expect(await ask('my-images --filter=data_store,ne,')).toEqual([
      '--filter=data_store,ne,a,b',
      '--filter=data_store,ne,ds1',
      '--filter=data_store,ne,ds2',
    ]);
    expect(await ask('images list -f data_store,in,ds1,')).toEqual(['data_store,in,ds1,ds2']);
    expect(await ask('images list -f name,eq,')).toEqual([]);
  });
});

describe('__complete > values of this machine', () => {
  it('offers sync requests newest first, with their status', async () => {
    const { imgctl, env } = await startService([]);
    const entry = { profile: 'default', base_url: env.IMGCTL_BASE_URL, status: null };
    const submitted_on = '2024-01-01T00:00:00Z';
    const requests = [7, 'x-8'].map((id) => ({ ...entry, id, submitted_on }));
    const elsewhere = { ...requests[0], id: 9, base_url: 'https://images.example.com' };
    const file = path.join(env.IMGCTL_CONFIG_DIR ?? '', 'sync-history.json');
    writeFileSync(file, JSON.stringify({ requests: [...requests, elsewhere] }));
    await imgctl('sync');
    const found = await linesFor(['sync-status', ''], env);
    expect(found).toEqual(['41\tPENDING', 'x-8', '7', ':space']);
  });

  it('offers profiles', async () => {
    const { imgctl, ask } = await startService([]);
    for (const name of ['staging', 'prod']) await imgctl(`config set time iso --profile ${name}`);
    expect(await ask('--profile ')).toEqual(['default', 'staging', 'prod']);
    expect(await ask('profile use ')).toEqual(['default', 'staging', 'prod']);
  });
});

describe('__complete > the command table', () => {
  it('offers each option once, and only repeatable ones again', async () => {
    const found = await offers(['images', 'list', '--limit', '5', '-f', 'id,eq,1', '-q', '-']);
    expect(found.filter((flag) => flag === '--help')).toHaveLength(1);
    expect(found).toEqual(expect.arrayContaining(['--filter', '--sort', '--version']));
    for (const flag of ['-f', '-h', '--limit', '--quiet']) expect(found).not.toContain(flag);
    expect(await offers(['images', 'list', '-f'])).toContain('-f');
  });

  it.each([
    ['--color a', 'auto always never'],
    ['-qo ', 'table json ndjson yaml csv tsv'],
    ['-qoj', '-qotable -qojson -qondjson -qoyaml -qocsv -qotsv'],
    ['profile ', 'list use delete'],
    ['images list -s name,', 'name,asc name,desc'],
    ['images list -s nope,', ''],
    ['images list --limit ', ''],
    ['config set auth-scheme ', 'bearer basic'],
    ['config set credential-helper ', 'osxkeychain pass secretservice wincred'],
    ['config set token-store ', 'file'],
    ['config set time iso ', ''],
    ['config set allow-http ', 'true false'],
    ['config set username ', ''],
    ['images list --time ', 'wire iso local age'],
    ['images list -f nope,', ''],
    ['--profile staging profile ', 'list use delete'],
    ['api -X ', 'GET HEAD OPTIONS POST PUT PATCH DELETE'],
    ['completion ', 'bash zsh fish powershell'],
    ['help config p', 'list get set unset path'],
    ['help -- images ', 'list ls get latest changes snapshot lock'],
    ['-- im', ''],
    ['images constructor ', ''],
  ])('offers for %j: %s', async (line, expected) => {
    expect(await offers(line.split(' '))).toEqual(expected.split(' ').filter(Boolean));
  });

  it.each([
    ['images list -f na', 'nospace'],
    ['images list --columns id,', 'nospace'],
    ['config set ca-file ', 'files'],
    ['push a', 'packages'],
    ['validate ', 'packages'],
    ['inspect one.ova ', 'packages'],
    ['emulator --uploads=a', 'folders'],
    ['images ', 'space'],
  ])('ends with the mode for %j: %s', async (line, mode) => {
    expect((await linesFor(line.split(' '))).at(-1)).toBe(`:${mode}`);
  });

  it('describes candidates after a tab', async () => {
    expect((await linesFor(['profile', ''])).slice(0, 2)).toEqual([
      'list\tlist profiles and mark the default one',
      'use\tmake a profile the default',
    ]);
  });
});

describe('__complete > prints no error', () => {
  const broken = (name: string) => {
    const directory = temporaryDirectory();
    writeFileSync(path.join(directory, name), '{"profiles": 1');
    return { IMGCTL_CONFIG_DIR: directory, IMGCTL_BASE_URL: 'http://127.0.0.1:9' };
  };

  it.each([
    ['without a word', []],
    ['for an unknown command', ['--', 'nope', '']],
    ['for an unknown option', ['--nope']],
    ['for a word of JavaScript', ['constructor', '--', 'constructor', '']],
  ])('%s', async (_what, argv) => {
    expect(await runCli(['__complete', ...argv])).toMatchObject({ stderr: '', exitCode: 0 });
  });

  it.each([
    ['without a home', '--profile ', {}],
    ['without a base URL', 'sync-status ', { HOME: '/nonexistent' }],
    ['for an invalid base URL', '--base-url nope images get ', {}],
    ['for an invalid profile', '--profile ../x images get ', {}],
    ['for an invalid format in the environment', 'images get ', { IMGCTL_OUTPUT: 'nope' }],
  ])('%s', async (_what, line, env) => {
    expect(await offers(line.split(' '), env)).toEqual([]);
  });

  it.each([
    ['config.json', '--profile '],
    ['config.json', 'images get '],
    ['sync-history.json', 'sync-status '],
  ])('if %s is unreadable, for %j', async (name, line) => {
    expect(await offers(line.split(' '), broken(name))).toEqual([]);
  });

  it('completes commands even if the settings are unreadable', async () => {
    expect(await offers(['images', ''], broken('config.json'))).toEqual([
      'list',
      'ls',
      'get',
      'latest',
      'changes',
      'snapshot',
      'lock',
    ]);
  });
});

it('__complete > is in no help and no suggestion', async () => {
  expect((await runCli(['--help'])).stdout).not.toContain('__complete');
  expect((await runCli(['__complet'])).stderr).not.toContain('__complete');
});
