// A service with an upload folder, and the steps of the sync tests.

import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type {
  Image,
  SyncRequestRecord,
  SyncSubmitResponse,
  UserImageList,
} from '../../src/api/types.ts';
import { serveWithClock } from '../support/emulator.ts';
import { temporaryDirectory } from '../support/io.ts';
import { manifestOf, packTar, sampleMembers, type TarMember } from '../support/package-writer.ts';

/** How long a sync takes on the service's clock, in milliseconds. */
export const DELAY = 3000;

/** A service with the users demo and other and an upload folder for demo. */
export async function startUploads() {
  const uploads = temporaryDirectory();
  const folder = join(uploads, 'demo');
  await mkdir(folder);
  const mails: string[] = [];
  const users = ['demo', 'other'].map((name) => ({ name, password: name }));
  const log = (line: string) => mails.push(line);
  const service = await serveWithClock({ uploads, users, syncDelay: DELAY, log });
  const credentials = await service.login();
  const other = await service.login('other');

  const submit = () => service.send<SyncSubmitResponse>('PATCH', '/v2/user/image/vm', credentials);
  const read = (id: number | string, who = credentials) =>
    service.send<{ data: SyncRequestRecord }>('GET', `/v2/request/image_sync/${id}`, who);
  const images = async (who = credentials): Promise<Image[]> =>
    (await service.send<UserImageList>('GET', '/v2/user/image/vm', who)).body.data;

  /** Returns the record of a request whose delay has passed, once its scan is done. */
  const ended = async (id: number): Promise<SyncRequestRecord> => {
    const status = async () => (await read(id)).body.data.status;
    await expect.poll(status, { interval: 5, timeout: 10_000 }).toMatch(/PROCESSED|ERROR/);
    return (await read(id)).body.data;
  };

  return {
    ...service,
    folder,
    other,
    mails,
    submit,
    read,
    images,
    ended,
    upload: async (files: Readonly<Record<string, string | Uint8Array>>) => {
      for (const [name, content] of Object.entries(files)) {
        await writeFile(join(folder, name), content);
      }
    },
    remove: (name: string) => rm(join(folder, name)),
    /** Submits a request and returns its record when it has ended. */
    sync: async (): Promise<SyncRequestRecord> => {
      const { body } = await submit();
      service.advance(DELAY);
      return ended(body.request.id);
    },
  };
}

/** The same after the first sync of these files. */
export async function startSynced(files: Readonly<Record<string, string | Uint8Array>>) {
  const service = await startUploads();
  await service.upload(files);
  await service.sync();
  return service;
}

export function names(images: readonly Image[]): string[] {
  return images.map(({ name }) => name);
}

/** Returns the files of a small valid package by name; another note makes another descriptor. */
export function ovfFiles(name: string, note = ''): Record<string, Uint8Array> {
  return Object.fromEntries(members(name, note).map((file) => [file.name, file.content]));
}

export function ovaBytes(name: string, note = ''): Buffer {
  return packTar(members(name, note));
}

function members(name: string, note: string): TarMember[] {
  const [descriptor, manifest, disk] = sampleMembers(name);
  const content = Buffer.concat([descriptor.content, Buffer.from(`<!-- ${note} -->\n`)]);
  const noted = { ...descriptor, content };
  return [noted, { ...manifest, content: Buffer.from(manifestOf([noted, disk])) }, disk];
}
