// images snapshot, --from and --max-age: saving the catalogue, and reading it offline.

import fs from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { snapshotOptions } from '../../../src/commands/images/invocation.ts';
import { catalogueOf, named, testImage, testImages } from '../../support/catalogue-page.ts';
import { failed, temporaryDirectory } from '../../support/io.ts';
import { unixOnly } from '../../support/platform.ts';
import { after } from '../../support/scripted-server.ts';
import { expectSteps } from '../../support/steps.ts';
import { emulatorUser, localUser, PASSWORD, scriptedUser } from '../../support/users.ts';

const NOW = Date.UTC(2025, 0, 10, 12);
const TAKEN = '2025-01-10T09:00:00.000Z';

/** A user without a service, at noon; all.json is a snapshot with these changes to its members. */
function offline(changes: Record<string, unknown> = {}) {
  const { directory, imgctl } = localUser();
  const file = path.join(directory, 'all.json');
  const head = { version: 1, taken_at: TAKEN, base_url: 'https://images.example.com' };
  const value = { ...head, username: 'demo', images: testImages(3), ...changes };
  fs.writeFileSync(file, JSON.stringify(value));
  const at = (line: string | readonly string[], io = {}) => imgctl(line, { time: NOW, ...io });
  return { directory, file, value, imgctl: at };
}

describe('images snapshot', () => {
  it('escapes controls and marks that reorder text, as JSON output does', async () => {
    const { imgctl } = await scriptedUser(catalogueOf([named(1, 'a\u202e.ova')]));
    const cwd = temporaryDirectory();
    await imgctl('images snapshot all.json', { cwd });
    const text = fs.readFileSync(path.join(cwd, 'all.json'), 'utf8');
    expect(text).toContain('"name":"a\\u202e.ova"');
    await imgctl('images snapshot all.json.GZ', { cwd });
    const zipped = gunzipSync(fs.readFileSync(path.join(cwd, 'all.json.GZ'))).toString();
    expect(zipped).toContain('"name":"a\\u202e.ova"');
  });

  it('does not say that it saved a file whose folder is removed while the list is read', async () => {
    const cwd = path.join(temporaryDirectory(), 'saved');
    fs.mkdirSync(cwd);
    const script = catalogueOf(testImages(1));
    const remove = () => fs.rmdirSync(cwd);
    const { imgctl } = await scriptedUser(after('GET /v2/image', remove, script));
    const message =
      /^imgctl: cannot write the snapshot all\.json: no such file or directory\nhint: .*\n$/;
    expect(await imgctl('images snapshot all.json', { cwd })).toEqual(failed(1, message));
  });

  it('saves every image on its own line, and the same on standard output', async () => {
    const { imgctl, emulator, directory } = await emulatorUser({ images: 250 });
    const run = (line: string | readonly string[]) =>
      imgctl(line, { cwd: directory, env: PASSWORD });
    const saved = 'imgctl: saved 250 images in all.json\n';
    await expectSteps(run, ['images snapshot all.json', '', saved]);
    const text = fs.readFileSync(path.join(directory, 'all.json'), 'utf8');
    const { images, taken_at, ...head } = JSON.parse(text);
    expect(taken_at).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(head).toEqual({ version: 1, base_url: emulator.baseUrl, username: 'demo' });
    expect(images).toEqual(JSON.parse((await run('images list --json --time raw -s id')).stdout));
    const lines = text.trim().split('\n').slice(1, -1);
    expect(lines.map((line) => JSON.parse(line.replace(/,$/, '')))).toEqual(images);
    const { stdout } = await run('images snapshot');
    expect(stdout.split('\n').slice(1)).toEqual(text.split('\n').slice(1));
  });

  it('of an empty catalogue can be read, and is as old as its request', async () => {
    const list = catalogueOf([]);
    const { imgctl } = await scriptedUser((request, index) =>
      index === 0 ? { status: 503 } : list(request, index),
    );
    const cwd = temporaryDirectory();
    // The retry of the first request moves the clock.
    await imgctl('images snapshot all.json', { cwd, time: NOW });
    const text = fs.readFileSync(path.join(cwd, 'all.json'), 'utf8');
    expect(JSON.parse(text).taken_at).toBe(new Date(NOW).toISOString());
    const read = await imgctl('images list --from all.json --json', { cwd });
    expect(read).toEqual({ stdout: '[]\n', stderr: '', exitCode: 0 });
  });

  it('holds no image that vanished while the list was read', async () => {
    const { imgctl } = await scriptedUser((request, index) =>
      catalogueOf(index < 1 ? testImages(150) : testImages(149, 2))(request, index),
    );
    const { stdout } = await imgctl('IMGCTL_USERNAME= images snapshot -');
    const { images, username } = JSON.parse(stdout);
    expect(username).toBeNull();
    expect(images).toEqual(testImages(149, 2));
  });

  it('writes nothing if a page fails, and keeps the file', async () => {
    const { directory, file, value } = offline();
    const { imgctl } = await scriptedUser((request, index) =>
      index > 0 ? { status: 500, json: {} } : catalogueOf(testImages(150))(request, index),
    );
    for (const line of ['images snapshot', 'images snapshot all.json']) {
      expect(await imgctl(line, { cwd: directory })).toEqual(failed(1, '500'));
    }
    expect(fs.readFileSync(file, 'utf8')).toBe(JSON.stringify(value));
    expect(fs.readdirSync(directory)).toEqual(['all.json']);
  });

  unixOnly('modes are Unix')(
    'replaces the file, and keeps its mode, its owner and the link',
    async () => {
      const { imgctl, requests } = await scriptedUser(catalogueOf(testImages(1)));
      const { directory, file } = offline();
      fs.chmodSync(file, 0o664);
      // As sudo does.
      if (process.getuid?.() === 0) fs.chownSync(file, 65_534, 65_533);
      const { ino, uid, gid } = fs.statSync(file);
      fs.symlinkSync('all.json', path.join(directory, 'link.json'));
      const [folder, type] = [
        /none\/a\.json: no such file or directory\nhint: create its folder/,
        /\.: it is not a/,
      ];
      const imgctlHere = (line: string | readonly string[]) => imgctl(line, { cwd: directory });
      await expectSteps(
        imgctlHere,
        ['images snapshot link.json', '', /^imgctl: saved 1 image/],
        ['images snapshot none/a.json', '', folder, 1],
        ['images snapshot .', '', type, 1],
        [['images', 'snapshot', ''], '', /the name of the snapshot must not be empty/, 2],
      );
      const denied =
        /^imgctl: cannot write the snapshot all\.json: permission denied\nhint: check its folder, its permissions and the free space\n/;
      for (const readOnly of [file, directory]) {
        const access = vi.spyOn(fs, 'accessSync').mockImplementation((name, mode = 0) => {
          if (name !== readOnly || !(mode & fs.constants.W_OK)) return;
          throw Object.assign(new Error('access'), { code: 'EACCES' });
        });
        onTestFinished(() => access.mockRestore());
        await expectSteps(imgctlHere, ['images snapshot all.json', '', denied, 1]);
      }
      // What cannot be written is refused before the list is read.
      expect(requests()).toHaveLength(1);
      expect(fs.statSync(file).ino).not.toBe(ino);
      expect(fs.statSync(file)).toMatchObject({ mode: 0o100664, uid, gid });
      expect(fs.readlinkSync(path.join(directory, 'link.json'))).toBe('all.json');
      expect(JSON.parse(fs.readFileSync(file, 'utf8')).images).toHaveLength(1);
    },
  );

  it('keeps the digits of numbers that JavaScript cannot hold', async () => {
    const image = '{"id":1,"name":"a","size":9007199254740993}';
    const body = `{"data":[${image}],"meta":{"sort":"id,desc","pages":{"total":1,"pages":1}}}`;
    const { imgctl } = await scriptedUser({ 'GET /v2/image': { body } });
    const user = offline();
    await imgctl('images snapshot all.json', { cwd: user.directory });
    const expected = [
      'images list --from all.json -o ndjson',
      /"size":"9007199254740993"/,
    ] as const;
    await expectSteps(user.imgctl, expected);
    // As another program formats it.
    fs.writeFileSync(user.file, fs.readFileSync(user.file, 'utf8').replaceAll('\n', ' '));
    await expectSteps(user.imgctl, expected);
  });
});

