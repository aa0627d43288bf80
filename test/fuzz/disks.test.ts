// Damages disks without a manifest at random places: what gzip or qemu-img finds, validate finds too.

import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readPackage } from '../../src/ovf/package.ts';
import { type DiskOptions, packageOf, sample } from '../ovf/harness.ts';
import { temporaryDirectory } from '../support/io.ts';
import { missing, skipped } from '../support/requirements.ts';
import { bytesOf } from '../support/uploads.ts';
import { parametersFor } from './verdict.ts';

const SIZE = 2 ** 20;
const RAW = Buffer.concat([bytesOf(SIZE / 2, 'disk'), Buffer.alloc(SIZE / 2, 'text')]);
const QEMU = ['convert', '-f', 'raw', '-O', 'vmdk', '-o', 'subformat=streamOptimized'];
const SAMPLE_SIZE = 4 * SIZE;
const TO_NULL = ['--target-image-opts', `driver=null-co,size=${SAMPLE_SIZE}`];
const readWithQemu = (file: string) => ['convert', '-n', '-f', 'vmdk', file, ...TO_NULL];

interface Kind {
  readonly name: string;
  readonly options: DiskOptions;
  make(folder: string, file: string): void;
  /** Fails if the disk is damaged. */
  readonly program: string;
  argv(file: string): string[];
}

const KINDS: readonly Kind[] = [
  {
    name: 'a gzip disk',
    options: { gzip: true, format: 'raw', capacity: SIZE },
    make: (_folder, file) => writeFileSync(file, gzipSync(RAW)),
    program: 'gzip',
    argv: (file) => ['-t', file],
  },
  {
    name: 'a stream-optimised disk',
    options: { capacity: SIZE },
    make(folder, file) {
      const raw = path.join(folder, 'raw');
      writeFileSync(raw, RAW);
      execFileSync('qemu-img', [...QEMU, raw, file]);
    },
    program: 'qemu-img',
    argv: readWithQemu,
  },
  {
    name: 'a stream-optimised disk with a footer',
    options: { capacity: SAMPLE_SIZE },
    make: (_folder, file) => writeFileSync(file, sample()[2].content),
    program: 'qemu-img',
    argv: readWithQemu,
  },
];

const damage = fc.oneof(
  fc.record({ at: fc.nat(), flip: fc.integer({ min: 1, max: 255 }) }),
  fc.record({ at: fc.nat(), run: fc.uint8Array({ minLength: 2, maxLength: 100 }) }),
  fc.record({ cut: fc.nat() }),
);

type Damage = typeof damage extends fc.Arbitrary<infer Value> ? Value : never;

function damaged(whole: Buffer, how: Damage): Buffer {
  if ('cut' in how) return whole.subarray(0, how.cut % whole.length);
  const bytes = Buffer.from(whole);
  const at = how.at % whole.length;
  if ('flip' in how) bytes[at] = (bytes[at] ?? 0) ^ how.flip;
  else bytes.set(how.run.subarray(0, whole.length - at), at);
  return bytes;
}

describe.each(KINDS)('$name', ({ options, make, program, argv }) => {
  it.skipIf(missing(program))(
    `is invalid whenever ${program} says so${skipped(missing(program))}`,
    async () => {
      const folder = temporaryDirectory();
      const [descriptor, disk] = [path.join(folder, 'vm.ovf'), path.join(folder, 'disk.gz')];
      make(folder, disk);
      const whole = readFileSync(disk);
      const [{ content }] = packageOf(whole, { name: 'disk.gz', ...options });
      writeFileSync(descriptor, content);
      // QEMU refuses a disk that is larger than the target.
      const isValid = async () =>
        (await readPackage(descriptor)).findings.every(
          ({ code, severity }) => severity !== 'error' && code !== 'capacity-mismatch',
        );
      const judge = () => spawnSync(program, argv(disk)).status === 0;
      expect({ own: await isValid(), judge: judge() }).toEqual({ own: true, judge: true });
      const property = fc.asyncProperty(damage, async (how) => {
        writeFileSync(disk, damaged(whole, how));
        if (!judge()) expect(await isValid()).toBe(false);
      });
      await fc.assert(property, parametersFor(40));
    },
  );
});
