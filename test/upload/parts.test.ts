// The parts of uploads, and several pushes to one name: who wins, what is removed, which names have room.

import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import fs, { open } from 'node:fs/promises';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ImgctlError } from '../../src/errors.ts';
import { advice } from '../../src/facts.ts';
import { systemOf } from '../../src/io.ts';
import { folderStorage } from '../../src/upload/folder.ts';
import { isPart, partName, removeAll } from '../../src/upload/part-names.ts';
import { rateLimit } from '../../src/upload/rate.ts';
import { streamBody } from '../../src/upload/requests.ts';
import type { Storage } from '../../src/upload/storage.ts';
import { tryUpload } from '../../src/upload/trial.ts';
import { openUnchanged, openUploadFile, type UploadSource } from '../../src/upload/upload-file.ts';
import { failure, hintOf } from '../support/errors.ts';
import { openFilesBelow } from '../support/files.ts';
import { failed, fakeIo, runCli, temporaryDirectory } from '../support/io.ts';
import { unixOnly } from '../support/platform.ts';
import { STORAGES, storageUser, uploadUser, writeOva } from '../support/uploads.ts';
import { configDirectory } from '../support/users.ts';

const SIZE = 700_000;
const OPTIONS = '--no-sync --retries 1 --part-size 5M';

describe.each(STORAGES)('homes that push one name to %s at once', (kind) => {
  /** Pushes each file from a home of its own. */
  const pushAtOnce = (
    { settings, env }: Awaited<ReturnType<typeof uploadUser>>,
    files: string[],
  ) => {
    const runs = files.map((file) => {
      const own = { ...env, IMGCTL_CONFIG_DIR: configDirectory(settings) };
      return runCli(`push ${file} ${OPTIONS}`.split(' '), { env: own });
    });
    return Promise.all(runs);
  };

  it('with different content: one wins whole, the other is told', async () => {
    const user = await uploadUser(kind);
    const files = ['a', 'b'].map((seed) => {
      const own = path.join(user.work, seed);
      mkdirSync(own);
      return writeOva(own, 'web', 6 * SIZE, seed);
    });
    const results = await pushAtOnce(user, files);
    const winner = results.findIndex(({ exitCode }) => exitCode === 0);
    expect(results.map(({ exitCode }) => exitCode).sort()).toEqual([0, 1]);
    expect(results[1 - winner]?.stderr).toMatch(
      /already has a different web\.ova|another push removed the upload of web\.ova|it was not removed/,
    );
    expect(user.stored()).toEqual(['web.ova']);
    const stored = readFileSync(path.join(user.folder, 'web.ova'));
    expect(stored.equals(readFileSync(files[winner] ?? ''))).toBe(true);
  });

  it('with the same content: both succeed', async () => {
    const user = await uploadUser(kind);
    const file = writeOva(user.work, 'web', SIZE);
    const results = await pushAtOnce(user, [file, file, file]);
    expect(results.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0]);
    expect(user.stored()).toEqual(['web.ova']);
  });
});

/** A user whose first push to WebDAV loses its connection, after which the parts it left may be changed. */
async function interruptedUser(faults = ['PUT /upload/*=drop:300000,first=1']) {
  const user = await storageUser('dav', faults);
  const { imgctl, env, work, folder } = user;
  const file = writeOva(work, 'web', SIZE);
  await imgctl(`push ${file} ${OPTIONS} --retries 0`);
  /** The file of the names of parts, for servers that list no hidden files. */
  const partsFile = () => {
    const [name = 'none'] = readdirSync(env.IMGCTL_CONFIG_DIR).filter((each) =>
      each.endsWith('.parts'),
    );
    return path.join(env.IMGCTL_CONFIG_DIR, name);
  };
  const changeParts = (change: (part: string) => void) => {
    for (const name of user.stored()) change(path.join(folder, name));
  };
  const pushAgain = async () => expect((await imgctl(`push ${file} ${OPTIONS}`)).exitCode).toBe(0);
  return { ...user, file, partsFile, changeParts, pushAgain };
}

