// The parts of uploads, and several pushes to one name: who wins, what is removed, which names have room.

import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { systemOf } from '../../src/io.ts';
import { partName } from '../../src/upload/storage.ts';
import { fakeIo, runCli } from '../support/io.ts';
import { folderUser, storageUser, writeOva } from '../support/uploads.ts';
import { configDirectory, PASSWORD } from '../support/users.ts';

const SIZE = 700_000;
const OPTIONS = '--no-sync --retries 1 --part-size 5M';
const KINDS = ['file', 'dav', 's3'] as const;

async function userOf(kind: (typeof KINDS)[number]) {
  const user = kind === 'file' ? undefined : await storageUser(kind);
  if (user) return user;
  const { folder, env, ...rest } = await folderUser();
  const settings = { 'upload-url': pathToFileURL(folder).href };
  return { ...rest, folder, settings, env: { ...env, ...PASSWORD } };
}

/** Pushes from several homes at once. */
async function pushAtOnce(
  { settings, env }: Awaited<ReturnType<typeof userOf>>,
  files: readonly string[],
) {
  const runs = files.map((file) =>
    runCli(['push', file, ...OPTIONS.split(' ')], {
      env: { ...env, IMGCTL_CONFIG_DIR: configDirectory(settings) },
    }),
  );
  return Promise.all(runs);
}

describe.each(KINDS)('two homes that push one name to %s at once', (kind) => {
  it('with different content: one wins whole, the other is told', async () => {
    for (let round = 0; round < 6; round += 1) {
      const user = await userOf(kind);
      const files = ['a', 'b'].map((seed) => {
        const own = path.join(user.work, seed);
        mkdirSync(own);
        return writeOva(own, 'web', 6 * SIZE, seed);
      });
      const results = await pushAtOnce(user, files);
      const winner = results.findIndex(({ exitCode }) => exitCode === 0);
      expect(results.map(({ exitCode }) => exitCode).sort()).toEqual([0, 1]);
      expect(results[1 - winner]?.stderr).toMatch(
        /already has another web\.ova|another push removed the upload of web\.ova|it stays there/,
      );
      expect(user.stored()).toEqual(['web.ova']);
      const stored = readFileSync(path.join(user.folder, 'web.ova'));
      expect(stored.equals(readFileSync(files[winner] ?? ''))).toBe(true);
    }
  });

  it('with the same content: both succeed', async () => {
    const user = await userOf(kind);
    const file = writeOva(user.work, 'web', SIZE);
    const results = await pushAtOnce(user, [file, file, file]);
    expect(results.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0]);
    expect(user.stored()).toEqual(['web.ova']);
  });
});

it('the lock of a push is the same for two URLs that differ by a slash at the end', async () => {
  const { env, settings, seen, work } = await storageUser('dav', ['PUT /upload/*=stall']);
  const url = settings['upload-url'];
  const directory = configDirectory({});
  const file = writeOva(work, 'web');
  const start = async (profile: string, target: string) => {
    const own = { ...env, IMGCTL_CONFIG_DIR: directory };
    for (const setting of [`upload-url ${target}`, 'upload-username demo'])
      await runCli(`config set ${setting} --profile ${profile}`.split(' '), { env: own });
    const io = fakeIo({ env: own });
    const argv = `push ${file} --no-sync --timeout 60s --profile ${profile}`.split(' ');
    return { io, ended: runCli(argv, io) };
  };
  const first = await start('one', url);
  const isSending = () => seen.storage.some(({ request }) => request.startsWith('PUT'));
  await expect.poll(isSending).toBe(true);
  const second = await start('two', `${url}/`);
  await expect.poll(() => second.io.sleeps.length).toBeGreaterThan(0);
  await wait(50);
  expect(readdirSync(directory).filter((name) => /^push.*\.lock$/.test(name))).toHaveLength(1);
  for (const { io } of [first, second]) io.interrupt();
  expect((await first.ended).exitCode).toBe(130);
  expect((await second.ended).exitCode).toBe(130);
});

