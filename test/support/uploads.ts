// Packages to push, and a user with a service and a folder as the storage.

import { createCipheriv, createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { RequestRecord } from '../../src/emulator/settings.ts';
import { type ServeOptions, serve } from './emulator.ts';
import { fakeIo, runCli, temporaryDirectory } from './io.ts';
import { manifestOf, packTar, sampleMembers, type TarMember } from './package-writer.ts';
import { ACCESS_KEY, type S3Habits, serveS3 } from './s3-server.ts';
import { type Handler, scriptedServer } from './scripted-server.ts';
import { configDirectory, emulatorUser, PASSWORD } from './users.ts';

/** By name, size and seed. */
const madeMembers = new Map<string, readonly TarMember[]>();

/** Returns descriptor, manifest, disk and a data file of this size, whose bytes depend on the seed. */
function packageMembers(name: string, size = 100_000, seed = name): readonly TarMember[] {
  const key = [name, size, seed].join();
  const made = madeMembers.get(key) ?? makeMembers(name, size, seed);
  madeMembers.set(key, made);
  return made;
}

function makeMembers(name: string, size: number, seed: string): readonly TarMember[] {
  const [descriptor, , disk] = sampleMembers(name);
  const data = { name: `${name}-data.iso`, content: bytesOf(size, seed) };
  const file = `<File ovf:id="file2" ovf:href="${data.name}" ovf:size="${size}"/></References>`;
  const text = descriptor.content.toString().replace('</References>', file);
  const changed = { name: descriptor.name, content: Buffer.from(text) };
  const manifest = Buffer.from(manifestOf([changed, disk, data]));
  return [changed, { name: `${name}.mf`, content: manifest }, disk, data];
}

/** Returns bytes that look random and never repeat. */
export function bytesOf(size: number, seed: string): Buffer {
  const key = createHash('sha256').update(seed).digest();
  return createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(size));
}

/** Writes an OVA and returns its path. */
export function writeOva(folder: string, name: string, size?: number, seed?: string): string {
  const file = path.join(folder, `${name}.ova`);
  writeFileSync(file, packTar(packageMembers(name, size, seed)));
  return file;
}

/** Writes an OVF with its files into a folder of its own and returns its path. */
export function writeOvf(folder: string, name: string, size?: number, seed?: string): string {
  const own = path.join(folder, name);
  mkdirSync(own, { recursive: true });
  for (const { name: each, content } of packageMembers(name, size, seed)) {
    writeFileSync(path.join(own, each), content);
  }
  return path.join(own, `${name}.ovf`);
}

/** Writes another package with the same files beside an OVF, with a manifest if it is changed, and returns its path. */
export function copyOvf(file: string, name: string, change?: (manifest: string) => string): string {
  const copy = path.join(path.dirname(file), `${name}.ovf`);
  copyFileSync(file, copy);
  if (change) {
    const manifest = readFileSync(file.replace(/ovf$/, 'mf'), 'utf8');
    const own = manifest.replace(path.basename(file), path.basename(copy));
    writeFileSync(copy.replace(/ovf$/, 'mf'), change(own));
  }
  return copy;
}

/** Returns a clock that moves by a second when it is read, so that each sync has a time of its own. */
function tickingClock(): () => number {
  let time = Date.now();
  return () => {
    time += 1_000;
    return time;
  };
}

/** A user whose storage is the folder that the service reads; `stored` lists all of its files. */
export async function folderUser(options: ServeOptions = {}) {
  const uploads = temporaryDirectory();
  const folder = path.join(uploads, 'demo');
  mkdirSync(folder);
  const user = await emulatorUser({ uploads, syncDelay: 0, now: tickingClock(), ...options });
  const imgctl = (command: string, env = {}) =>
    user.imgctl(command, { env: { ...PASSWORD, ...env }, time: Date.now() });
  await imgctl(`config set upload-url ${pathToFileURL(folder)}`);
  return {
    ...user,
    imgctl,
    work: temporaryDirectory(),
    folder,
    stored: () => readdirSync(folder).sort(),
    syncs: () => user.requests.filter((request) => request.startsWith('PATCH')).length,
  };
}

