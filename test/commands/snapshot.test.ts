// images snapshot, --from and --max-age: saving the catalogue, and reading it offline.

import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { catalogueOf, testImage, testImages } from '../support/catalogue-page.ts';
import { failed, runCli, temporaryDirectory } from '../support/io.ts';
import { unixOnly } from '../support/platform.ts';
import { emulatorUser, PASSWORD, scriptedUser } from '../support/users.ts';

const NOW = Date.UTC(2025, 0, 10, 12);
const TAKEN = '2025-01-10T09:00:00.000Z';

/** Runs a command line without a service and without a login. */
const offline = (directory: string, line: string) =>
  runCli(line.split(' '), { cwd: directory, time: NOW, env: { IMGCTL_CONFIG_DIR: directory } });

/** Writes a snapshot as the program does, with changes to its members. */
function snapshotFile(changes: Record<string, unknown> = {}): string {
  const directory = temporaryDirectory();
  const value = {
    version: 1,
    taken_at: TAKEN,
    base_url: 'https://images.example.com',
    username: 'demo',
    images: testImages(3),
    ...changes,
  };
  fs.writeFileSync(path.join(directory, 'catalogue.json'), JSON.stringify(value));
  return directory;
}

describe('images snapshot', () => {
  it('saves every image on its own line, and the same on standard output', async () => {
    const { imgctl, emulator } = await emulatorUser({ images: 250 });
    const directory = temporaryDirectory();
    const io = { cwd: directory, env: PASSWORD };
    expect(await imgctl('images snapshot --file all.json', io)).toEqual({
      stdout: '',
      stderr: 'imgctl: 250 images saved in all.json\n',
      exitCode: 0,
    });
    const text = fs.readFileSync(path.join(directory, 'all.json'), 'utf8');
    const { images, ...head } = JSON.parse(text);
    expect(head).toEqual({
      version: 1,
      taken_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      base_url: emulator.baseUrl,
      username: 'demo',
    });
    expect(images).toEqual(JSON.parse((await imgctl('images list --json', io)).stdout));
    const lines = text.trim().split('\n').slice(1, -1);
    expect(lines.map((line) => JSON.parse(line.replace(/,$/, '')))).toEqual(images);
    const { stdout } = await imgctl('images snapshot', io);
    expect(stdout.split('\n').slice(1)).toEqual(text.split('\n').slice(1));
  });

  it('writes nothing if a page fails, and keeps the file', async () => {
    const directory = temporaryDirectory();
    const file = path.join(directory, 'all.json');
    fs.writeFileSync(file, 'old');
    const user = await scriptedUser((request, index) =>
      request.url.searchParams.get('page') === '2'
        ? { status: 500, json: {} }
        : catalogueOf(testImages(150))(request, index),
    );
    for (const line of ['images snapshot', 'images snapshot --file all.json']) {
      expect(await user.imgctl(line, { cwd: directory })).toEqual(failed(1, '500'));
    }
    expect(fs.readFileSync(file, 'utf8')).toBe('old');
    expect(fs.readdirSync(directory)).toEqual(['all.json']);
  });

  unixOnly('modes are Unix')('keeps the mode of the file and the link to it', async () => {
    const user = await scriptedUser(catalogueOf(testImages(1)));
    const directory = temporaryDirectory();
    const file = path.join(directory, 'all.json');
    fs.writeFileSync(file, 'old');
    fs.chmodSync(file, 0o664);
    fs.symlinkSync('all.json', path.join(directory, 'link.json'));
    await user.imgctl('images snapshot --file link.json', { cwd: directory });
    expect(fs.statSync(file).mode & 0o777).toBe(0o664);
    expect(fs.lstatSync(path.join(directory, 'link.json')).isSymbolicLink()).toBe(true);
    expect(JSON.parse(fs.readFileSync(file, 'utf8')).images).toHaveLength(1);
  });

  it.each([
    ['missing/all.json', 'ENOENT\nhint: create its folder first\n'],
    ['.', 'it is not a regular file\nhint: check its folder, '],
  ])('exits 1 if it cannot write %s', async (file, reason) => {
    const user = await scriptedUser(catalogueOf(testImages(1)));
    const result = await user.imgctl(`images snapshot --file ${file}`, {
      cwd: temporaryDirectory(),
    });
    expect(result).toEqual(failed(1, `cannot write the snapshot ${file}: ${reason}`));
  });

  it('keeps numbers that JavaScript cannot hold, also when it is read', async () => {
    const big =
      '{"data":[{"id":1,"name":"a","size":9007199254740993}],"meta":{"pages":{"total":1,"pages":1}}}';
    const user = await scriptedUser(({ url }) => ({
      body: big.replace('"meta":{', `"meta":{"sort":"${url.searchParams.get('sort')}",`),
    }));
    const directory = temporaryDirectory();
    await user.imgctl('images snapshot --file a.json', { cwd: directory });
    const { stdout } = await offline(directory, 'images list --from a.json -o ndjson');
    expect(stdout).toBe('{"id":1,"name":"a","size":9007199254740993}\n');
  });
});

