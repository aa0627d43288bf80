// images lock and images get --lock: pinning, checking and updating images, and the file they are in.

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Image } from '../../src/api/types.ts';
import { formatTimestamp } from '../../src/query/timestamp.ts';
import { catalogueOf, testImage } from '../support/catalogue-page.ts';
import { failed, temporaryDirectory } from '../support/io.ts';
import { unixOnly, unixOnlySuite } from '../support/platform.ts';
import type { ScriptedRequest } from '../support/scripted-server.ts';
import { scriptedUser } from '../support/users.ts';

const named = (id: number, name: string, changes: Partial<Image> = {}): Image => ({
  ...testImage(id),
  name,
  path: `[images] linux/${name}`,
  label: `linux/${name}`,
  ...changes,
});

const WEB_1 = named(1, 'ubuntu-22.04-server.ova');
const WEB_2 = named(2, 'ubuntu-24.04-server.ova');
const DB_1 = named(11, 'debian-11.ova');
const DB_2 = named(12, 'debian-12.ova');

/** A user in a folder of a project, and a service whose images a test changes. */
async function project(...images: readonly Image[]) {
  const service = { images };
  const user = await scriptedUser((request: ScriptedRequest, index: number) => {
    const { pathname, searchParams } = request.url;
    const id = /^\/v2\/image\/(\d+)$/.exec(pathname)?.[1];
    if (id !== undefined) {
      const data = service.images.find((image) => image.id === Number(id));
      return data ? { json: { data } } : { status: 404, json: { message: 'None.' } };
    }
    const word = /^name,like,%?(.*?)%$/.exec(searchParams.get('filter') ?? '')?.[1] ?? '';
    return catalogueOf(service.images.filter(({ name }) => name.includes(word)))(request, index);
  });
  const directory = temporaryDirectory();
  const file = path.join(directory, 'images.lock.json');
  return {
    ...user,
    service,
    directory,
    file,
    lock: (line: string) => user.imgctl(`images lock ${line}`, { cwd: directory }),
    get: (line: string) => user.imgctl(`images get ${line}`, { cwd: directory }),
    content: () => fs.readFileSync(file, 'utf8'),
  };
}

/** A project that has locked web and db. */
async function locked() {
  const all = await project(WEB_1, DB_1);
  await all.lock('add web ubuntu server');
  await all.lock('add db -f name,like,debian%');
  return all;
}