it('a WebDAV upload that was interrupted starts again under another name, with or without a slash in the URL', async () => {
  const user = await interruptedUser();
  const { imgctl, file, folder, storage, settings, partsFile, changeParts, pushAgain } = user;
  expect(readFileSync(partsFile(), 'utf8')).toMatch(/^\.imgctl-\S+\.partial\n$/);
  changeParts((part) => writeFileSync(part, readFileSync(part).fill('x', 0, 1000)));
  await imgctl(`config set upload-url ${settings['upload-url']}/`);
  await pushAgain();
  expect(path.basename(partsFile())).toBe('none');
  expect(readFileSync(path.join(folder, 'web.ova')).equals(readFileSync(file))).toBe(true);
  expect(storage.requests.filter(({ headers }) => 'content-range' in headers)).toEqual([]);
});

it('push to WebDAV removes only the part that it wrote while this machine had another name, if no list shows it', async () => {
  const { folder, stored, partsFile, changeParts, pushAgain } = await interruptedUser();
  const part = partName('web.ova', { ...systemOf(process), hostname: () => 'before' });
  changeParts(rmSync);
  for (const name of [part, '.foreign']) writeFileSync(path.join(folder, name), 'part');
  writeFileSync(partsFile(), `${part}\n.foreign\n`);
  await pushAgain();
  expect(stored().sort()).toEqual(['.foreign', 'web.ova']);
});

it('push to WebDAV still knows a part that it could not remove, but no others', async () => {
  const faults = ['PUT /upload/*=drop:300000,first=1', 'DELETE /upload/*=403,first=2'];
  const { partsFile, pushAgain, stored } = await interruptedUser(faults);
  const [part] = stored();
  await pushAgain();
  expect(readFileSync(partsFile(), 'utf8')).toBe(`${part}\n`);
});

it('push to WebDAV removes at its end the part that it could not discard', async () => {
  let folder = '';
  const faults = ['DELETE /upload/*=403,first=1'];
  const user = await storageUser('dav', faults, ({ method }) => {
    if (method === 'PUT') writeFileSync(path.join(folder, 'web.ova'), 'other');
  });
  folder = user.folder;
  const result = await user.imgctl(`push ${writeOva(user.work, 'web')} ${OPTIONS}`);
  expect(result).toEqual(failed(1, 'already has a different web.ova'));
  expect(user.stored()).toEqual(['web.ova']);
});

unixOnly('pipes need Unix').each([
  ['follows no link', (file: string, other: string) => symlinkSync(other, file)],
  ['waits for no pipe', (file: string) => execFileSync('mkfifo', [file])],
])('push to WebDAV %s in place of its file of parts', async (_what, create) => {
  const { work, pushAgain, ...user } = await interruptedUser();
  const other = path.join(work, 'other');
  const partsFile = user.partsFile();
  renameSync(partsFile, other);
  const part = readFileSync(other, 'utf8');
  create(partsFile, other);
  await pushAgain();
  expect(readFileSync(other, 'utf8')).toBe(part);
});

