// User images over a real socket, from real files: sections 4.7 and 2.3, and broken uploads.

import { rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../support/io.ts';
import { unixOnly } from '../support/platform.ts';
import { DELAY, names, ovaBytes, ovfFiles, startSynced, startUploads } from './uploads-harness.ts';

describe('user images', () => {
  it('are empty before the first sync', async () => {
    const { baseUrl, login, send, upload } = await startUploads();
    await upload({ 'small.ova': ovaBytes('small') });
    const { status, body } = await send('GET', '/v2/user/image/vm', await login());
    expect(status).toBe(200);
    expect(body).toEqual({
      _links: { image: `${baseUrl}/v2/user/image`, self: `${baseUrl}/v2/user/image/vm` },
      data: [],
      meta: { count: 0, time: expect.stringMatching(/^\d+\.\d+s$/), user: 'demo' },
    });
  });

  it('are the OVA and OVF packages once the sync has ended', async () => {
    const { advance, ended, images, other, submit, upload } = await startUploads();
    await upload({ 'small.ova': ovaBytes('small'), ...ovfFiles('plain') });
    await submit();
    advance(DELAY - 1);
    expect(await images()).toEqual([]);
    advance(1);
    expect(await ended(1)).toMatchObject({
      added: ['plain.ovf', 'small.ova'],
      message: { errors: [], warnings: [] },
    });
    const image = {
      id: 1_000_001,
      name: 'plain.ovf',
      path: '[user-images-01] plain.ovf',
      label: 'plain.ovf',
      folder: null,
      data_store: 'user-images-01',
      public: false,
      created_on: '2025-01-15 Wed 07:00:03 EST',
      updated_on: '2025-01-15 Wed 07:00:03 EST',
    };
    const [plain, small] = await images();
    expect(plain).toEqual(image);
    expect(small).toMatchObject({ id: 1_000_002, name: 'small.ova' });
    expect(await images(other)).toEqual([]);
  });

  it('are deleted with their files', async () => {
    const { images, remove, sync } = await startSynced({
      'small.ova': ovaBytes('small'),
      ...ovfFiles('plain'),
    });
    await remove('small.ova');
    expect(await sync()).toMatchObject({ status: 'PROCESSED', added: [], deleted: ['small.ova'] });
    expect(names(await images())).toEqual(['plain.ovf']);
  });

  it.each([
    ['OVA', (note: string) => ({ 'x.ova': ovaBytes('x', note) })],
    ['OVF', (note: string) => ovfFiles('x', note)],
  ])('keep their ids and are updated when an %s has changed', async (_kind, make) => {
    const { images, sync, upload } = await startSynced(make('before'));
    const [before] = await images();
    await sync();
    expect(await images()).toEqual([before]);

    await upload(make('long after'));
    expect(await sync()).toMatchObject({ added: [], deleted: [] });
    const [after] = await images();
    expect(after).toEqual({ ...before, updated_on: '2025-01-15 Wed 07:00:09 EST' });
  });

  it('are updated when only the disk of an OVF has changed', async () => {
    const { folder, images, sync } = await startSynced(ovfFiles('plain'));
    await utimes(join(folder, 'plain-disk1.vmdk'), 1, 1);
    await sync();
    expect(await images()).toMatchObject([{ updated_on: '2025-01-15 Wed 07:00:06 EST' }]);
  });
});

describe('broken uploads', () => {
  it('become errors that name the file, and valid ones become images', async () => {
    const { images, remove, sync, upload } = await startUploads();
    await upload({
      'small.ova': ovaBytes('small'),
      'cut.ova': ovaBytes('cut').subarray(0, -3000),
      'text.ova': 'this is no archive',
      ...ovfFiles('lonely'),
    });
    await remove('lonely-disk1.vmdk');
    const { status, added, message } = await sync();
    expect(status).toBe('PROCESSED');
    expect(added).toEqual(['small.ova']);
    expect(names(await images())).toEqual(['small.ova']);
    for (const line of [
      /^error in cut\.ova.*: .+ \(truncated-member\)$/,
      /^error in text\.ova.*: .+ \(no-descriptor\)$/,
      /^error in lonely\.ovf, lonely-disk1\.vmdk: .+ \(missing-file\)$/,
    ]) {
      expect(message.errors.filter((error) => line.test(error))).toHaveLength(1);
    }
    expect(message.errors.join('\n')).not.toContain('small');
  });

  it('end the request as ERROR if no package is valid', async () => {
    const { images, sync, upload } = await startUploads();
    await upload({ 'text.ova': 'this is no archive' });
    expect(await sync()).toMatchObject({ status: 'ERROR', added: [], deleted: [] });
    expect(await images()).toEqual([]);
  });

  it('leave the image of an earlier sync as it was', async () => {
    const { images, sync, upload } = await startSynced({ 'small.ova': ovaBytes('small') });
    const before = await images();
    await upload({ 'small.ova': 'this is no archive' });
    expect(await sync()).toMatchObject({ status: 'ERROR', deleted: [] });
    expect(await images()).toEqual(before);
  });

  it('are recognized by a manifest that does not match', async () => {
    const { sync, upload } = await startUploads();
    await upload({
      ...ovfFiles('plain', 'one'),
      'plain.mf': ovfFiles('plain', 'two')['plain.mf'] ?? '',
    });
    const { status, message } = await sync();
    expect(status).toBe('ERROR');
    expect(message.errors).toEqual([
      expect.stringMatching(/^error in plain\.ovf: .+ \(digest-mismatch\)$/),
    ]);
  });

  it('get a warning for a disk that no OVF references', async () => {
    const { sync, upload } = await startUploads();
    const stray = { 'stray.vmdk': 'a disk', '.hidden.vmdk': '', 'notes.txt': '' };
    await upload({ ...ovfFiles('plain'), ...stray });
    const { status, message } = await sync();
    expect(status).toBe('PROCESSED');
    expect(message.warnings).toEqual(['stray.vmdk: ignored, because no OVF file references it']);
  });
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
});

describe('an upload folder', () => {
  it('that is missing counts as empty', async () => {
    const { folder, images, sync } = await startSynced({ 'small.ova': ovaBytes('small') });
    await rm(folder, { recursive: true });
    expect(await sync()).toMatchObject({ status: 'PROCESSED', deleted: ['small.ova'] });
    expect(await images()).toEqual([]);
  });

  it('that cannot be read is an error and deletes nothing', async () => {
    const { folder, images, sync } = await startSynced({ 'small.ova': ovaBytes('small') });
    await rm(folder, { recursive: true });
    await writeFile(folder, 'no folder');
    const { status, message } = await sync();
    expect(status).toBe('ERROR');
    expect(message.errors).toEqual(['the upload folder cannot be read (ENOTDIR)']);
    expect(names(await images())).toEqual(['small.ova']);
  });
});