describe('images lock add', () => {
  it('locks the newest image and writes one field per line', async () => {
    const { lock, content, file } = await project(WEB_1, WEB_2, DB_1);
    expect(await lock('add web ubuntu server -f id,lt,10')).toEqual({
      stdout: [
        'lock        web',
        'id          2',
        'name        ubuntu-24.04-server.ova',
        'path        [images] linux/ubuntu-24.04-server.ova',
        `created_on  ${formatTimestamp('2018-07-18 Wed 15:36:49 EDT', 'local', 0)}`,
        `updated_on  ${formatTimestamp('2018-07-19 Thu 08:00:00 EDT', 'local', 0)}`,
        '',
      ].join('\n'),
      stderr: 'imgctl: locked as web in images.lock.json\n',
      exitCode: 0,
    });
    expect(content()).toBe(`{
  "version": 1,
  "images": {
    "web": {
      "text": [
        "ubuntu",
        "server"
      ],
      "filters": [
        "id,lt,10"
      ],
      "id": 2,
      "name": "ubuntu-24.04-server.ova",
      "path": "[images] linux/ubuntu-24.04-server.ova",
      "created_on": "2018-07-18 Wed 15:36:49 EDT",
      "updated_on": "2018-07-19 Thu 08:00:00 EDT"
    }
  }
}
`);
    expect(fs.statSync(file).mode & 0o777).toBe(0o666 & ~process.umask());
  });

  it('escapes controls and marks that reorder text, as JSON output does', async () => {
    const web = named(1, 'ubuntu-é\u009b\u202e-22.04.ova');
    const { lock, content } = await project(web);
    await lock('add web ubuntu');
    expect(content()).toContain('"name": "ubuntu-é\\u009b\\u202e-22.04.ova"');
    expect(JSON.parse(content()).images.web.name).toBe(web.name);
    expect((await lock('check --json')).exitCode).toBe(0);
  });

  it('keeps the names sorted, whatever the order of the commands', async () => {
    const { lock, content } = await project(WEB_1);
    for (const name of ['b', 'constructor', 'a.1', 'C']) await lock(`add ${name} ubuntu`);
    expect(Object.keys(JSON.parse(content()).images)).toEqual(['C', 'a.1', 'b', 'constructor']);
  });

  it('changes nothing if several series or no images match', async () => {
    const { lock, file } = await project(WEB_1, DB_1);
    const several = await lock('add web');
    expect(several).toEqual(failed(2, 'imgctl: web: 2 series match\n  debian-#.ova'));
    expect(several.stderr).not.toContain('--each');
    expect(await lock('add web fedora')).toEqual(failed(5, 'web: no images match'));
    expect(fs.existsSync(file)).toBe(false);
  });

  it.each([
    [
      'add web ubuntu',
      'web is already locked\nhint: use another name, or first run: imgctl images lock remove web',
    ],
    ['add ../x ubuntu', 'invalid name of a lock: ../x'],
    ['add __proto__ ubuntu', 'invalid name of a lock: __proto__'],
    ['add x ubuntu -f nme,eq,1', "unknown field 'nme'"],
    ['add x ubuntu --get nme', "unknown field 'nme'"],
    ['add', "missing required argument 'name'"],
    ['update --get nme', 'valid: lock, change, old_name'],
    ['check --get nme', 'valid: lock, state'],
    ['remove', "missing required argument 'name'"],
  ])('rejects %s and leaves the file', async (line, message) => {
    const { lock, content } = await locked();
    const before = content();
    expect(await lock(line)).toEqual(failed(2, message));
    expect(content()).toBe(before);
  });

  it('exits 1 if the file cannot be written', async () => {
    const { lock, directory } = await project(WEB_1);
    const line = 'add web ubuntu --file missing/images.lock.json';
    const message = 'cannot write the lock file missing/images.lock.json: ENOENT';
    expect(await lock(line)).toEqual(failed(1, message));
    expect(fs.readdirSync(directory)).toEqual([]);
  });

  it('loses no name if several processes add at the same time', async () => {
    const { lock, content } = await project(WEB_1);
    const names = ['a', 'b', 'c', 'd', 'e'];
    const results = await Promise.all(names.map((name) => lock(`add ${name} ubuntu`)));
    expect(results.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0, 0]);
    expect(Object.keys(JSON.parse(content()).images)).toEqual(names);
  });
});

unixOnlySuite('symbolic links need rights')('images lock add through links', () => {
  it.each([
    ['an existing file', '{"version": 1, "images": {}}'],
    ['no file yet', undefined],
  ])('and by the path of %s loses no name and keeps the links', async (_what, text) => {
    const { lock, directory } = await project(WEB_1);
    const target = path.join(directory, 'shared');
    fs.mkdirSync(target);
    const file = path.join(target, 'all.json');
    if (text !== undefined) fs.writeFileSync(file, text);
    fs.symlinkSync('shared/all.json', path.join(directory, 'link.json'));
    fs.symlinkSync('link.json', path.join(directory, 'second.json'));
    fs.symlinkSync('shared', path.join(directory, 'folder'));
    const paths = ['shared/all.json', 'link.json', 'second.json', 'folder/all.json'];
    const names = Array.from({ length: 12 }, (_, index) => `n${String(index).padStart(2, '0')}`);
    const results = await Promise.all(
      names.map((name, index) => lock(`add ${name} ubuntu --file ${paths[index % 4]}`)),
    );
    expect(results.filter(({ exitCode }) => exitCode !== 0)).toEqual([]);
    expect(Object.keys(JSON.parse(fs.readFileSync(file, 'utf8')).images)).toEqual(names);
    const links = ['link.json', 'second.json', 'folder'];
    expect(links.map((name) => fs.readlinkSync(path.join(directory, name)))).toEqual([
      'shared/all.json',
      'link.json',
      'shared',
    ]);
    expect(fs.readdirSync(target)).toEqual(['all.json']);
  });
});

