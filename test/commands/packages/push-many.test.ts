// push of several packages: the good ones arrive and are synced, the others are named; and syncs only if needed.

import {
  copyFileSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { flipByte } from '../../support/files.ts';
import { failed, fakeIo, runCli, temporaryDirectory } from '../../support/io.ts';
import { packTar } from '../../support/package-writer.ts';
import { unixOnly } from '../../support/platform.ts';
import { requestsTo } from '../../support/scripted-server.ts';
import {
  copyOvf,
  folderUser,
  type STORAGES,
  storageUser,
  uploadUser,
  writeOva,
  writeOvf,
} from '../../support/uploads.ts';
import { configDirectory } from '../../support/users.ts';

const FAST = '--poll-interval 500ms';

/** What no push sends, by what its message says. */
const BAD: readonly (readonly [finding: string, damage: (file: string) => void])[] = [
  ['truncated-member', (file) => truncateSync(file, 50_000)],
  ['digest-mismatch', (file) => flipByte(file, -5_000)],
  ['no-descriptor', (file) => writeFileSync(file, packTar([{ name: 'x', content: Buffer.of(1) }]))],
  ['too many symbolic links', (file) => [rmSync(file), symlinkSync(path.basename(file), file)]],
];

interface Trial {
  readonly count?: number;
  readonly bad?: number;
  readonly faults?: readonly string[];
}

/** A user with packages, of which the last ones are bad; push has them in the reverse order. */
async function createUser(
  kind: (typeof STORAGES)[number],
  { count = 3, bad = 0, faults = [] }: Trial = {},
) {
  const user = await (kind === 'file' ? uploadUser(kind) : storageUser(kind, faults));
  const write = (name: string) => writeOva(user.work, path.parse(name).name, 20_000);
  const names = [...'abcdefgh'.slice(0, count)].map((letter) => `${letter}.ova`);
  const files = names.map(write);
  const good = names.slice(0, names.length - bad);
  for (const [index, file] of files.slice(good.length).entries()) BAD[index]?.[1](file);
  const push = async (options: string, given = [...files].reverse()) => {
    const before = user.syncs();
    const result = await user.imgctl(`push ${given.join(' ')} ${options}`);
    return { ...result, syncs: user.syncs() - before };
  };
  return { ...user, push, write, names, files, good };
}

const lastLine = (text: string) => text.trimEnd().split('\n').at(-1) ?? '';

unixOnly('links need rights').each([
  ['file', 0],
  ['s3', 2],
  ['dav', 4],
] as const)(
  'push of four packages to %s, %i of them bad, uploads and syncs the others, and counts',
  async (kind, bad) => {
    const { push, write, good, stored, names, work } = await createUser(kind, { count: 4, bad });
    const ends = { exitCode: bad > 0 ? 1 : 0, syncs: good.length > 0 ? 1 : 0 };
    const { stdout, stderr, ...end } = await push(`${FAST} --get name`);
    const shown = stdout.split('\n').slice(0, -1).sort();
    expect({ ...end, stored: stored(), shown }).toEqual({ ...ends, stored: good, shown: good });
    if (bad === 0) return;
    const left = names.slice(good.length);
    const uploaded = good.length > 0 ? `${good.length} uploaded, ` : '';
    const count = `imgctl: ${uploaded}${bad} failed: ${[...left].reverse().join(', ')}`;
    expect(lastLine(stderr)).toBe(count);
    for (const [finding] of BAD.slice(0, bad)) expect(stderr).toContain(finding);
    for (const name of left) {
      rmSync(path.join(work, name));
      write(name);
    }
    // After the repair.
    const { stdout: rows } = await push('--no-sync -o tsv');
    const sent = rows.match(/^.*(?=\t\d+\tuploaded)/gm);
    expect([...(sent ?? [])].sort()).toEqual(left);
  },
);

describe('push of several packages', () => {
  it.each([
    ['--no-sync -q', 'a.ova\nc.ova\n', 0],
    ['--no-sync --get state', 'uploaded\nuploaded\n', 0],
    ['--dry-run --get action', 'upload\nupload\nadd\nadd\n', 0],
    ['--no-wait --get status', 'PENDING\n', 1],
  ])('with %s leaves out a damaged one, and exits 1', async (options, stdout, syncs) => {
    const { push, files, stored } = await createUser('file');
    flipByte(files[1] ?? '', -5_000);
    const { stderr, ...result } = await push(options, files);
    expect(result).toEqual({ stdout, exitCode: 1, syncs });
    const uploaded = options.startsWith('--dry-run') ? 'to upload' : 'uploaded';
    expect(lastLine(stderr)).toBe(`imgctl: 2 ${uploaded}, 1 failed: b.ova`);
    expect(stored()).toEqual(options.startsWith('--dry-run') ? [] : ['a.ova', 'c.ova']);
  });

  it('describes each failure in JSON', async () => {
    const { push, files } = await createUser('file', { bad: 1 });
    const { stderr } = await push(`${FAST} --json`, files.slice(1));
    const [warning, ...lines] = stderr.split('\n').filter((line) => line.startsWith('{'));
    const details = expect.arrayContaining([expect.stringContaining('(truncated-member)')]);
    const code = 'invalid-package';
    expect(JSON.parse(warning ?? '')).toMatchObject({ warning: { code, details } });
    const error = { code, message: '1 uploaded, 1 failed: c.ova', exitCode: 1 };
    expect(JSON.parse(lines.at(-1) ?? '')).toEqual({ error });
  });

  it.each([
    ['a path that does not exist', 'gone.ova', 5, 'file gone.ova does not exist\n'],
    ['a URL', 's3+https://h/b', 5, 'file s3+https://h/b does not exist\nhint: download it first'],
    [
      'another name',
      'x.txt',
      2,
      'the name x.txt does not end in .ova or .ovf\nhint: rename the file',
    ],
    ['a disk', 'x.vmdk', 2, 'x.vmdk does not end in .ova or .ovf\nhint: name the OVF file'],
  ])('stops before anything is sent for %s', async (_what, name, exitCode, text) => {
    const { push, files, work, stored } = await createUser('file', { bad: 1 });
    const given = name.startsWith('x.') ? path.join(work, name) : name;
    if (given !== name) writeFileSync(given, 'damaged');
    expect(await push(FAST, [...files, given])).toEqual({ ...failed(exitCode, text), syncs: 0 });
    expect(stored()).toEqual([]);
  });

  it('leaves out a folder', async () => {
    const { push, files, work, stored } = await createUser('file', { bad: 1 });
    const result = await push('--no-sync --get name', [work, files[0] ?? '']);
    const text = /is not a file\n/;
    expect(result).toMatchObject({
      exitCode: 1,
      stdout: 'a.ova\n',
      stderr: expect.stringMatching(text),
    });
    expect(stored()).toEqual(['a.ova']);
  });

  it('names all that the list of images does not have after the sync', async () => {
    const { push, files } = await createUser('file');
    const { stderr, exitCode } = await push(
      `${FAST} --to ${temporaryDirectory()}`,
      files.slice(0, 2),
    );
    expect(stderr).toMatch(
      /\nsync 1: PROCESSED\nimgctl: your list has no images named a.ova, b.ova\nhint: .*: imgctl sync-status 1; if nothing, .* reads folder \/\S+\n$/,
    );
    expect(exitCode).toBe(1);
  });

  it('compares a file that several packages share only once', async () => {
    const { imgctl, work, storage } = await storageUser('dav');
    const db = writeOvf(work, 'db');
    await imgctl(`push ${db} ${copyOvf(db, 'other')} --no-sync --dry-run`);
    const disk = requestsTo(storage).filter((request) => request.endsWith('/db-disk1.vmdk'));
    expect(disk).toEqual(['PROPFIND /upload/db-disk1.vmdk']);
  });

  it('leaves one in conflict with a stored file, and counts what is unchanged', async () => {
    const { push, files, folder } = await createUser('file');
    await push(FAST, files.slice(0, 1));
    writeFileSync(path.join(folder, 'b.ova'), 'other');
    const { stderr, exitCode, syncs } = await push(FAST, files);
    expect(stderr).toMatch(/imgctl: error: folder .* already has a different b\.ova\nhint: /);
    expect(lastLine(stderr)).toBe('imgctl: 1 uploaded, 1 unchanged, 1 failed: b.ova');
    expect({ exitCode, syncs }).toEqual({ exitCode: 1, syncs: 1 });
  });

  it.each(['--on-conflict fail', '--on-conflict replace'])(
    'with %s sends a disk that a failed package shares with the next good one',
    async (options) => {
      const { push, work, folder, stored } = await createUser('file');
      const good = writeOvf(work, 'db');
      const bad = copyOvf(good, 'bad', (manifest) => manifest.replace(/.{9}$/m, '012345678'));
      const third = copyOvf(good, 'third');
      if (options.endsWith('replace')) writeFileSync(path.join(folder, 'db-disk1.vmdk'), 'old');
      const { stderr, exitCode } = await push(`${FAST} ${options}`, [bad, good, third]);
      expect(lastLine(stderr)).toBe('imgctl: 2 uploaded, 1 failed: bad.ovf');
      expect(exitCode).toBe(1);
      expect(stderr.match(/db-disk1\.vmdk: uploaded/g)).toHaveLength(1);
      expect(stored()).toEqual(['db-data.iso', 'db-disk1.vmdk', 'db.mf', 'db.ovf', 'third.ovf']);
      const disk = (name: string) => readFileSync(path.join(name, 'db-disk1.vmdk'));
      expect(disk(folder).equals(disk(path.join(work, 'db')))).toBe(true);
    },
  );

  it.each([
    ['failed before it', ['bad', 'db'], 'damage'],
    ['failed after it', ['db', 'bad'], 'damage'],
    ['was left out of a full storage', ['db', 'large', 'bad'], 'full'],
    ['was not tried after an error of the storage', ['db', 'large', 'bad'], 'refuse'],
    ['changed after its check', ['db', 'bad'], 'change'],
  ])('syncs none if one replaced a disk of another that %s', async (_what, order, flaw) => {
    let change = () => {};
    // db.ovf has four files.
    const status = { full: 507, refuse: 403 }[flaw];
    const faults = status ? [`PUT /upload/*=${status},every=5`] : [];
    const user = await storageUser('dav', faults, () => change());
    mkdirSync(user.folder, { recursive: true });
    const db = writeOvf(user.work, 'db');
    const damage = (manifest: string) => manifest.replace(/.{9}$/m, '012345678');
    const bad = copyOvf(db, 'bad', flaw === 'damage' ? damage : undefined);
    if (flaw === 'change') change = () => writeFileSync(bad, 'changed');
    const files: Record<string, string> = { db, bad, large: writeOva(user.work, 'large') };
    for (const name of ['db-disk1.vmdk', 'bad.ovf'])
      writeFileSync(path.join(user.folder, name), 'old');
    const given = `${order.map((name) => files[name]).join(' ')} --on-conflict replace`;
    const planned = flaw === 'damage' && (await user.imgctl(`push ${given} --dry-run`));
    if (planned) {
      const why = 'imgctl: error: no sync would be submitted: bad.ovf would be broken\n';
      expect(planned.stderr).toContain(why);
      const { stderr } = await user.imgctl(`push ${given} --dry-run --no-sync`);
      expect(stderr).not.toContain('would be broken');
    }
    const { stderr, exitCode } = await user.imgctl(`push ${given} ${FAST}`);
    expect(stderr).toContain('error: bad.ovf failed after these files became visible: db-');
    const expected = { exitCode: flaw === 'refuse' ? 4 : 1, syncs: 0 };
    expect({ exitCode, syncs: user.syncs() }).toEqual(expected);
  });
});

describe('push to a storage that fails', () => {
  it('because it is full syncs what is complete', async () => {
    const faults = ['PUT /upload/*=507,every=4'];
    const { push, stored, files } = await createUser('dav', { count: 7, faults });
    await push('--no-sync', files.slice(6));
    const result = await push(`${FAST} --get name`, files);
    expect(stored().filter((name) => !name.startsWith('.'))).toHaveLength(3);
    const stdout = expect.stringMatching(/^(\w\.ova\n){3}$/);
    expect(result).toMatchObject({ exitCode: 1, syncs: 1, stdout });
    expect(result.stderr).toMatch(/imgctl: error: .* is full \(/);
    expect(lastLine(result.stderr)).toBe(
      'imgctl: 2 uploaded, 1 unchanged, 3 not tried, 1 failed: c.ova',
    );
  });

  it('because one file is too large syncs the others', async () => {
    const { push, files } = await createUser('dav', { faults: ['PUT /upload/*=413,every=2'] });
    const stdout = 'a.ova\nc.ova\n';
    expect(await push(`${FAST} --get name`, files)).toMatchObject({
      exitCode: 1,
      syncs: 1,
      stdout,
    });
  });

  it.each([
    ['', 'imgctl: error: uploaded, but not synced: a.ova\n', ', then syncs'],
    [' --no-sync', '', ''],
  ])('that is interrupted says what the same command does%s', async (options, unsynced, then) => {
    const { push, files, env, syncs } = await createUser('dav');
    const io = fakeIo({ env, time: Date.now() });
    const write = io.stderr.write.bind(io.stderr);
    io.stderr.write = async (text) => {
      await write(text);
      if (`${text}`.startsWith('imgctl: a.ova: uploaded')) io.interrupt();
    };
    const hint = `hint: run the same command again: it sends what is missing${then}\n`;
    const { stderr, ...end } = await runCli(`push ${files.join(' ')}${options}`.split(' '), io);
    expect(end).toEqual({ stdout: '', exitCode: 130 });
    expect(stderr.replace(/^.*uploaded, \d.*\n|^.*uploading\n/gm, '')).toBe(
      `${unsynced}imgctl: interrupted\n${hint}`,
    );
    expect(syncs()).toBe(0);
    expect((await push(FAST, files)).stderr).toContain('a.ova: already there');
  });

  it('otherwise ends all, and says what is not synced', async () => {
    const faults = ['PUT /upload/*=403,every=3'];
    const { push, files, work } = await createUser('dav', { faults });
    const result = await push(FAST, files);
    expect(result).toEqual({
      ...failed(
        4,
        /\nimgctl: error: uploaded, but not synced: a\.ova, b\.ova\nimgctl: .*\nhint: check /,
      ),
      syncs: 0,
    });
    writeOva(work, 'c', 30_000);
    const options = '--no-sync --on-conflict replace';
    expect((await push(options, files)).stderr).not.toContain('not synced');
  });

  it.each([
    ['the last look', 'PROPFIND /upload/b.ova=403,every=3'],
    ['the submit', 'PATCH /v2/user/image/vm=403'],
  ])('or to a service, at %s says what is not synced', async (what, fault) => {
    const user = await (what === 'the submit'
      ? folderUser({ faults: [fault] })
      : storageUser('dav', [fault]));
    const files = ['a', 'b', 'c'].map((name) => writeOva(user.work, name));
    flipByte(files[2] ?? '', -5_000);
    const lines = ['uploaded, but not synced: a.ova, b.ova', '2 uploaded, 1 failed: c.ova'];
    const text = `\n${lines.map((line) => `imgctl: error: ${line}\n`).join('')}imgctl: `;
    expect(await user.imgctl(`push ${files.join(' ')} ${FAST}`)).toEqual(failed(4, text));
  });

  it.each([
    [507, 1],
    [403, 4],
  ])(
    'with %i after a file was replaced names its files, and submits no sync',
    async (status, exitCode) => {
      // b.ova, and of db.ovf the first file.
      const { push, work, files, stored } = await createUser('dav', {
        faults: [`MOVE /upload/*=${status},every=8`],
      });
      const db = writeOvf(work, 'db', 1_000);
      await push('--no-sync', [db]);
      writeOvf(work, 'db', 2_000);
      const result = await push(`${FAST} --on-conflict replace`, [files[0] ?? '', db]);
      expect(result).toMatchObject({ exitCode, syncs: 0, stdout: '' });
      expect(result.stderr).toContain(
        'error: db.ovf failed after these files became visible: db-data.iso, db.mf\n',
      );
      expect(result.stderr).toContain('error: uploaded, but not synced: a.ova\n');
      expect(stored()).toContain('a.ova');
    },
  );
});

describe('push --sync-if-sent', () => {
  const NIGHT = `--sync-if-sent ${FAST} --get name`;
  const NOTHING = 'imgctl: nothing was uploaded, no sync was submitted\n';

  it('submits no sync on the nights in which nothing is sent', async () => {
    const { push, files, write } = await createUser('s3');
    const night = (options = '') => push(`${NIGHT} ${options}`.trim(), files.slice(0, 2));
    const names = 'a.ova\nb.ova\n';
    expect(await night()).toMatchObject({ syncs: 1, stdout: names, exitCode: 0 });
    for (const _night of [2, 3]) {
      const { stderr, ...result } = await night();
      expect(result).toEqual({ syncs: 0, stdout: names, exitCode: 0 });
      expect(lastLine(stderr)).toBe(NOTHING.trim());
    }
    expect((await push(`--sync-if-sent --no-wait --json`, files.slice(0, 2))).stdout).toBe('');
    rmSync(files[0] ?? '');
    writeOva(path.dirname(write('z')), 'a', 30_000);
    expect(await night('--on-conflict skip')).toMatchObject({ syncs: 0, stdout: 'b.ova\n' });
    const plan = '--sync-if-sent --dry-run --on-conflict replace --get step';
    const planned = await push(plan, files.slice(0, 2));
    expect(planned.stdout).toContain('sync\n');
    expect(await night('--on-conflict replace')).toMatchObject({ syncs: 1, exitCode: 0 });
    expect(await night()).toMatchObject({ syncs: 0, exitCode: 0 });
  });

  it.each<[string, string[], string]>([
    ['a push --no-wait that sends nothing', [], '--no-wait'],
    ['a sync whose response was lost', ['PATCH /v2/user/image/vm=drop,first=1'], ''],
    ['a sync that could not be followed', ['GET /v2/request/*=403,first=1'], ''],
  ])('submits a sync after %s', async (_what, faults, options) => {
    const user = await folderUser({ faults });
    const file = writeOva(user.work, 'web');
    if (options === '--no-wait') await user.imgctl(`push ${file} ${FAST}`);
    await user.imgctl(`push ${file} ${options || FAST}`);
    const syncs = user.syncs();
    const night = () => user.imgctl(`push ${file} ${NIGHT}`);
    await night();
    expect(user.syncs()).toBe(syncs + 1);
    expect((await night()).stderr).toContain(NOTHING);
    expect(user.syncs()).toBe(syncs + 1);
  });

  it('submits a sync in each night after one with errors', async () => {
    const { push, folder, files } = await createUser('file');
    writeFileSync(path.join(folder, 'bad.ova'), 'junk');
    for (const _night of [1, 2]) expect((await push(NIGHT, files)).syncs).toBe(1);
    rmSync(path.join(folder, 'bad.ova'));
    for (const syncs of [1, 0]) expect((await push(NIGHT, files)).syncs).toBe(syncs);
  });

  it('submits a sync in each night without a place for what it remembers, and says so', async () => {
    const { push, imgctl, files, folder, syncs } = await createUser('file');
    const line = `push ${files[0]} ${NIGHT} --to ${folder}`;
    for (const night of [1, 2]) {
      const { stderr } = await imgctl(line, { IMGCTL_CONFIG_DIR: undefined });
      expect(stderr).toContain('warning: cannot remember this sync: no home directory\n');
      expect(syncs()).toBe(night);
    }
    const usual = line.replace(NIGHT, FAST);
    const { stderr } = await imgctl(usual, { IMGCTL_CONFIG_DIR: undefined });
    expect(stderr).not.toContain('remember');
    for (const options of ['--no-sync --sync-if-sent', '--no-sync --strict', '--no-wait --strict'])
      expect(await push(options)).toMatchObject({ exitCode: 2, syncs: 0 });
  });

  it('submits a sync after one that left an image as it was', async () => {
    const { push, files, imgctl, syncs } = await createUser('file');
    await push(FAST, files);
    const other = temporaryDirectory();
    const night = () => imgctl(`push ${files[0]} ${NIGHT} --to ${other}`);
    // The service does not read this folder, so that its image stays as it is.
    expect((await night()).stderr).toContain('unchanged after the upload');
    expect(syncs()).toBe(2);
    await night();
    expect(syncs()).toBe(3);
    expect((await night()).stderr).toContain(NOTHING);
  });

  it('knows a folder by any path', async () => {
    const { push, files, folder, imgctl } = await createUser('file');
    await push(FAST, files);
    const link = path.join(temporaryDirectory(), 'link');
    symlinkSync(folder, link);
    const { stderr } = await imgctl(`push ${files[0]} ${NIGHT} --to ${link}`);
    expect(stderr).toContain(NOTHING);
  });

  type User = Awaited<ReturnType<typeof storageUser>>;
  const elsewhere = (url = '') => url.replace('127.0.0.1', 'localhost');

  it.each<[string, (user: User) => Record<string, string>]>([
    ['another key of the storage', () => ({ IMGCTL_UPLOAD_ACCESS_KEY: 'other' })],
    [
      'another address of the storage',
      ({ settings }) => ({ IMGCTL_UPLOAD_URL: elsewhere(settings['upload-url']) }),
    ],
    [
      'another address of the service',
      ({ service }) => ({ IMGCTL_BASE_URL: elsewhere(service.baseUrl) }),
    ],
    ['another home', ({ settings }) => ({ IMGCTL_CONFIG_DIR: configDirectory(settings) })],
  ])('submits a sync with %s, and without it after that one has sent', async (what, envOf) => {
    const user = await storageUser('s3');
    const [file, second] = ['web', 'db'].map((name) => writeOva(user.work, name));
    const other = envOf(user);
    const night = async (env = {}) => {
      const before = user.syncs();
      const { exitCode } = await user.imgctl(`push ${file} ${NIGHT}`, env);
      return [exitCode, user.syncs() - before];
    };
    await user.imgctl(`push ${file} ${FAST}`);
    expect(await night()).toEqual([0, 0]);
    expect(await night(other)).toEqual([0, 1]);
    expect(await night(other)).toEqual([0, 0]);
    await user.imgctl(`push ${second} --no-sync`, other);
    // Another home is another machine.
    expect(await night()).toEqual([0, what === 'another home' ? 0 : 1]);
  });

  it('submits a sync if the list has no image of a package', async () => {
    const { push, files, folder, imgctl } = await createUser('file');
    await push(FAST, files);
    rmSync(path.join(folder, 'a.ova'));
    await imgctl(`sync --wait ${FAST}`);
    copyFileSync(files[0] ?? '', path.join(folder, 'a.ova'));
    expect(await push(NIGHT, files)).toMatchObject({ syncs: 1, exitCode: 0 });
  });

  it('submits a sync if a file was sent to another address during the last one', async () => {
    const user = await storageUser('s3');
    const [web = '', db = ''] = ['web', 'db'].map((name) => writeOva(user.work, name));
    await user.imgctl(`push ${web} ${db} ${FAST}`);
    for (const name of ['web', 'db']) writeOva(user.work, name, 30_000);
    const io = fakeIo({ env: user.env, time: Date.now() });
    const write = io.stderr.write.bind(io.stderr);
    const other = { IMGCTL_UPLOAD_URL: elsewhere(user.settings['upload-url']) };
    io.stderr.write = async (text) => {
      if (`${text}`.startsWith('sync 2: '))
        await user.imgctl(`push ${db} --on-conflict replace --no-sync`, other);
      await write(text);
    };
    await runCli(`push ${web} --on-conflict replace ${FAST}`.split(' '), io);
    const { stderr, exitCode } = await user.imgctl(`push ${db} ${NIGHT}`);
    expect(stderr).toContain('db.ova: already there');
    expect({ exitCode, syncs: user.syncs() }).toEqual({ exitCode: 0, syncs: 3 });
  });

  it('fails before anything becomes visible or is synced if it cannot forget the last sync', async () => {
    const { push, files, folder, env, stored } = await createUser('file');
    mkdirSync(path.join(env.IMGCTL_CONFIG_DIR ?? '', 'synced.json'));
    const text =
      /imgctl: cannot remove .*json: ERR_FS_EISDIR\nhint: remove it: a later push --sync-if-sent would skip the sync\n/;
    const [file = ''] = files;
    expect(await push('--no-sync', [file])).toMatchObject(failed(1, text));
    expect(stored()).toEqual([]);
    copyFileSync(file, path.join(folder, 'a.ova'));
    expect(await push(FAST, [file])).toMatchObject({ ...failed(1, text), syncs: 0 });
  });
});