it('a WebDAV upload that was interrupted is remembered, and starts again under a name of its own', async () => {
  const faults = ['PUT /upload/*=drop:300000,first=1'];
  const { imgctl, work, folder, stored, seen, env } = await storageUser('dav', faults);
  const file = writeOva(work, 'web', SIZE);
  // For servers that list no hidden files.
  const partsFiles = () =>
    readdirSync(env.IMGCTL_CONFIG_DIR)
      .filter((name) => /^push\..*\.parts$/.test(name))
      .map((name) => readFileSync(path.join(env.IMGCTL_CONFIG_DIR, name), 'utf8'));
  await imgctl(`push ${file} ${OPTIONS} --retries 0`);
  expect(partsFiles()).toEqual([expect.stringMatching(/^\.imgctl-\S+\.part\n$/)]);
  for (const name of stored()) {
    const bytes = readFileSync(path.join(folder, name));
    writeFileSync(path.join(folder, name), bytes.fill('x', 0, 1000));
  }
  expect((await imgctl(`push ${file} ${OPTIONS}`)).exitCode).toBe(0);
  expect(partsFiles()).toEqual([]);
  expect(readFileSync(path.join(folder, 'web.ova')).equals(readFileSync(file))).toBe(true);
  expect(seen.storage.filter(({ headers }) => 'content-range' in headers)).toEqual([]);
});

describe.each(['file', 'dav'] as const)('push to %s', (kind) => {
  it('removes the parts of dead processes of its host, and of other hosts after a day', async () => {
    const user = await userOf(kind);
    const system = systemOf(process);
    const dead = { ...system, pid: 999_999_999 };
    const elsewhere = { ...dead, hostname: () => 'another-host.example.com' };
    const names = {
      dead: partName('web.ova', dead),
      alive: partName('web.ova', { ...system, pid: process.ppid }),
      elsewhere: partName('db.ova', elsewhere),
      old: partName('db.ova', elsewhere),
      foreign: '.hidden',
    };
    mkdirSync(user.folder, { recursive: true });
    for (const name of Object.values(names)) writeFileSync(path.join(user.folder, name), 'part');
    const days = (count: number) => new Date(Date.now() - count * 24 * 3_600_000);
    utimesSync(path.join(user.folder, names.old), days(1.1), days(1.1));
    utimesSync(path.join(user.folder, names.foreign), days(3), days(3));
    const file = writeOva(user.work, 'web');
    await user.imgctl(`push ${file} --dry-run ${OPTIONS}`);
    expect(user.stored()).toHaveLength(5);
    expect((await user.imgctl(`push ${file} ${OPTIONS}`)).exitCode).toBe(0);
    expect(user.stored()).toEqual([names.alive, names.elsewhere, '.hidden', 'web.ova'].sort());
  });

  it('takes a name of 255 bytes', async () => {
    const user = await userOf(kind);
    const file = path.join(user.work, `${'ä'.repeat(125)}x.ova`);
    writeFileSync(file, readFileSync(writeOva(user.work, 'web')));
    const { exitCode, stderr } = await user.imgctl(`push ${file} ${OPTIONS}`);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    expect(user.stored()).toEqual([path.basename(file)]);
  });
});

describe('push to S3', () => {
  it('refuses a name for which the prefix leaves no room before a byte is sent', async () => {
    const { imgctl, work, settings, seen } = await storageUser('s3');
    await imgctl(`config set upload-url ${settings['upload-url']}/${'p'.repeat(800)}`);
    const file = path.join(work, `${'x'.repeat(240)}.ova`);
    writeFileSync(file, readFileSync(writeOva(work, 'web')));
    const { exitCode, stderr } = await imgctl(`push ${file} ${OPTIONS}`);
    expect(stderr).toMatch(
      /has no room for the name x+\.ova\nhint: give the file a shorter name\n/,
    );
    expect(exitCode).toBe(2);
    expect(seen.storage.filter(({ request }) => !request.startsWith('GET'))).toEqual([]);
  });
});

describe('a part', () => {
  it('has at most 16 characters of the host, which differ for hosts that begin alike', () => {
    const system = systemOf(process);
    const hosts = ['imgctl-push-7d9f8b6c5-x2v4z', 'imgctl-push-7d9f8b6c5-kk4zz', 'ümläut host'];
    const parts = hosts.map((host) => {
      const name = partName('web.ova', { ...system, hostname: () => host });
      expect(name).toMatch(/^\.imgctl-[0-9a-f]{16}-[\w.-]{1,16}-\d+-[0-9a-f]{8}\.part$/);
      return name.split('-').slice(2, -2).join('-');
    });
    expect(new Set(parts).size).toBe(hosts.length);
  });
});