describe('images lock list', () => {
  it('lists the locked images without a request', async () => {
    const { lock, requests } = await locked();
    const before = requests().length;
    expect((await lock('list --get path')).stdout).toBe(
      '[images] linux/debian-11.ova\n[images] linux/ubuntu-22.04-server.ova\n',
    );
    expect((await lock('list -q')).stdout).toBe('db\nweb\n');
    expect(JSON.parse((await lock('list --json')).stdout)[0]).toEqual({
      lock: 'db',
      text: [],
      filters: ['name,like,debian%'],
      id: 11,
      name: 'debian-11.ova',
      path: '[images] linux/debian-11.ova',
      created_on: DB_1.created_on,
      updated_on: DB_1.updated_on,
    });
    expect(requests()).toHaveLength(before);
  });

  it.each(['list', 'check', 'update', 'remove web'])(
    'exits 2 without a lock file: %s',
    async (line) => {
      const { lock } = await project();
      const message = 'the lock file images.lock.json does not exist\nhint: create it with: imgctl';
      expect(await lock(line)).toEqual(failed(2, message));
    },
  );
});

const UPDATED = '2020-01-01 Wed 00:00:00 UTC';

describe('images lock, for words of digits', () => {
  const [EIGHT, NINE] = [named(1, 'rocky-8.10-x86_64.ova'), named(2, 'rocky-9.5-x86_64.ova')];

  it('locks the image of that version', async () => {
    const { lock, content } = await project(EIGHT, NINE);
    expect(await lock('add web rocky 8')).toMatchObject({ exitCode: 0 });
    expect(content()).toContain(EIGHT.name);
  });

  it('refuses a word that occurs only as text', async () => {
    const { lock } = await project(NINE);
    expect(await lock('add web rocky 8')).toEqual(
      failed(
        5,
        'web: no image of version 8; 1 name contains 8\nhint: list them with: imgctl images',
      ),
    );
  });

  it('checks a lock of another version as before, says why, and updates it', async () => {
    const { lock, file, content } = await project(EIGHT, NINE);
    await lock('add web rocky 9');
    // As an earlier imgctl wrote it, which found the 8 in x86_64.
    fs.writeFileSync(file, content().replace('"9"', '"8"'));
    expect(await lock('check web --get state')).toEqual({
      stdout: 'ok\n',
      stderr:
        'imgctl: warning: web: its image rocky-9.5-x86_64.ova does not match rocky 8\nhint: lock one that does: imgctl images lock update web\n',
      exitCode: 0,
    });
    await lock('update web');
    expect(content()).toContain(EIGHT.name);
    expect(await lock('check web --get state')).toMatchObject({ stdout: 'ok\n', stderr: '' });
  });

  it('does not call an image of another version newer', async () => {
    const { lock, service } = await project(EIGHT);
    await lock('add web rocky 8');
    service.images = [EIGHT, NINE];
    expect((await lock('check --get state')).stdout).toBe('ok\n');
    service.images = [EIGHT, NINE, named(3, 'rocky-8.11-x86_64.ova')];
    expect((await lock('check --get newest_id')).stdout).toBe('3\n');
  });
});

