// Sync requests and the user images that they make, from real files: sections 4.5 to 4.7, 2.5 and 6.

import { mkdir, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Image } from '../../src/api/types.ts';
import type { SyncRequestRecord } from '../../src/emulator/image-sync.ts';
import { serveWithClock } from '../support/emulator.ts';
import { temporaryDirectory } from '../support/io.ts';
import { manifestOf, packTar, sampleMembers, type TarMember } from '../support/package-writer.ts';
import { unixOnly } from '../support/platform.ts';

/** How long a sync takes on the service's clock, in milliseconds. */
const DELAY = 3000;
const USER_IMAGES = '/v2/user/image/vm';

type Files = Readonly<Record<string, string | Uint8Array>>;

/** A service with an upload folder for the user demo, once these files are synced. */
async function startUploads(files?: Files) {
  const uploads = temporaryDirectory();
  const folder = join(uploads, 'demo');
  await mkdir(folder);
  const mails: string[] = [];
  const users = ['demo', 'other'].map((name) => ({ name, password: name }));
  const log = (line: string) => mails.push(line);
  const service = await serveWithClock({ uploads, users, syncDelay: DELAY, log });
  const demo = await service.login();
  const submit = () => service.send<{ request: { id: number } }>('PATCH', USER_IMAGES, demo);
  const read = (id: number | string, who = demo) =>
    service.send<{ data: SyncRequestRecord }>('GET', `/v2/request/image_sync/${id}`, who);
  const images = async () =>
    (await service.send<{ data: Image[] }>('GET', USER_IMAGES, demo)).body.data;
  const upload = async (added: Files) => {
    for (const [name, content] of Object.entries(added))
      await writeFile(join(folder, name), content);
  };
  /** Submits a request and returns its record when it has ended, which takes the delay and a scan. */
  const sync = async (): Promise<SyncRequestRecord> => {
    const { id } = (await submit()).body.request;
    service.advance(DELAY);
    const status = async () => (await read(id)).body.data.status;
    await expect.poll(status).toMatch(/PROCESSED|ERROR/);
    return (await read(id)).body.data;
  };
  if (files) {
    await upload(files);
    await sync();
  }
  return { ...service, folder, mails, submit, read, images, upload, sync };
}

/** Returns the members of a small valid package; another note makes another descriptor. */
function members(name: string, note = ''): TarMember[] {
  const [descriptor, manifest, disk] = sampleMembers(name);
  const content = Buffer.concat([descriptor.content, Buffer.from(`<!-- ${note} -->\n`)]);
  const noted = { ...descriptor, content };
  return [noted, { ...manifest, content: Buffer.from(manifestOf([noted, disk])) }, disk];
}

const ovaBytes = (name: string) => packTar(members(name));
const ovfFiles = (name: string, note?: string): Record<string, Uint8Array> =>
  Object.fromEntries(members(name, note).map((file) => [file.name, file.content]));
const names = (images: readonly Image[]) => images.map(({ name }) => name);

it('a sync request gets an id and a URL, logs a mail, and is not found by others', async () => {
  const { baseUrl, mails, login, read, submit } = await startUploads();
  const { status, headers, body } = await submit();
  const url = `${baseUrl}/v2/request/image_sync/1`;
  expect([status, headers.get('Location')]).toEqual([202, url]);
  const request = { id: 1, status: 'PENDING', task_id: expect.stringMatching(/^[0-9a-f-]{36}$/) };
  const message = 'The image sync request was received.';
  expect(body).toEqual({ status: 202, message, request, _links: { request: url } });
  const mail = `mail to demo: image sync request 1 was received; follow it at ${url}`;
  expect(mails).toEqual([mail]);
  expect((await read(1, await login('other'))).status).toBe(404);
  for (const id of ['2', '0', 'abc', '1.0', '01']) expect((await read(id)).status).toBe(404);
});

// Without an upload folder there is nothing to scan, so only the clock decides.
it('a sync request is pending, then in progress, then processed', async () => {
  const { advance, login, send } = await serveWithClock({ syncDelay: DELAY });
  const credentials = await login();
  await send('PATCH', USER_IMAGES, credentials);
  const at = (second: number) => `2025-01-15 Wed 07:00:0${second} EST`;
  const warnings = ['this service was started without an uploads folder'];
  const [unknown, ended] = [
    { added: null, deleted: null },
    { added: [], deleted: [] },
  ];
  for (const [milliseconds, status, second, changes, messages] of [
    [999, 'PENDING', 0, unknown, []],
    [1, 'IN_PROGRESS', 1, unknown, []],
    [1999, 'IN_PROGRESS', 1, unknown, []],
    [1, 'PROCESSED', 3, ended, warnings],
  ] as const) {
    advance(milliseconds);
    const { body } = await send('GET', '/v2/request/image_sync/1', credentials);
    const times = { created_on: at(0), updated_on: at(second), task_id: expect.any(String) };
    const common = { id: 1, type: 'image_sync', user: { username: 'demo' }, ...times };
    const message = { errors: [], warnings: messages };
    expect(body).toEqual({ data: { ...common, status, ...changes, message } });
  }
});