/** The secrets of a user, none of which is part of another. */
export const SECRETS = {
  service: 'service-canary-1',
  storage: 'storage-canary-2',
  session: 'session-canary-3',
};

/**
 * A user whose storage is a server of its own, with another password than the service.
 * @param faults of the storage, as `imgctl emulator --fault` takes them; S3 has the kind `etag` too
 * @param onRequest called for each of its requests
 * @param host where it listens; it refuses requests for any other @param habits of an S3 storage
 */
export async function storageUser(
  kind: 'dav' | 's3',
  faults: readonly string[] = [],
  onRequest: (record: RequestRecord) => void = () => {},
  host = '127.0.0.1',
  habits: S3Habits = {},
) {
  const uploads = temporaryDirectory();
  const users = (password: string) => [{ name: 'demo', password }];
  const own = { uploads, syncDelay: 0, images: 5, now: tickingClock() };
  const service = await serve({ ...own, users: users(SECRETS.service) });
  const folder = path.join(uploads, 'demo');
  const common = { faults, onRequest };
  const storage =
    kind === 's3'
      ? await serveS3({ ...common, folder, secret: SECRETS.storage, habits })
      : await serve({ ...common, host, uploads, images: 0, users: users(SECRETS.storage) });
  const settings = {
    dav: { 'upload-url': `dav+${storage.baseUrl}/upload`, 'upload-username': 'demo' },
    s3: { 'upload-url': `s3+${storage.baseUrl}/s3`, 'upload-access-key': ACCESS_KEY },
  };
  const env = {
    IMGCTL_BASE_URL: service.baseUrl,
    IMGCTL_USERNAME: 'demo',
    IMGCTL_PASSWORD: SECRETS.service,
    IMGCTL_UPLOAD_PASSWORD: SECRETS.storage,
    IMGCTL_UPLOAD_SECRET: SECRETS.storage,
    IMGCTL_UPLOAD_SESSION_TOKEN: SECRETS.session,
    IMGCTL_CONFIG_DIR: configDirectory(settings[kind]),
  };
  return {
    env,
    settings: settings[kind],
    folder,
    service,
    storage,
    work: temporaryDirectory(),
    imgctl: (command: string, changes = {}) =>
      runCli(command.split(' '), { env: { ...env, ...changes }, time: Date.now() }),
    /** All files of the storage, hidden ones too. */
    stored: () => (existsSync(folder) ? readdirSync(folder).sort() : []),
    syncs: () => service.requests.filter(({ method }) => method === 'PATCH').length,
  };
}

export const STORAGES = ['file', 'dav', 's3'] as const;

/** A user of a storage of that kind, which is the folder `folder`. */
export async function uploadUser(kind: (typeof STORAGES)[number]) {
  if (kind !== 'file') return storageUser(kind);
  const { folder, env, ...rest } = await folderUser();
  const settings = { 'upload-url': pathToFileURL(folder).href };
  return { ...rest, folder, settings, env: { ...env, ...PASSWORD } };
}

/** Starts a push of web.ova to a storage that is a script. */
export async function pushToScript(kind: 'dav' | 's3', script: Handler) {
  const { env, work, imgctl } = await storageUser(kind);
  const { baseUrl, requests } = await scriptedServer(script);
  await imgctl(`config set upload-url ${kind}+${baseUrl}/bucket`);
  const file = writeOva(work, 'web');
  const start = (options = '--no-sync', time = Date.now(), changes = {}) => {
    const io = fakeIo({ env: { ...env, ...changes }, time });
    const argv = `push ${file} --retries 0 --part-size 5M ${options}`.split(' ');
    return { io, ended: runCli(argv, io) };
  };
  const push = (changes = {}) => start(undefined, undefined, changes).ended;
  return { file, requests, imgctl, start, push };
}