describe('images lock check', () => {
  it.each([
    ['ok', [WEB_1], 0, 0],
    ['ok', [WEB_1, named(3, 'ubuntu-24.04-desktop-server.ova')], 0, 0],
    ['newer', [WEB_1, WEB_2], 0, 10],
    ['newer', [WEB_1, named(3, WEB_1.name, { created_on: '2020-01-01 Wed 00:00:00 UTC' })], 0, 10],
    ['moved', [named(1, 'ubuntu-22.04-server-old.ova'), WEB_2], 1, 1],
    ['moved', [named(1, 'other-name.ova')], 1, 1],
    ['moved', [named(1, WEB_1.name, { path: '[other] x.ova' })], 1, 1],
    ['replaced', [named(1, 'other-name.ova', { updated_on: UPDATED }), WEB_2], 1, 1],
    ['gone', [WEB_2], 1, 1],
    ['gone', [], 1, 1],
  ] as const)('says %s (%#)', async (state, images, exitCode, withExitCode) => {
    const { lock, service } = await locked();
    service.images = [...images, DB_1];
    const result = await lock('check --json');
    expect(result.exitCode).toBe(exitCode);
    const [db, web] = JSON.parse(result.stdout);
    const newest = state === 'newer' ? images[1] : undefined;
    expect(web).toEqual({
      lock: 'web',
      state,
      id: 1,
      name: WEB_1.name,
      path: WEB_1.path,
      newest_id: newest?.id ?? null,
      newest_name: newest?.name ?? null,
    });
    expect(db.state).toBe('ok');
    expect((await lock('check web --exit-code --get state')).exitCode).toBe(withExitCode);
    expect((await lock('check db --exit-code')).exitCode).toBe(0);
  });

  it('prints a table and names what changed', async () => {
    const { lock, service } = await locked();
    service.images = [WEB_1, WEB_2];
    expect(await lock('check')).toEqual({
      stdout:
        'lock  state  id  name                     newest_id  newest_name\n' +
        'db    gone   11  debian-11.ova                    -  -\n' +
        'web   newer   1  ubuntu-22.04-server.ova          2  ubuntu-24.04-server.ova\n',
      stderr:
        'imgctl: 1 locked image of 2 changed\n  db: gone\n' +
        'hint: lock the newest images instead: imgctl images lock update db\n',
      exitCode: 1,
    });
  });

  it('exits 5 for a name that is not locked', async () => {
    const { lock } = await locked();
    expect(await lock('check wbe')).toEqual(failed(5, "no image is locked as 'wbe'"));
    expect((await lock('remove webb')).stderr).toContain('hint: did you mean web?');
  });
});

describe('images lock update', () => {
  it('locks the newest images again and shows the old ones', async () => {
    const { lock, service, content } = await locked();
    service.images = [WEB_1, WEB_2, DB_1];
    const before = content();
    expect(await lock('update')).toEqual({
      stdout:
        'lock  change     old_name                 name\n' +
        'db    unchanged  debian-11.ova            debian-11.ova\n' +
        'web   updated    ubuntu-22.04-server.ova  ubuntu-24.04-server.ova\n',
      stderr: '',
      exitCode: 0,
    });
    expect(content()).not.toBe(before);
    expect((await lock('check --exit-code')).exitCode).toBe(0);
  });

  it('updates only the named images', async () => {
    const { lock, service } = await locked();
    service.images = [WEB_2, DB_2];
    await lock('update db');
    expect((await lock('list --get id')).stdout).toBe('12\n1\n');
  });

  it('changes nothing if one image cannot be found', async () => {
    const { lock, service, content } = await locked();
    const before = content();
    service.images = [DB_1, DB_2];
    expect(await lock('update')).toEqual(failed(5, 'web: no images match'));
    expect(content()).toBe(before);
  });

  unixOnly('Wine has no git')('changes only the lines of the images that changed', async () => {
    const { lock, service, directory } = await locked();
    const git = (...argv: string[]) =>
      execFileSync('git', ['-C', directory, '-c', 'user.name=a', '-c', 'user.email=a@b', ...argv], {
        encoding: 'utf8',
      });
    git('init', '-q');
    git('add', '.');
    git('commit', '-qm', 'Lock images');
    service.images = [WEB_1, WEB_2, DB_1];
    await lock('update');
    const changed = git('diff', '-U0')
      .split('\n')
      .filter((line) => /^[-+] /.test(line));
    expect(changed.map((line) => line.trim().replace(/ +/, ' '))).toEqual([
      '- "id": 1,',
      '- "name": "ubuntu-22.04-server.ova",',
      '- "path": "[images] linux/ubuntu-22.04-server.ova",',
      '+ "id": 2,',
      '+ "name": "ubuntu-24.04-server.ova",',
      '+ "path": "[images] linux/ubuntu-24.04-server.ova",',
    ]);
    expect(git('status', '--short')).toBe(' M images.lock.json\n');
  });
});