describe('--from', () => {
  it('answers as the service does, without a request', async () => {
    const { imgctl, requests, env } = await emulatorUser({ images: 250 });
    const io = { cwd: temporaryDirectory(), env: PASSWORD };
    await imgctl('images snapshot --file all.json', io);
    for (const line of [
      'images list --json',
      'images list ubuntu -f folder,ne,archive -s name,desc -s id --limit 7 -o csv',
      'images list --urls --limit 3',
      'images list debian -o ndjson',
      'images latest ubuntu server --get path',
      'images latest ubuntu --each -q',
      'images get 1002 1003 --json',
    ]) {
      const online = await imgctl(line, io);
      const sent = requests.length;
      const fromFile = await imgctl(`${line} --from all.json`, { cwd: io.cwd });
      expect(fromFile).toMatchObject({ stdout: online.stdout, exitCode: 0 });
      expect(online.stdout).not.toBe('');
      expect(requests).toHaveLength(sent);
    }
    expect(env).not.toHaveProperty('IMGCTL_PASSWORD');
  });

  it('shows the age of the snapshot on stderr, but not with -q', async () => {
    const directory = snapshotFile();
    const { stderr } = await offline(directory, 'images list --from catalogue.json');
    expect(stderr).toBe(`imgctl: the snapshot catalogue.json is 3 h old (${TAKEN})\n`);
    expect((await offline(directory, 'images list --from catalogue.json -q')).stderr).toBe('');
  });

  it('reads a snapshot that another program has formatted', async () => {
    const directory = snapshotFile();
    const file = path.join(directory, 'catalogue.json');
    const value = JSON.parse(fs.readFileSync(file, 'utf8'));
    fs.writeFileSync(file, `\ufeff${JSON.stringify(value, null, 4)}`);
    expect((await offline(directory, 'images list --from catalogue.json -q')).stdout).toBe(
      '1\n2\n3\n',
    );
  });

  it.each([
    ['48h', 0],
    ['3h', 0],
    ['2h', 1],
    ['100w', 0],
  ])('with --max-age %s exits %i', async (age, exitCode) => {
    const directory = snapshotFile();
    const result = await offline(directory, `images list --from catalogue.json --max-age ${age}`);
    expect(result.exitCode).toBe(exitCode);
    if (exitCode === 1) {
      expect(result).toEqual(failed(1, 'the snapshot catalogue.json is 3 h old (--max-age 2 h)'));
      expect(result.stderr).toContain('imgctl images snapshot --file catalogue.json');
    }
  });

  it('rejects a snapshot from the future with --max-age', async () => {
    const directory = snapshotFile({ taken_at: '2025-01-11T00:00:00Z' });
    const result = await offline(directory, 'images list --from catalogue.json --max-age 1h');
    expect(result).toEqual(failed(1, 'the snapshot catalogue.json is from the future'));
  });

  it.each([
    ['a newer format', { version: 2 }, 'has the newer format 2\nhint: upgrade imgctl'],
    ['an older format', { version: 0 }, 'has an unknown format\nhint: save one in another file'],
    ['another kind of file', { version: undefined, images: undefined }, 'has an unknown format'],
    ['no time', { taken_at: 'yesterday' }, 'has an unknown format'],
    ['images of another type', { images: [1] }, 'is damaged'],
  ])('exits 2 for a file with %s and leaves it untouched', async (_, changes, message) => {
    const directory = snapshotFile(changes);
    const file = path.join(directory, 'catalogue.json');
    const before = fs.readFileSync(file, 'utf8');
    const result = await offline(directory, 'images list --from catalogue.json');
    expect({ ...result, stderr: result.stderr.replace(/^imgctl: .* old .*\n/, '') }).toEqual(
      failed(2, `imgctl: the snapshot catalogue.json ${message}`),
    );
    expect(fs.readFileSync(file, 'utf8')).toBe(before);
  });

  it('exits 2 for a file that is damaged anywhere, and for one that is missing', async () => {
    const { imgctl } = await scriptedUser(catalogueOf(testImages(3)));
    const directory = temporaryDirectory();
    await imgctl('images snapshot --file a.json', { cwd: directory });
    const file = path.join(directory, 'a.json');
    const text = fs.readFileSync(file, 'utf8');
    for (const place of [0, 20, text.indexOf('\n') + 10, text.length - 60, text.length - 3]) {
      fs.writeFileSync(file, text.slice(0, place));
      const { exitCode, stdout, stderr } = await offline(directory, 'images list --from a.json -q');
      expect({ exitCode, stdout, place }).toEqual({ exitCode: 2, stdout: '', place });
      expect(stderr).toContain('imgctl: the snapshot a.json is damaged\nhint: save a new one');
    }
    fs.writeFileSync(file, 'root:x:0:0');
    expect(await offline(directory, 'images list --from a.json')).toEqual(
      failed(2, 'has an unknown format\nhint: save one in another file: imgctl'),
    );
    fs.writeFileSync(file, text.replace('"id":2', '"id":2"'));
    expect(await offline(directory, 'images list --from a.json -q')).toEqual(
      failed(2, 'is damaged'),
    );
    const missing = await offline(directory, 'images list --from b.json');
    expect(missing).toEqual(failed(2, 'the snapshot b.json does not exist\nhint: save a new one'));
    expect(await offline(directory, 'images list --from .')).toEqual(failed(2, 'EISDIR'));
  });

  it.each([
    ['images list --max-age 1d', '--max-age needs a snapshot\nhint: add --from FILE'],
    ['images list --from a.json --page 2', "cannot be used with option '--page <n>'"],
  ])('rejects %s', async (line, message) => {
    expect(await offline(temporaryDirectory(), line)).toEqual(failed(2, message));
  });

  it('names the missing image of a snapshot', async () => {
    const result = await offline(snapshotFile(), 'images get 9 --from catalogue.json -q');
    expect(result).toEqual(failed(5, 'image 9 does not exist'));
  });
});

describe('emulator --from', () => {
  it('serves a snapshot, whatever its images lack', async () => {
    const images = [
      { ...testImage(9), created_on: '2018-07-18 Wed 15:36:49 CEST' },
      { id: 3, name: 'bare.ova' },
      testImage(5),
    ];
    const { emulator, imgctl } = await emulatorUser({ catalogue: images });
    const io = { env: PASSWORD };
    const { stdout } = await imgctl('images list -o ndjson', io);
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([images[1], images[2], images[0]]);
    for (const field of ['folder', 'public', 'created_on', 'label']) {
      const sorted = await imgctl(`images list -s ${field},desc --get id`, io);
      expect(sorted.stdout.split('\n').sort()).toEqual(['', '3', '5', '9']);
    }
    expect((await imgctl('images list -f label,like,%linux% --get id', io)).stdout).toBe('5\n9\n');
    expect(emulator.port).toBeGreaterThan(0);
  });
});
