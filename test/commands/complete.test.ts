// imgctl __complete: values of this machine for the completion scripts, and silence where there are none.

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { cataloguePage, testImage } from '../support/catalogue-page.ts';
import { runCli, temporaryDirectory } from '../support/io.ts';
import { scriptedServer } from '../support/scripted-server.ts';

const NOTHING = { stdout: '', stderr: '', exitCode: 0 };

/** A service with images of these names, and a user of it. */
async function startService(names: readonly string[]) {
  const images = names.map((name, index) => ({ ...testImage(index + 1), name }));
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
    const result = await runCli(argv, { env });
    expect(result).toMatchObject({ exitCode: 0 });
    return result;
  };
  const ask = async (...argv: string[]) => {
    const { stdout, stderr } = await imgctl('__complete', ...argv);
    expect(stderr).toBe('');
    return stdout.split('\0').slice(0, -1);
  };
  return { server, env, imgctl, ask };
}

describe('image-names', () => {
  it('are those that were listed, without asking the service', async () => {
    const { server, imgctl, ask } = await startService([
      'b $(touch x)',
      'a\nline',
      'A\u001b[m',
      'b',
    ]);
    expect(await ask('image-names')).toEqual([]);
    expect(server.requests).toHaveLength(0);
    await imgctl('images', 'list', '--json');
    expect(await ask('image-names')).toEqual(['b $(touch x)', 'a\nline', 'A\u001b[m', 'b']);
    expect(await ask('image-names', 'a')).toEqual(['a\nline', 'A\u001b[m']);
    expect(await ask('image-names', '--', '-a')).toEqual([]);
    expect(server.requests).toHaveLength(1);
  });

  it('are offered with ids where one is typed', async () => {
    const { imgctl, ask } = await startService([
      '1st',
      ...Array.from({ length: 10 }, () => 'same'),
    ]);
    await imgctl('images', 'list', '--sort', 'id');
    expect(await ask('image-names')).toEqual(['1st', 'same']);
    expect(await ask('image-names', '1')).toEqual(['1st', '1', '10', '11']);
  });

  it('come from images get as well', async () => {
    const { imgctl, ask } = await startService(['one', 'two', 'three']);
    await imgctl('images', 'get', '2');
    expect(await ask('image-names')).toEqual(['two']);
    await imgctl('images', 'list', 'o', '--limit', '1');
    expect(await ask('image-names')).toEqual(['one', 'two']);
  });

  it('are kept apart by profile and service', async () => {
    const { imgctl, ask, env } = await startService(['one']);
    await imgctl('images', 'list');
    expect(await ask('image-names', '--base-url', `${env.IMGCTL_BASE_URL}/`)).toEqual(['one']);
    expect(await ask('image-names', '--profile', 'staging')).toEqual([]);
    expect(await ask('image-names', '--base-url', 'https://images.example.com')).toEqual([]);
  });

  it('leave out what would show as something else, or cannot be an argument', async () => {
    const { imgctl, ask } = await startService([
      'right\u202eleft',
      'zero\u200b',
      'nul\0',
      'good é',
    ]);
    await imgctl('images', 'list');
    expect(await ask('image-names')).toEqual(['good é']);
  });
});

it('sync-ids are those submitted here, newest first', async () => {
  const { imgctl, ask, env } = await startService([]);
  const entry = { profile: 'default', base_url: env.IMGCTL_BASE_URL, status: null };
  const requests = [7, 'x-8'].map((id) => ({ ...entry, id, submitted_on: '2024-01-01T00:00:00Z' }));
  const elsewhere = { ...requests[0], id: 9, base_url: 'https://images.example.com' };
  const file = path.join(env.IMGCTL_CONFIG_DIR, 'sync-history.json');
  writeFileSync(file, JSON.stringify({ requests: [...requests, elsewhere] }));
  await imgctl('sync');
  expect(await ask('sync-ids')).toEqual(['41', 'x-8', '7']);
});

it('profiles are those of the settings', async () => {
  const { imgctl, ask } = await startService([]);
  await imgctl('config', 'set', 'time', 'iso', '--profile', 'staging');
  await imgctl('config', 'set', 'time', 'iso', '--profile', 'prod');
  expect(await ask('profiles')).toEqual(['staging', 'prod']);
  expect(await ask('profiles', 'P')).toEqual(['prod']);
});

describe('where there is nothing to say it says nothing', () => {
  const broken = (name: string) => {
    const directory = temporaryDirectory();
    writeFileSync(path.join(directory, name), '{"profiles": 1');
    return { IMGCTL_CONFIG_DIR: directory, IMGCTL_BASE_URL: 'http://127.0.0.1:9' };
  };

  it.each([
    ['no kind', [], {}],
    ['an unknown kind', ['nope'], {}],
    ['a word of JavaScript', ['constructor'], {}],
    ['an unknown option', ['profiles', '--nope'], {}],
    ['words too many', ['profiles', '', 'more', 'words'], {}],
    ['no home', ['profiles'], {}],
    ['no base URL', ['sync-ids'], { HOME: '/nonexistent' }],
    ['a base URL that is none', ['image-names', '--base-url', 'nope'], {}],
    ['a profile that is none', ['image-names', '--profile', '../x'], {}],
    ['an unknown format in the environment', ['image-names'], { IMGCTL_OUTPUT: 'nope' }],
  ])('%s', async (_what, argv, env) => {
    expect(await runCli(['__complete', ...argv], { env })).toEqual(NOTHING);
  });

  it.each([
    ['settings', 'profiles', 'config.json'],
    ['settings', 'image-names', 'config.json'],
    ['a history', 'sync-ids', 'sync-history.json'],
  ])('%s that cannot be read, for %s', async (_what, kind, name) => {
    expect(await runCli(['__complete', kind], { env: broken(name) })).toEqual(NOTHING);
  });
});

it('is in no help and no suggestion', async () => {
  expect((await runCli(['--help'])).stdout).not.toContain('__complete');
  expect((await runCli(['__complet'])).stderr).not.toContain('__complete');
});
