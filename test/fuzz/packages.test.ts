// Runs inspect and validate on thousands of damaged packages, and finds the smallest damage that causes a fault.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FORMAT_NAMES } from '../../src/output/formats.ts';
import { anyText } from '../output/hostile.ts';
import { fakeIo } from '../support/io.ts';
import {
  BLOCK,
  manifestOf,
  packTar,
  sampleMembers,
  withChecksum,
} from '../support/package-writer.ts';
import { parametersFor, runSoundly } from './verdict.ts';

const SAMPLE = sampleMembers('vm');

const TEXTS = [
  ...['vm.ovf', 'vm.cert', 'other.mf', '../x', '/etc/passwd', '%2e%2e/x', '0', '-1', '1.5', '007'],
  ...['9'.repeat(25), 'byte * 2^9999', '<', '&', ']]>', '&#0;', '<![CDATA[x]]>', '&b;', 'xmlns=""'],
  ...['<!DOCTYPE a [<!ENTITY d SYSTEM "file:///etc/passwd">]>', '<References/>', '<Item/>', 'gzip'],
  ...['<File ovf:id="file1" ovf:href="x"/>', '<x'.repeat(200), '<a>'.repeat(5_000), 'ovf:File'],
  ...['SHA1', 'SHA2-256', '2', '5', 'L', 'K', 'x', 'g', 'S', 'ustar  \0', '77777777777\0'],
];
const NUMBERS = [0n, 1n, 0x7fffffffn, 0xffffffffn, 2n ** 53n, 2n ** 63n - 1n, 2n ** 64n - 1n];
/** What a change replaces: numbers, values, lines, elements, names, algorithms, or nothing at such a place. */
const PATTERNS = [
  ...[/\d+/g, /(?<=")[^"<>]*(?=")/g, /[^\n]*\n/g, /<(\w+)[^<>]*(?:\/>|>[^<]*<\/\1>)/g, /^\w+/gm],
  ...[/(?=<)/g, /(?<=>)/g, /(?<=")/g, / (?=\w)/g, /(?<=<\/?)[\w:]+/g, /(?<=\().*?(?=\))/g],
];
/** Fields in the header of a sparse VMDK, and in that of a tar archive. */
const VMDK_FIELDS = [4, 8, 12, 20, 28, 36, 44, 56, 64, 72, 77];
const TAR_FIELDS = [0, 124, 156, 257, 345];

const text = fc.oneof({ arbitrary: fc.constantFrom(...TEXTS), weight: 3 }, anyText());
const bytes = fc.oneof(
  text.map((value) => Buffer.from(value)),
  fc.constantFrom(...NUMBERS).map((number) => Buffer.from(new BigUint64Array([number]).buffer)),
  fc.uint8Array({ maxLength: 8 }),
);
const at = fc.oneof(fc.nat(), fc.nat(2048), fc.constantFrom(...VMDK_FIELDS));
const length = fc.oneof(fc.nat(40), fc.constant(1e9));
const field = fc.constantFrom(...TAR_FIELDS);
const pattern = fc.constantFrom(...PATTERNS);
const change = fc.oneof(
  { arbitrary: fc.record({ pattern, match: fc.nat(), text }), weight: 3 },
  fc.record({ at, length, bytes }),
  fc.record({ block: fc.nat(60), field, bytes }),
);

type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never;

function damaged(original: Buffer, changed: Change): Buffer {
  const replace = (start: number, end: number, by: Uint8Array) =>
    Buffer.concat([original.subarray(0, start), by, original.subarray(end)]);
  if ('pattern' in changed) {
    const matches = [...original.toString('latin1').matchAll(changed.pattern)];
    const { index: start = 0, 0: found = '' } = matches[changed.match % matches.length] ?? {};
    return replace(start, start + found.length, Buffer.from(changed.text));
  }
  if ('at' in changed) {
    const start = changed.at % (original.length + 1);
    return replace(start, start + changed.length, changed.bytes);
  }
  const block = (changed.block * BLOCK) % Math.max(BLOCK, original.length);
  const start = block + changed.field;
  const result = replace(start, start + changed.bytes.length, changed.bytes);
  const header = result.subarray(block, block + BLOCK);
  if (header.length === BLOCK) withChecksum(header);
  return result;
}

const order = fc.oneof(
  fc.constant<number[]>([0, 1, 2]),
  fc.shuffledSubarray([0, 1, 2, 2], { minLength: 1 }),
);
const run = fc.record({
  /** Of the descriptor, the manifest or the disk. */
  changes: fc.array(fc.record({ file: fc.constantFrom(0, 0, 0, 1, 2), change }), { maxLength: 3 }),
  withManifest: fc.boolean(),
  /** The members in order, and changes of the whole; null for a folder. */
  archive: fc.option(fc.record({ order, changes: fc.array(change, { maxLength: 1 }) })),
  command: fc.constantFrom('validate', 'validate', 'inspect'),
  format: fc.oneof(fc.constant('json' as const), fc.constantFrom(...FORMAT_NAMES)),
  columns: fc.option(fc.constantFrom(20, 80, 200), { nil: undefined }),
});

it('inspect and validate end as specified, whatever the package holds', async () => {
  const codes = new Set<string>();
  const property = fc.asyncProperty(run, async ({ command, format, columns, ...damage }) => {
    const cwd = mkdtempSync(path.join(tmpdir(), 'imgctl-fuzz-'));
    const files = filesOf(damage);
    for (const { name, content } of files) writeFileSync(path.join(cwd, name), content);
    const argv = [command, files[0]?.name ?? '', '-o', format];
    const io = fakeIo({ cwd, ...(columns === undefined ? {} : { columns }) });
    const result = await runSoundly({ argv, format, columns }, io);
    rmSync(cwd, { recursive: true });
    expect([0, 1]).toContain(result.exitCode);
    if (command === 'inspect' || format !== 'json') return;
    const findings: Record<string, string>[] = JSON.parse(result.stdout);
    expect(findings.some(({ severity }) => severity === 'error')).toBe(result.exitCode === 1);
    for (const { code = '', message } of findings) {
      codes.add(code);
      expect(message).toMatch(/^.{1,300}$/s);
    }
  });
  await fc.assert(property, parametersFor(600));
  // With fewer the changes would be too weak.
  expect(codes.size).toBeGreaterThan(20);
});

type Damage = typeof run extends fc.Arbitrary<infer Value> ? Value : never;
type Chosen = 'command' | 'format' | 'columns';

function filesOf({ changes, withManifest, archive }: Omit<Damage, Chosen>) {
  let files = SAMPLE.map(({ name, content }, index) => {
    const own = changes.flatMap((each) => (each.file === index ? each.change : []));
    return { name, content: own.reduce(damaged, Buffer.from(content)) };
  });
  if (withManifest) {
    const content = Buffer.from(manifestOf(files.filter(({ name }) => name !== 'vm.mf')));
    files = files.map((file) => (file.name === 'vm.mf' ? { ...file, content } : file));
  }
  if (archive === null) return files;
  const packed = packTar(archive.order.flatMap((index) => files[index] ?? []));
  return [{ name: 'vm.ova', content: archive.changes.reduce(damaged, packed) }];
}
