// Writes packages for tests: tar archives, and the sample under any name.

import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { sampleOva } from '../../src/emulator/sample-ova.ts';

export const BLOCK = 512;

export interface TarMember {
  /** At most 100 bytes. */
  readonly name: string;
  readonly content: Uint8Array;
  /** The type flag (`0`, a regular file). */
  readonly type?: string;
}

/** Writes ustar, the format that the standard demands of an OVA; equal files give equal bytes. */
export function packTar(members: readonly TarMember[]): Buffer {
  const blocks = members.flatMap((member) => {
    const padding = Buffer.alloc(-member.content.length & (BLOCK - 1));
    return [tarHeader(member), member.content, padding];
  });
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]);
}

function tarHeader({ name, content, type = '0' }: TarMember): Buffer {
  const header = Buffer.alloc(BLOCK);
  if (header.write(name, 0) > 100) throw new RangeError(`name too long for ustar: ${name}`);
  header.write('0000644\0', 100);
  header.write('0000000\0', 108);
  header.write('0000000\0', 116);
  header.write(`${octal(content.length, 11)}\0`, 124);
  header.write(`${octal(0, 11)}\0`, 136);
  header.write(type, 156);
  header.write('ustar\u000000', 257);
  return withChecksum(header);
}

export function withChecksum(header: Buffer): Buffer {
  header.fill(' ', 148, 156);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 6)}\0 `, 148);
  return header;
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0');
}

/** Writes an OVA of less than 100 kB: descriptor, SHA-256 manifest and a stream-optimised disk. */
export async function writeSampleOva(file: string, name = 'sample'): Promise<void> {
  await writeFile(file, packTar(sampleMembers(name)));
}

/**
 * Returns the files of the sample package.
 * @param name of the machine and its files
 */
export function sampleMembers(
  name: string,
): [descriptor: TarMember, manifest: TarMember, disk: TarMember] {
  const [xml, , content] = unpackTar(sampleOva());
  const disk = { name: `${name}-disk1.vmdk`, content: Buffer.from(content ?? '') };
  const text = `${xml}`.replace(/sample(?=[<"-])/g, name);
  const descriptor = { name: `${name}.ovf`, content: Buffer.from(text) };
  const manifest = Buffer.from(manifestOf([descriptor, disk]));
  return [descriptor, { name: `${name}.mf`, content: manifest }, disk];
}

/** Returns the contents of an archive in order. */
function unpackTar(archive: Buffer): Buffer[] {
  const contents: Buffer[] = [];
  for (let start = 0; archive[start] !== 0; ) {
    const size = Number.parseInt(archive.toString('latin1', start + 124, start + 135), 8);
    contents.push(archive.subarray(start + BLOCK, start + BLOCK + size));
    start += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  return contents;
}

export function manifestOf(files: readonly TarMember[]): string {
  const lines = files.map(({ name, content }) => {
    return `SHA256(${name})= ${createHash('sha256').update(content).digest('hex')}\n`;
  });
  return lines.join('');
}
