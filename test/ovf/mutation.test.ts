// Random damage: every package gets a verdict in time.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type PackageSummary, readPackage } from '../../src/ovf/package.ts';
import { temporaryDirectory } from '../support/io.ts';
import { packTar } from '../support/package-writer.ts';
import { envelope, sample } from './harness.ts';

/** Far more than any of these takes. */
const IN_TIME = 5000;

function expectVerdict({ findings }: PackageSummary): void {
  for (const { severity, message, place } of findings) {
    expect(severity).toMatch(/^(error|warning)$/);
    expect(`${message}${place}`).not.toMatch(/[\u0000-\u001f]/);
    expect(message.length).toBeLessThanOrEqual(300);
  }
}

const mutation = fc.record({
  kind: fc.constantFrom('set', 'cut', 'insert', 'remove'),
  at: fc.nat(),
  value: fc.oneof(fc.uint8Array({ maxLength: 16 }), fc.uint8Array({ maxLength: 600 })),
});
const mutations = fc.array(mutation, { minLength: 1, maxLength: 4 });

type Mutation = typeof mutation extends fc.Arbitrary<infer Value> ? Value : never;

/** Damages bytes before the offset `within`. */
function mutate(bytes: Buffer, steps: readonly Mutation[], within = bytes.length): Buffer {
  return steps.reduce<Buffer>((current, { kind, at, value }) => {
    const position = at % Math.max(1, Math.min(within, current.length));
    const before = current.subarray(0, position);
    const after = current.subarray(position);
    if (kind === 'cut') return before;
    if (kind === 'insert') return Buffer.concat([before, value, after]);
    if (kind === 'remove') return Buffer.concat([before, after.subarray(value.length)]);
    return Buffer.concat([before, value, after.subarray(value.length)]);
  }, bytes);
}

async function readAgain(file: string, bytes: Buffer): Promise<PackageSummary> {
  writeFileSync(file, bytes);
  return readPackage(file, { signal: AbortSignal.timeout(IN_TIME) });
}

describe('readPackage', () => {
  // Headers and descriptor are in the first 5 kB, where damage has the most effect.
  it.each([5000, Number.POSITIVE_INFINITY])(
    'judges archives damaged up to byte %s',
    async (end) => {
      const archive = packTar(sample());
      const file = join(temporaryDirectory(), 'vm.ova');
      await fc.assert(
        fc.asyncProperty(mutations, async (steps) => {
          expectVerdict(await readAgain(file, mutate(archive, steps, end)));
        }),
        { numRuns: 150 },
      );
    },
  );

  it('judges any bytes', async () => {
    const folder = temporaryDirectory();
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 3000 }), async (bytes) => {
        const ova = await readAgain(join(folder, 'vm.ova'), Buffer.from(bytes));
        const ovf = await readAgain(join(folder, 'vm.ovf'), Buffer.from(bytes));
        expectVerdict(ova);
        expectVerdict(ovf);
        expect(ova.findings.length * ovf.findings.length).toBeGreaterThan(0);
      }),
      { numRuns: 100 },
    );
  });

  it('reports every flipped bit of a disk', async () => {
    const members = sample();
    const archive = packTar(members);
    const start = archive.length - 1024 - members[2].content.length;
    const file = join(temporaryDirectory(), 'vm.ova');
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: start, max: archive.length - 1025 }),
        fc.integer({ min: 0, max: 7 }),
        async (position, bit) => {
          const bytes = Buffer.from(archive);
          bytes[position] = (bytes[position] ?? 0) ^ (1 << bit);
          const { findings } = await readAgain(file, bytes);
          expect(findings.map(({ code }) => code)).toContain('digest-mismatch');
        },
      ),
      { numRuns: 100 },
    );
  });

  it('judges damaged descriptors', async () => {
    const xml = Buffer.from(sample()[0].content);
    const file = join(temporaryDirectory(), 'vm.ovf');
    await fc.assert(
      fc.asyncProperty(mutations, async (steps) => {
        expectVerdict(await readAgain(file, mutate(xml, steps)));
      }),
      { numRuns: 200 },
    );
  });

  it('judges descriptors with any names and values', async () => {
    const file = join(temporaryDirectory(), 'vm.ovf');
    const text = fc
      .string({ unit: 'grapheme', maxLength: 30 })
      .map((raw) => raw.replace(/[<>&"\p{C}]/gu, '?'));
    const known = fc.constantFrom('__proto__', '../x', 'a', '/dev/zero', '%00', '1e9');
    const word = fc.oneof(text, known);
    const names = fc.tuple(word, word, word, word, word, word);
    await fc.assert(
      fc.asyncProperty(names, async ([id, href, size, capacity, unit, fileRef]) => {
        const xml = envelope(`<References>
          <File ovf:id="${id}" ovf:href="${href}" ovf:size="${size}" ovf:chunkSize="${size}"/></References>
          <DiskSection><Disk ovf:diskId="${id}" ovf:fileRef="${fileRef}" ovf:capacity="${capacity}"
          ovf:capacityAllocationUnits="${unit}" ovf:format="vmdk"/></DiskSection>`);
        const summary = await readAgain(file, Buffer.from(xml));
        expectVerdict(summary);
        expect(summary.disks.map((disk) => disk.id)).toEqual([id]);
      }),
      { numRuns: 200 },
    );
  });
});