describe.each(['file', 'dav'] as const)('push to %s', (kind) => {
  it('removes parts of dead processes of its host after 10 minutes, of other hosts after a day', async () => {
    const { imgctl, env, work, folder, stored } = await uploadUser(kind);
    const system = systemOf(process);
    const dead = { ...system, pid: 999_999_999 };
    const elsewhere = { ...dead, hostname: () => 'another-host.example.com' };
    const names = {
      dead: partName('web.ova', dead),
      fresh: partName('web.ova', dead),
      alive: partName('web.ova', { ...system, pid: process.ppid }),
      elsewhere: partName('db.ova', elsewhere),
      old: partName('db.ova', elsewhere),
      foreign: '.hidden',
    };
    mkdirSync(folder, { recursive: true });
    for (const name of Object.values(names)) writeFileSync(path.join(folder, name), 'part');
    const hours = { dead: 11 / 60, fresh: 9 / 60, alive: 23, elsewhere: 23, old: 25, foreign: 25 };
    for (const [key, name] of Object.entries(names)) {
      const time = new Date(Date.now() - hours[key as keyof typeof hours] * 3_600_000);
      utimesSync(path.join(folder, name), time, time);
    }
    const file = writeOva(work, 'web');
    await imgctl(`push ${file} --dry-run ${OPTIONS}`);
    expect(stored()).toHaveLength(6);
    // Of a WebDAV storage only its own clock counts.
    const time = Date.now() + (kind === 'dav' ? 24 * 3_600_000 : 0);
    const push = `push ${file} ${OPTIONS}`.split(' ');
    expect((await runCli(push, { env, time })).exitCode).toBe(0);
    const { dead: _dead, old: _old, ...left } = names;
    expect(stored()).toEqual([...Object.values(left), 'web.ova'].sort());
  });

  it('takes a name of 255 bytes', async () => {
    const { imgctl, work, stored } = await uploadUser(kind);
    const file = path.join(work, `${'ä'.repeat(125)}x.ova`);
    writeFileSync(file, readFileSync(writeOva(work, 'web')));
    const { exitCode } = await imgctl(`push ${file} ${OPTIONS}`);
    expect({ exitCode, stored: stored() }).toEqual({ exitCode: 0, stored: [path.basename(file)] });
    expect(openFilesBelow(work)).toEqual([]);
  });
});