describe('images lock remove', () => {
  it('removes a name and leaves the others', async () => {
    const { lock } = await locked();
    expect(await lock('remove web')).toEqual({
      stdout: '',
      stderr: 'imgctl: unlocked web\n',
      exitCode: 0,
    });
    expect((await lock('list -q')).stdout).toBe('db\n');
  });
});

describe('a lock file', () => {
  it.each([
    ['damaged', (text: string) => text.slice(0, -10), 'is not valid JSON'],
    ['empty', () => '', 'is not valid JSON'],
    ['foreign', () => '{"name":"x","lockfileVersion":3}', 'has an unknown format'],
    ['newer', (text: string) => text.replace('"version": 1', '"version": 2'), 'newer format 2'],
    ['older', (text: string) => text.replace('"version": 1', '"version": 0'), 'unknown format'],
    ['without an id', (text: string) => text.replace('"id": 11', '"id": "x"'), 'is damaged at db'],
    ['with a wrong query', (text: string) => text.replace('[]', '{}'), 'is damaged at db'],
  ])('that is %s is an error and stays untouched', async (_, change, message) => {
    const { lock, get, file, content } = await locked();
    const text = change(content());
    fs.writeFileSync(file, text);
    for (const line of ['list', 'check', 'update', 'add x ubuntu', 'remove web']) {
      const result = await lock(line);
      expect(result).toEqual(failed(2, message));
      expect(result.stderr.trim().split('\n')).toHaveLength(2);
    }
    expect(await get('--lock web')).toEqual(failed(2, message));
    expect(content()).toBe(text);
  });
});

describe('images get --lock', () => {
  it('shows the locked image as it is now', async () => {
    const { get, lock, requests } = await locked();
    await lock('add ci ubuntu --file ci.json');
    const before = requests().length;
    expect(await get('--lock web --get path')).toEqual({
      stdout: '[images] linux/ubuntu-22.04-server.ova\n',
      stderr: '',
      exitCode: 0,
    });
    expect(requests().slice(before)).toEqual(['GET /v2/image/1']);
    expect(JSON.parse((await get('--lock ci --file ci.json --json')).stdout)).toEqual(WEB_1);
  });

  it('exits 5 if it is gone, 1 if it was replaced, and warns if it was moved', async () => {
    const { get, service } = await locked();
    service.images = [WEB_2];
    expect(await get('--lock web')).toEqual(failed(5, 'web is gone: image 1 does not exist'));
    service.images = [named(1, WEB_1.name, { updated_on: UPDATED })];
    expect(await get('--lock web')).toEqual(
      failed(1, `web was replaced: image 1 was updated on ${UPDATED}\nhint: lock the newest one`),
    );
    service.images = [named(1, WEB_1.name, { path: '[b] x' })];
    expect(await get('--lock web --get path')).toMatchObject({
      stdout: '[b] x\n',
      stderr: expect.stringContaining(
        'web was moved from [images] linux/ubuntu-22.04-server.ova to [b] x',
      ),
      exitCode: 0,
    });
  });

  it.each([
    ['--lock web 1', 2, '--lock cannot be used with other images'],
    ['--file x.json 1', 2, '--file needs --lock'],
    ['', 2, 'no image to show\nhint: provide an id or a name'],
    ['--lock wbe', 5, "no image is locked as 'wbe'"],
  ])('rejects %s', async (line, exitCode, message) => {
    const { get } = await locked();
    expect(await get(line)).toEqual(failed(exitCode, message));
  });
});