it.each([
  [1_500, '1500ms'],
  [90_000, '90s'],
  [5_400_000, '90m'],
  [129_600_000, '36h'],
  [172_800_000, '2d'],
])('a hint has --max-age %i ms as it can be typed: %s', (maxAge, text) => {
  expect(snapshotOptions({ from: 'a', maxAge })).toEqual(['--from', 'a', '--max-age', text]);
});

describe('--from', () => {
  it('answers as the service does, without a request', async () => {
    const { imgctl, requests, directory: cwd } = await emulatorUser({ images: 250 });
    const io = { cwd, env: PASSWORD };
    await imgctl('images snapshot all.json', io);
    for (const line of [
      'images list ubuntu -f folder,ne,archive -s name,desc -s id --limit 7 -o csv',
      'images list --urls --limit 3',
      'images latest ubuntu --each -q',
      'images get 1002 1003 --json',
    ]) {
      const online = await imgctl(line, io);
      const sent = requests.length;
      const fromFile = await imgctl(`${line} --from all.json`, { cwd });
      expect(fromFile).toMatchObject({ stdout: online.stdout, exitCode: 0 });
      expect([online.stdout === '', requests.length]).toEqual([false, sent]);
    }
  });

  it('finds more images of one name than a call takes arguments, and lists the first', async () => {
    const { imgctl } = offline({ images: Array(130_000).fill({ id: 1, name: 'web.ova' }) });
    const { stderr, exitCode } = await imgctl('images get web.ova --from all.json');
    expect([stderr.split('\n').length, exitCode]).toEqual([24, 2]);
    expect(stderr).toContain('130000 images have the name web.ova\n  1 ');
  });

  it('shows the age of the snapshot on a terminal, but not with -q, and obeys --max-age', async () => {
    const line = 'images list --from all.json';
    const age = 'imgctl: the snapshot all.json is 3 h old\n';
    const io = { time: NOW, errorColumns: 80 };
    const old = /is 3 h old \(--max-age 2 h\)\nhint: .*imgctl images snapshot all\.json/;
    const future = /the snapshot all\.json is from the future/;
    const missing = /: b\.json does not exist\nhint: save a new one/;
    const user = offline();
    const onTerminal = (each: string | readonly string[]) => user.imgctl(each, io);
    await expectSteps(
      onTerminal,
      [`${line} --get id`, '3\n2\n1\n', age],
      [`${line} -q`, '3\n2\n1\n'],
    );
    await expectSteps(
      user.imgctl,
      [`${line} --get id`, '3\n2\n1\n'],
      [`${line} -q --max-age 3h`, '3\n2\n1\n'],
      [`${line} --max-age 2h`, '', old, 1],
      [
        'images get 9 --from all.json --max-age 36h -q',
        '',
        /image 9 is not in all\.json\nhint: list images with: imgctl images list --from all\.json --max-age 36h\n/,
        5,
      ],
      ['images list --max-age 1d', '', /--max-age needs a snapshot\nhint: add --from FILE/, 2],
      [`${line} --page 2`, '', /--from and --page cannot be used together/, 2],
      ['images list --from b.json', '', missing, 2],
      ['images list --from .', '', /it is a folder/, 2],
    );
    const { imgctl } = offline({ taken_at: '2025-01-11T00:00:00Z' });
    await expectSteps(imgctl, [`${line} --max-age 1h`, '', future, 1]);
    // Clocks differ by minutes.
    const ahead = offline({ taken_at: '2025-01-10T12:05:00Z' });
    await expectSteps(ahead.imgctl, [`${line} --max-age 1h -q`, '3\n2\n1\n']);
  });

  const FOREIGN = 'has an unknown format';
  const ELSEWHERE = 'save a snapshot to another file: imgctl images snapshot FILE';

  it.each<[string, (text: string) => string, problem?: string, hint?: string]>([
    ['formatted by others', (text) => `\ufeff${JSON.stringify(JSON.parse(text), null, 4)}`],
    [
      'newer',
      (text) => text.replace('1', '2'),
      'has the newer format 2',
      'upgrade imgctl to read it',
    ],
    ['older', (text) => text.replace('1', '0'), FOREIGN, ELSEWHERE],
    ['with images twice', (text) => text.replace('{', '{"images":[],'), 'has images twice'],
    ['without a time', (text) => text.replace('_at', ''), FOREIGN, ELSEWHERE],
    ['another file', () => 'root:x:0:0', FOREIGN, ELSEWHERE],
    ['without images', (text) => text.replace('images":', 'x":'), FOREIGN, ELSEWHERE],
    ['with a number for an image', (text) => text.replace('\n{', '\n1,\n{'), 'is damaged'],
    ['with two images in a line', (text) => text.replace(',\n', ','), 'is damaged'],
    ['broken in an image', (text) => text.replace('"id":2', '"id":2"'), 'is damaged'],
    ['empty', () => '', 'is damaged'],
    ['cut in the head', (text) => text.slice(0, 20), 'is damaged'],
    ['cut in an image', (text) => text.slice(0, -60), 'is damaged'],
    ['cut at its end', (text) => text.slice(0, -3), 'is damaged'],
  ])(
    'exits 2 for a file that is %s, or reads it',
    async (_, change, problem, hint = 'save a new one with: imgctl images snapshot all.json') => {
      const service = await scriptedUser(catalogueOf(testImages(3)));
      const { imgctl, file, directory } = offline();
      await service.imgctl('images snapshot all.json', { cwd: directory });
      const text = change(fs.readFileSync(file, 'utf8'));
      fs.writeFileSync(file, text);
      const read = { stdout: '3\n2\n1\n', stderr: '', exitCode: 0 };
      const message = `imgctl: the snapshot all.json ${problem}\nhint: ${hint}\n`;
      const expected = problem ? { stdout: '', stderr: message, exitCode: 2 } : read;
      expect(await imgctl('images list --from all.json -q')).toEqual(expected);
      expect(fs.readFileSync(file, 'utf8')).toBe(text);
    },
  );
});

it('an emulator serves images that lack fields', async () => {
  const catalogue = [
    { ...testImage(9), created_on: 'soon' },
    { id: 3, name: 'bare.ova' },
  ];
  const { imgctl } = await emulatorUser({ catalogue });
  for (const field of ['folder', 'public', 'created_on', 'label']) {
    const { stdout } = await imgctl(`images list -s ${field},desc -q`, { env: PASSWORD });
    expect(stdout.split('\n').sort()).toEqual(['', '3', '9']);
  }
  await expectSteps(imgctl, ['images list -f label,like,%linux% -q', '9\n']);
});