it('user images are the packages that a sync found, and go with their files', async () => {
  const { folder, images, sync, upload } = await startUploads();
  await upload({ 'small.ova': ovaBytes('small'), ...ovfFiles('plain') });
  expect(await images()).toEqual([]);
  const message = { errors: [], warnings: [] };
  expect(await sync()).toMatchObject({ added: ['plain.ovf', 'small.ova'], message });
  const at = '2025-01-15 Wed 07:00:03 EST';
  const plain = {
    ...{ id: 1_000_001, name: 'plain.ovf', label: 'plain.ovf', folder: null, public: false },
    ...{ path: '[user-images-01] plain.ovf', data_store: 'user-images-01' },
    ...{ created_on: at, updated_on: at },
  };
  expect(await images()).toMatchObject([plain, { id: 1_000_002, name: 'small.ova' }]);
  await rm(join(folder, 'small.ova'));
  expect(await sync()).toMatchObject({ status: 'PROCESSED', added: [], deleted: ['small.ova'] });
  expect(await images()).toMatchObject([plain]);
  await rm(folder, { recursive: true });
  expect(await sync()).toMatchObject({ status: 'PROCESSED', deleted: ['plain.ovf'] });
});

it('user images keep their ids and are updated when a descriptor or a disk has changed', async () => {
  const { folder, images, sync, upload } = await startUploads(ovfFiles('x', 'before'));
  const [before] = await images();
  await sync();
  expect(await images()).toEqual([before]);
  await upload(ovfFiles('x', 'long after'));
  expect(await sync()).toMatchObject({ added: [], deleted: [] });
  expect(await images()).toEqual([{ ...before, updated_on: '2025-01-15 Wed 07:00:09 EST' }]);
  await utimes(join(folder, 'x-disk1.vmdk'), 1, 1);
  await sync();
  expect(await images()).toMatchObject([{ updated_on: '2025-01-15 Wed 07:00:12 EST' }]);
});

it('broken uploads become errors that name the file, and valid ones become images', async () => {
  const { folder, images, sync, upload } = await startUploads();
  await upload({
    ...{ 'small.ova': ovaBytes('small'), 'cut.ova': ovaBytes('cut').subarray(0, -3000) },
    ...{ 'text.ova': 'this is no archive', ...ovfFiles('lonely'), ...ovfFiles('plain', 'one') },
    ...{ 'plain.mf': ovfFiles('plain', 'two')['plain.mf'] ?? '' },
    ...{ 'stray.vmdk': 'a disk', '.hidden.vmdk': '', 'notes.txt': '' },
  });
  await rm(join(folder, 'lonely-disk1.vmdk'));
  const { status, added, message } = await sync();
  expect({ status, added }).toEqual({ status: 'PROCESSED', added: ['small.ova'] });
  expect(names(await images())).toEqual(['small.ova']);
  const errors = [
    /^error in cut\.ova.*: .+ \(truncated-member\)$/,
    /^error in text\.ova at byte 0: not a tar archive \(not-a-tar\)$/,
    /^error in lonely\.ovf, lonely-disk1\.vmdk: .+ \(missing-file\)$/,
    /^error in plain\.ovf: .+ \(digest-mismatch\)$/,
  ].map((line) => expect.stringMatching(line));
  expect(message.errors).toEqual(expect.arrayContaining(errors));
  const places = message.errors.map((line) => /^error in (\w+)/.exec(line)?.[1]);
  expect(places).toEqual(['cut', 'lonely', 'lonely', 'plain', 'text']);
  expect([...message.errors, ...message.warnings].join()).not.toMatch(/small|hidden|notes/);
});

it('a sync without a valid package, or of an unreadable folder, fails and deletes nothing', async () => {
  const { folder, images, sync, upload } = await startUploads({ 'small.ova': ovaBytes('small') });
  await upload({ 'small.ova': 'this is no archive' });
  expect(await sync()).toMatchObject({ status: 'ERROR', added: [], deleted: [] });
  await rm(folder, { recursive: true });
  await writeFile(folder, 'no folder');
  const errors = ['the upload folder cannot be read (ENOTDIR)'];
  expect(await sync()).toMatchObject({ status: 'ERROR', message: { errors } });
  expect(names(await images())).toEqual(['small.ova']);
});

unixOnly('links need no rights')('links in an upload folder are not followed', async () => {
  const { folder, images, sync, upload } = await startUploads();
  const outside = temporaryDirectory();
  await writeFile(join(outside, 'far.ova'), ovaBytes('far'));
  await symlink(join(outside, 'far.ova'), join(folder, 'far.ova'));
  await upload(ovfFiles('near'));
  await rename(join(folder, 'near-disk1.vmdk'), join(outside, 'disk'));
  await symlink(join(outside, 'disk'), join(folder, 'near-disk1.vmdk'));
  const { status, message } = await sync();
  expect([status, await images()]).toEqual(['ERROR', []]);
  expect(message.errors).toContain('far.ova: cannot be read (links are not followed)');
  expect(message.errors.join()).toContain('near');
  await rename(folder, join(outside, 'demo'));
  await symlink(join(outside, 'demo'), folder);
  const errors = ['the upload folder cannot be read (links are not followed)'];
  expect(await sync()).toMatchObject({ status: 'ERROR', message: { errors } });
});
