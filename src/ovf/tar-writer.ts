// Writes ustar archives, the format that the standard demands of an OVA; equal files give equal bytes.

import { BLOCK, paddedSize } from './tar-header.ts';

export interface TarMember {
  /** At most 100 bytes. */
  readonly name: string;
  readonly content: Uint8Array;
  /** The type flag (`0`, a regular file). */
  readonly type?: string;
}

export function packTar(members: readonly TarMember[]): Buffer {
  const blocks = members.flatMap((member) => {
    const padding = Buffer.alloc(paddedSize(member.content.length) - member.content.length);
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