describe('an upload to a folder', () => {
  const setUp = async () => {
    const clock = fakeIo();
    const folder = temporaryDirectory();
    const source = writeOva(temporaryDirectory(), 'web');
    const local = { name: 'web.ova', path: source, regions: [], checkedFingerprint: undefined };
    const file = await openUploadFile(local, clock);
    onTestFinished(() => file.close());
    onTestFinished(() => expect(openFilesBelow(folder)).toEqual([]));
    const storage = folderStorage(folder, clock, rateLimit(0, clock));
    const sent: number[] = [];
    const put = (own = file) => storage.put('web.ova', own, (bytes) => sent.push(bytes));
    /** Replaces what flushes files and folders. */
    const onSync = async (sync: () => Promise<void>) => {
      const handle = await open(source);
      const spy = vi.spyOn(Object.getPrototypeOf(handle), 'sync').mockImplementation(sync);
      onTestFinished(() => spy.mockRestore());
      await handle.close();
    };
    return { folder, source, file, storage, put, sent, onSync, interrupt: clock.interrupt };
  };

  it.each<[string, (part: string) => void, string]>([
    ['removed', (part) => rmSync(part), 'its part is gone'],
    ['changed', (part) => writeFileSync(part, 'x'), 'its digest is wrong'],
  ])('whose part is %s meanwhile fails', async (_what, change, why) => {
    const { folder, file, put } = await setUp();
    const changed = {
      ...file,
      async *readAll() {
        yield* file.readAll();
        for (const name of readdirSync(folder)) change(path.join(folder, name));
      },
    };
    const { message } = await failure(put(changed));
    expect(message).toBe(`the upload of web.ova failed: ${why}`);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('whose part is replaced by a folder meanwhile fails for that reason', async () => {
    const { folder, file, put } = await setUp();
    const changed = {
      ...file,
      async *readAll() {
        yield* file.readAll();
        for (const name of readdirSync(folder)) {
          rmSync(path.join(folder, name));
          mkdirSync(path.join(folder, name));
        }
      },
    };
    const { message } = await failure(put(changed));
    expect(message).toBe(`cannot upload to ${folder}: it is a folder`);
  });

  it('whose name is that of a folder by now fails', async () => {
    const { folder, put } = await setUp();
    const part = await put();
    mkdirSync(path.join(folder, 'web.ova'));
    const message = `cannot upload to ${folder}: it is a folder`;
    expect(await failure(part.publish(true))).toMatchObject({ code: 'failed', message });
  });

  it('is visible although its folder cannot be flushed', async () => {
    const { put, onSync } = await setUp();
    const part = await put();
    await onSync(() => Promise.reject(new Error('refused')));
    expect(await part.publish(false)).toMatchObject({ kind: 'visible' });
  });

  it('leaves a link to nothing that has the name of a part', async () => {
    const { folder, storage } = await setUp();
    const part = partName('db.ova', systemOf(process));
    symlinkSync('nothing', path.join(folder, part));
    await storage.removeDeadParts();
    expect(readdirSync(folder)).toEqual([part]);
  });

  it('finds a link to nothing that has its name', async () => {
    const { folder, storage } = await setUp();
    symlinkSync('nothing', path.join(folder, 'web.ova'));
    expect(await storage.look('web.ova')).toMatchObject({ size: 'nothing'.length });
    expect(await storage.look('db.ova')).toBeUndefined();
  });

  unixOnly('folders are flushed on Unix').each([
    ['the same bytes', (bytes: Buffer) => bytes, true],
    ['other bytes', (bytes: Buffer) => bytes.reverse(), false],
  ])('that gets %s just after it has its name is its own: %s', async (_what, change, isOwn) => {
    const { folder, put, onSync } = await setUp();
    const part = await put();
    await onSync(async () => {
      const target = path.join(folder, 'web.ova');
      writeFileSync(target, change(readFileSync(target)));
    });
    const message = 'the upload of web.ova failed: another file replaced it';
    const outcome = await part.publish(false).catch((error: unknown) => error);
    expect(outcome).toMatchObject(isOwn ? { kind: 'visible' } : { message });
  });

  const SPACE = 'free space or raise the quota, then run the command again';
  const LARGER = 'ask the administrators of the storage to raise its limit';
  const PERMISSIONS = 'check the permissions: ls -ld FOLDERS';
  const MOUNTED = 'check its path, and that it is mounted';
  it.each([
    ['ENOSPC', 'storage-full', /^folder \S+ is full \(no space left on device\)$/, SPACE],
    ['EDQUOT', 'storage-full', /^folder \S+ is full \(/, SPACE],
    ['EFBIG', 'failed', /^folder \S+ does not accept files of this size \(/, LARGER],
    ['EACCES', 'not-permitted', /^cannot upload to \S+: permission denied$/, PERMISSIONS],
    ['EPERM', 'not-permitted', /^cannot upload to \S+: /, PERMISSIONS],
    ['EROFS', 'not-permitted', /^cannot upload to \S+: /, undefined],
    ['ENOENT', 'not-found', /^folder \S+ does not exist$/, MOUNTED],
    ['EIO', 'failed', /^cannot upload to \S+: /, undefined],
  ])('leaves nothing after %s, which is %s', async (code, expected, message, hint) => {
    const { folder, put, onSync } = await setUp();
    const refusal = Object.assign(new Error('refused'), { code, syscall: 'fsync' });
    await onSync(() => Promise.reject(refusal));
    const error = await failure(put());
    const thrown = { code: expected, message: expect.stringMatching(message), cause: refusal };
    expect(error).toMatchObject(thrown);
    expect(hintOf(error)).toBe(hint?.replace('FOLDERS', `${path.dirname(folder)} ${folder}`));
    expect(readdirSync(folder)).toEqual([]);
  });

  it('that is interrupted before its part is read back leaves nothing', async () => {
    const { folder, put, onSync, interrupt } = await setUp();
    await onSync(async () => interrupt());
    expect(await failure(put())).toMatchObject({ code: 'interrupted' });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('has no room for a long name, and a file that is gone cannot be compared', async () => {
    const { file, storage, folder } = await setUp();
    const name = 'x'.repeat(256);
    const message = `the name ${name} is too long for folder ${folder}`;
    expect(await failure(storage.look(name))).toMatchObject({ code: 'usage', message });
    const stored = { fingerprint: '', isSettled: true, size: file.size, tag: '' };
    const compared = storage.compareContent('gone.ova', file, stored);
    expect(await failure(compared)).toMatchObject({ code: 'not-found' });
  });

  it.each([
    ['is refused', 'put', 403, false],
    ['is lost', 'put', undefined, true],
    ['cannot get its name', 'publish', 403, true],
  ])('that doctor tries, %s and cannot be removed may be left: %s %s: %s', async (...row) => {
    const [, step, status, isLeft] = row;
    const { storage } = await setUp();
    const error = new ImgctlError('failed', 'no', { status });
    const refuse = () => Promise.reject(error);
    const put: Storage['put'] = async (...given) => {
      if (step === 'put') throw error;
      return { ...(await storage.put(...given)), publish: refuse };
    };
    const left: string[] = [];
    const tried = tryUpload({ ...storage, put, remove: refuse }, (name) => left.push(name));
    await expect(tried).rejects.toBe(error);
    expect(left).toEqual(isLeft ? [expect.stringMatching(/^imgctl-test-\w{16}\.txt$/)] : []);
  });

  it('that doctor tries leaves no part if it cannot get its name', async () => {
    const { folder, storage } = await setUp();
    const changing: Storage = {
      ...storage,
      async put(...given) {
        const part = await storage.put(...given);
        for (const name of readdirSync(folder)) writeFileSync(path.join(folder, name), 'changed');
        return part;
      },
    };
    const { message } = await failure(tryUpload(changing, () => {}));
    expect(message).toMatch(
      /^the upload of \S+ failed: its temporary file is gone or was changed$/,
    );
    expect(readdirSync(folder)).toEqual([]);
  });

  it.each<[string, Partial<Storage>, string, string?]>([
    [
      'returns another file',
      { compareContent: async () => ({ state: 'different' }) },
      'returned a file that differs from the uploaded one',
    ],
    [
      'says why',
      { compareContent: async () => ({ state: 'different', note: 'it is cut' }) },
      'returned a file that differs from the uploaded one',
      'it is cut; ',
    ],
    ['does not remove it', { remove: async () => {} }, 'did not remove the file'],
  ])('that doctor tries fails if the storage %s', async (_what, changes, text, why = '') => {
    const { storage } = await setUp();
    const contents: string[] = [];
    const put: Storage['put'] = async (name, file, onBytes) => {
      contents.push(name, `${await buffer(file.read())}`);
      return storage.put(name, file, onBytes);
    };
    const error = await failure(tryUpload({ ...storage, put, ...changes }, () => {}));
    const [name, content] = contents;
    expect(content).toBe('imgctl stored this file as a test, and removes it.\n');
    expect([error.message, hintOf(error)]).toEqual([
      `${storage.address} ${text}`,
      `${why}ask the administrators of the storage, and remove ${name} from it`,
    ]);
  });

  it.each<[string, (storage: Storage, file: UploadSource) => Promise<unknown>]>([
    ['checks it', (storage) => storage.check()],
    ['lists it', (storage) => storage.list()],
    ['uploads', (storage, file) => storage.put('web.ova', file, () => {})],
    ['removes a file', (storage) => storage.remove('web.ova')],
    ['removes parts', (storage) => storage.removeDeadParts()],
  ])('that is below a file does not exist, whoever %s', async (_what, use) => {
    const { source, file } = await setUp();
    const root = path.join(source, 'below');
    const clock = fakeIo();
    const error = await failure(use(folderStorage(root, clock, rateLimit(0, clock)), file));
    const message = `folder ${root} does not exist`;
    expect(error).toMatchObject({ code: 'not-found', message, cause: { code: 'ENOTDIR' } });
    expect(hintOf(error)).toBe('check its path, and that it is mounted');
  });

  it('hides no defect behind an error of the folder', async () => {
    const { file, put } = await setUp();
    const defect = new TypeError('x is not a function');
    const readAll = () => {
      throw defect;
    };
    await expect(put({ ...file, readAll })).rejects.toBe(defect);
  });

  it('whose part is changed in place is not published', async () => {
    const { folder, file, put, sent } = await setUp();
    const part = await put();
    expect(sent).toEqual([0, file.size]);
    const [name = ''] = readdirSync(folder);
    const bytes = readFileSync(path.join(folder, name)).reverse();
    writeFileSync(path.join(folder, name), bytes);
    const message = 'the upload of web.ova failed: its temporary file is gone or was changed';
    expect(await part.publish(false)).toMatchObject({ kind: 'refused', error: { message } });
    expect(readdirSync(folder)).toEqual([name]);
  });

  it('reads its file for the checks only if there are some and none has a result', async () => {
    const { source, file } = await setUp();
    const start = () => ({ update: async () => {}, end: async () => null });
    const regions = [{ offset: 0, size: 1, start }];
    const local = { name: '', path: source, regions, checkedFingerprint: undefined };
    const checked = await openUploadFile(local, fakeIo());
    onTestFinished(() => checked.close());
    const read: number[] = [];
    for (const each of [file, checked, checked]) await each.check((bytes) => read.push(bytes));
    expect(read).toEqual([file.size]);
  });

  it('does not read a file that becomes shorter as if it were whole', async () => {
    const { folder, source, file, put } = await setUp();
    truncateSync(source, 1);
    await failure(put());
    expect(readdirSync(folder)).toEqual([]);
    const { message } = await failure(buffer(file.read()));
    expect(message).toBe(`${source} changed while it was uploaded`);
  });

  it('closes a file that it cannot look at, or that has changed', async () => {
    const { source, file } = await setUp();
    const handle = await open(source);
    const stat = vi.spyOn(Object.getPrototypeOf(handle), 'stat');
    onTestFinished(() => stat.mockRestore());
    await handle.close();
    const local = { name: '', path: source, regions: [], checkedFingerprint: undefined };
    const gone = { ...local, path: `${source}.gone` };
    await expect(openUploadFile(gone, fakeIo())).rejects.toMatchObject({
      message: `cannot read ${gone.path}: no such file or directory`,
      cause: { code: 'ENOENT' },
    });
    const unreadable = {
      message: `cannot read ${source}: permission denied`,
      facts: advice(`check the permissions: ls -ld ${path.dirname(source)} ${source}`),
    };
    await expect(openUnchanged(local, fakeIo())).rejects.toThrow('changed');
    stat.mockRejectedValue(Object.assign(new Error('refused'), { code: 'EACCES' }));
    await expect(file.check(() => {})).rejects.toMatchObject(unreadable);
    await expect(openUploadFile(local, fakeIo())).rejects.toMatchObject(unreadable);
    const closed = expect.objectContaining({ fd: -1 });
    expect(stat.mock.contexts).toEqual([closed, expect.anything(), closed]);
  });

  it('overwrites nothing on a file system without hard links', async () => {
    const { folder, put } = await setUp();
    const refusal = Object.assign(new Error('not permitted'), { code: 'EPERM' });
    const link = vi.spyOn(fs, 'link').mockRejectedValue(refusal);
    onTestFinished(() => link.mockRestore());
    const [first, second] = [await put(), await put()];
    await first.publish(false);
    expect(await second.publish(false)).toMatchObject({ kind: 'conflict' });
    await second.discard(undefined);
    expect(readdirSync(folder)).toEqual(['web.ova']);
  });

  it('that is interrupted in its last check has no result', async () => {
    const io = fakeIo();
    const file = writeOva(temporaryDirectory(), 'web');
    const start = () => ({ update: async () => io.interrupt(), end: async () => null });
    const regions = [{ offset: 0, size: 1, start }];
    const opened = await openUploadFile(
      { name: '', path: file, regions, checkedFingerprint: undefined },
      io,
    );
    onTestFinished(() => opened.close());
    const interrupted = { code: 'interrupted' };
    await expect(buffer(opened.readAll())).rejects.toMatchObject(interrupted);
    // Nor is anything read after that.
    const first = opened.read().next();
    await expect(first.then(({ done }) => done)).rejects.toMatchObject(interrupted);
  });

  unixOnly('folders are flushed on Unix')('flushes its part, then its new name', async () => {
    const { folder, put, onSync } = await setUp();
    const flushed: string[][] = [];
    await onSync(async () => {
      flushed.push(readdirSync(folder));
    });
    await (await put()).publish(false);
    expect(flushed).toEqual([[expect.stringMatching(/^\.imgctl/)], ['web.ova']]);
  });
});

it('push to S3 refuses a name for which the prefix leaves no room before a byte is sent', async () => {
  const { imgctl, work, settings, storage } = await storageUser('s3');
  await imgctl(`config set upload-url ${settings['upload-url']}${`/${'p'.repeat(199)}`.repeat(4)}`);
  const push = (length: number) => {
    const file = path.join(work, `${'x'.repeat(length - 4)}.ova`);
    writeFileSync(file, readFileSync(writeOva(work, 'web')));
    return imgctl(`push ${file} --dry-run ${OPTIONS}`);
  };
  // A key has at most 1,024 bytes.
  expect((await push(224)).exitCode).toBe(0);
  const { length } = storage.requests;
  const text = /the name x+\.ova is too long for .*\nhint: give the file a shorter name\n/;
  expect(await push(225)).toEqual(failed(2, text));
  expect(storage.requests.slice(length).filter(({ method }) => method !== 'GET')).toEqual([]);
});

it('a part has at most 16 characters of the host, which differ for hosts that begin alike', () => {
  const hosts = ['imgctl-push-7d9f8b6c5-x2v4z', 'imgctl-push-7d9f8b6c5-kk4zz', 'ümläut host'];
  const parts = hosts.map((host) => {
    const name = partName('web.ova', { ...systemOf(process), hostname: () => host });
    expect(name).toMatch(/^\.imgctl-[0-9a-f]{16}-[\w.-]{1,16}-\d+-[0-9a-f]{8}\.partial$/);
    return name.split('-').slice(2, -2).join('-');
  });
  expect(new Set(parts).size).toBe(hosts.length);
});

it('only whole names of parts are of parts', () => {
  const part = partName('web.ova', systemOf(process));
  const names = [part, `x${part}`, `${part}x`, part.replace('.partial', '.part')];
  expect(names.map(isPart)).toEqual([true, false, false, false]);
});

it.each<[string[], string?]>([[[]], [['b'], 'b'], [['b', 'c'], 'b']])(
  'all parts are removed but %j, and the error is of: %s',
  async (stuck, expected) => {
    const tried: string[] = [];
    const removal = removeAll(['a', 'b', 'c', 'd'], async (name) => {
      tried.push(name);
      if (stuck.includes(name)) throw new Error(name);
    });
    expect(await removal.catch(({ message }: Error) => message)).toBe(expected);
    expect(tried).toEqual(['a', 'b', 'c', 'd']);
  },
);

it('a body counts its bytes from 0 each time that it is sent', async () => {
  const sent: number[] = [];
  const read = async function* () {
    yield* [Buffer.alloc(1), Buffer.alloc(2)];
  };
  const body = streamBody(3, read, (bytes) => sent.push(bytes));
  for (const _time of [1, 2]) await buffer(body.chunks());
  expect(sent).toEqual([0, 1, 3, 0, 1, 3]);
});
