// The time and memory of the built program for packages that hold more than any program should.

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { freshHome, startCli } from '../support/cli.ts';
import { temporaryDirectory } from '../support/io.ts';
import { packTar, sampleMembers } from '../support/package-writer.ts';
import { canMeasure, expectCheapFailure } from './measured.ts';

const MAX_MILLISECONDS_TO_END = 1_000;
/** Milliseconds after the start. */
const MOMENTS = [60, 120, 180, 300, 500];

const ENVELOPE = 'Envelope xmlns="http://schemas.dmtf.org/ovf/envelope/1"';
const around = (content: string) => `<${ENVELOPE}>${content}</Envelope>`;
const [descriptor, , disk] = sampleMembers('vm');

/** Returns the sample's disk with a directory of many tables that are all the same. */
function repeatedTables(): Buffer {
  const bytes = Buffer.from(disk.content);
  const directory = Number(bytes.readBigUInt64LE(bytes.length - 1024 + 56)) * 512;
  const tables = Buffer.alloc(4_000_000).fill(bytes.subarray(directory, directory + 4));
  bytes.writeBigUInt64LE(BigInt(Math.ceil(bytes.length / 512)), 56);
  // As many sectors as these tables have.
  bytes.writeBigUInt64LE(BigInt((tables.length / 4) * 512 * 128), 12);
  return Buffer.concat([bytes, tables]);
}

const BOMBS: Readonly<Record<string, () => Readonly<Record<string, string | Uint8Array>>>> = {
  'a descriptor nested 1,000,000 deep': () => ({
    'vm.ovf': around('<a>'.repeat(1e6) + '</a>'.repeat(1e6)),
  }),
  'a descriptor of 5,000,000 elements': () => ({ 'vm.ovf': around('<a/>'.repeat(5e6)) }),
  'a descriptor of 1,000,000 files': () => ({
    'vm.ovf': around(`<References>${'<File id="a" href="b"/>'.repeat(1e6)}</References>`),
  }),
  'an attribute of 60 MB': () => ({ 'vm.ovf': around(`<a b="${'x'.repeat(60e6)}"/>`) }),
  'an entity in an entity in an entity': () => ({
    'vm.ovf': `<!DOCTYPE a [<!ENTITY b "${'x'.repeat(1e4)}"><!ENTITY c "${'&b;'.repeat(1e4)}">]>${around('&c;')}`,
  }),
  'a manifest of 2,000,000 lines': () => ({
    'vm.ovf': descriptor.content,
    'vm.mf': `SHA256(x)= ${'0'.repeat(64)}\n`.repeat(2e6),
  }),
  'an archive of 100,000 members': () => {
    const members = Array.from({ length: 1e5 }, (_, index) => ({
      name: `${index}`,
      content: Buffer.alloc(0),
    }));
    return { 'vm.ova': packTar([descriptor, ...members]) };
  },
  'a disk of 1,000,000 equal tables': () => ({
    'vm.ovf': descriptor.content,
    [disk.name]: repeatedTables(),
  }),
};

describe.each(Object.keys(BOMBS))('a package with %s', (name) => {
  /** Returns the path of the package. */
  const write = () => {
    const folder = temporaryDirectory();
    const files = BOMBS[name]?.() ?? {};
    for (const [file, content] of Object.entries(files)) {
      writeFileSync(path.join(folder, file), content);
    }
    return path.join(folder, Object.keys(files)[0] ?? '');
  };

  it.skipIf(!canMeasure)('fails in time, with little memory (skipped without /proc)', async () => {
    const { messages } = await expectCheapFailure(name, ['validate', write()], freshHome());
    expect(messages).toEqual([expect.stringMatching(/\.ov[af] is invalid: \d+ errors?$/)]);
  });

  it('ends within a second after SIGINT at any moment', async () => {
    const file = write();
    const times: number[] = [];
    for (const moment of MOMENTS) {
      const { child, ended } = startCli(['validate', file], { env: freshHome() });
      await Promise.race([sleep(moment), ended]);
      const start = performance.now();
      child.kill('SIGINT');
      const { exitCode } = await ended;
      expect([1, 130, 'SIGINT']).toContain(child.signalCode ?? exitCode);
      if (exitCode !== 1) times.push(performance.now() - start);
    }
    expect(Math.max(0, ...times)).toBeLessThan(MAX_MILLISECONDS_TO_END);
  });
});
