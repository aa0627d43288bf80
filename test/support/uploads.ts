// Packages to push, and a user with a service and a folder as the storage.

import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { manifestOf, sampleMembers } from '../../src/ovf/sample.ts';
import { packTar, type TarMember } from '../../src/ovf/tar.ts';
import { temporaryDirectory } from './io.ts';
import { emulatorUser, PASSWORD } from './users.ts';

/** Returns descriptor, manifest, disk and a data file of this size, whose bytes depend on the seed. */
export function packageMembers(name: string, size = 100_000, seed = name): TarMember[] {
  const [descriptor, , disk] = sampleMembers(name);
  const data = { name: `${name}-data.iso`, content: bytesOf(size, seed) };
  const file = `<File ovf:id="file2" ovf:href="${data.name}" ovf:size="${size}"/></References>`;
  const text = descriptor.content.toString().replace('</References>', file);
  const changed = { name: descriptor.name, content: Buffer.from(text) };
  const manifest = Buffer.from(manifestOf([changed, disk, data]));
  return [changed, { name: `${name}.mf`, content: manifest }, disk, data];
}

/** Returns bytes that look random and never repeat at once. */
export function bytesOf(size: number, seed: string): Buffer {
  const blocks = Math.ceil(size / 64);
  const digests = Array.from({ length: blocks }, (_, index) =>
    createHash('sha512').update(`${seed} ${index}`).digest(),
  );
  return Buffer.concat(digests).subarray(0, size);
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

/** A user whose storage is the folder that the service reads; `stored` lists all of its files. */
export async function folderUser() {
  const uploads = temporaryDirectory();
  const folder = path.join(uploads, 'demo');
  mkdirSync(folder);
  const user = await emulatorUser({ uploads, syncDelay: 0 });
  const imgctl = (command: string, env = {}) =>
    user.imgctl(command, { env: { ...PASSWORD, ...env } });
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
