// Mutations of the bytes of packages: archives, descriptors, manifests and disks.

import { BLOCK, type TarMember, withChecksum } from '../support/package-writer.ts';
import { HOSTILE_TEXTS } from './json-mutations.ts';
import type { Random } from './random.ts';

type Mutation = (bytes: Buffer, random: Random) => Buffer;

const EXTREMES = [0n, 1n, 2n, 0x7fffffffn, 0xffffffffn, 2n ** 53n, 2n ** 63n - 1n, 2n ** 64n - 1n];
const NUMBERS = ['', '0', '-1', '1.5', '1e9', '007', '4294967296', '9'.repeat(25), 'byte * 2^9999'];
const NAMES = [
  'vm.ovf',
  '../x',
  '/etc/passwd',
  'a/../b',
  '%2e%2e/x',
  'CON',
  'x'.repeat(300),
  'vm.mf',
];
/** XML that has a meaning, where there may be none. */
const MARKUP = [
  ...['<', '&', ']]>', '&#0;', '&lt;', '<!-- -- -->', '<![CDATA[x]]>', '<?xml version="1.1"?>'],
  ...['<!DOCTYPE a [<!ENTITY b "c"><!ENTITY d SYSTEM "file:///etc/passwd">]>', '&b;', '&d;'],
  ...[
    '<References/>',
    '<File ovf:id="file1" ovf:href="x"/>',
    '<Item/>',
    'xsi:nil="true"',
    'xmlns=""',
  ],
  ...['<VirtualSystemCollection ovf:id="c"/>', '<x'.repeat(200), '<a>'.repeat(5_000)],
];
const DIGESTS = ['SHA1', 'SHA256', 'SHA512', 'MD5', 'SHA2-256', 'sha256'];

/** Places of the fields in the header of a sparse VMDK. */
const VMDK_FIELDS = [4, 8, 12, 20, 28, 36, 44, 56, 64, 72, 77];

/** Returns a random range, mostly a short one. */
function rangeIn(bytes: Buffer, random: Random): [start: number, end: number] {
  const start = random.below(bytes.length + 1);
  const length = random.chance(0.8) ? random.below(40) : random.below(bytes.length + 1);
  return [start, Math.min(bytes.length, start + length)];
}

function replaced(bytes: Buffer, start: number, end: number, content: Uint8Array): Buffer {
  return Buffer.concat([bytes.subarray(0, start), content, bytes.subarray(end)]);
}

/** Replaces one match of the pattern, if there is any. */
function replaceOne(bytes: Buffer, random: Random, pattern: RegExp, text: string): Buffer {
  const matches = [...bytes.toString('latin1').matchAll(pattern)];
  if (matches.length === 0) return bytes;
  const { index, 0: match } = random.pick(matches);
  return replaced(bytes, index, index + match.length, Buffer.from(text));
}

const ANY: Readonly<Record<string, Mutation>> = {
  set: (bytes, random) => {
    const changed = Buffer.from(bytes);
    if (changed.length > 0) changed[random.below(changed.length)] = random.below(256);
    return changed;
  },
  remove: (bytes, random) => replaced(bytes, ...rangeIn(bytes, random), Buffer.alloc(0)),
  cut: (bytes, random) => bytes.subarray(0, random.below(bytes.length + 1)),
  zero: (bytes, random) => {
    const [start, end] = rangeIn(bytes, random);
    return replaced(bytes, start, end, Buffer.alloc(end - start));
  },
  repeat: (bytes, random) => {
    const [start, end] = rangeIn(bytes, random);
    const times = Array(random.pick([2, 2, 2, 50])).fill(bytes.subarray(start, end));
    return replaced(bytes, start, end, Buffer.concat(times));
  },
  move: (bytes, random) => {
    const [start, end] = rangeIn(bytes, random);
    const rest = replaced(bytes, start, end, Buffer.alloc(0));
    const at = random.below(rest.length + 1);
    return replaced(rest, at, at, bytes.subarray(start, end));
  },
  insert: (bytes, random) => {
    const at = random.below(bytes.length + 1);
    return replaced(bytes, at, at, Buffer.from(random.pick([...HOSTILE_TEXTS, ...NAMES])));
  },
};

const TEXT: Readonly<Record<string, Mutation>> = {
  ...ANY,
  number: (bytes, random) => replaceOne(bytes, random, /\d+/g, random.pick(NUMBERS)),
  'quoted text': (bytes, random) =>
    replaceOne(bytes, random, /(?<=")[^"<>]*(?=")/g, random.pick([...HOSTILE_TEXTS, ...NAMES])),
  line: (bytes, random) => replaceOne(bytes, random, /[^\n]*\n/g, ''),
  encoding: (bytes, random) =>
    Buffer.from(
      random.pick(['', '\ufeff']) + bytes.toString(),
      random.pick(['utf16le', 'latin1', 'utf8'] as const),
    ),
};

const BINARY: Readonly<Record<string, Mutation>> = {
  ...ANY,
  integer: (bytes, random) => {
    const changed = Buffer.from(bytes);
    // Headers, footers and tables are at both ends.
    const near = random.below(Math.min(2_048, Math.max(1, changed.length - 8)));
    const far = random.chance(0.5) ? near : Math.max(0, changed.length - 8 - near);
    const at = random.chance(0.5) ? random.pick(VMDK_FIELDS) : far;
    const value = random.pick(EXTREMES);
    if (changed.length < at + 8) return changed;
    if (random.chance(0.5)) changed.writeBigUInt64LE(value, at);
    else changed.writeUInt32LE(Number(value & 0xffffffffn), at);
    return changed;
  },
};

/** An element without others in it. */
const ELEMENT = /<([A-Z]\w*)(?:[^<>]*\/>|[^<>]*>[^<]*<\/\1>)/g;

const XML: Readonly<Record<string, Mutation>> = {
  ...TEXT,
  markup: (bytes, random) => {
    const pattern = random.pick([/(?=<)/g, /(?<=>)/g, /(?<=")/g, / (?=\w)/g]);
    return replaceOne(bytes, random, pattern, random.pick(MARKUP));
  },
  element: (bytes, random) => replaceOne(bytes, random, ELEMENT, ''),
  copy: (bytes, random) => {
    const copy = random.pick(bytes.toString('latin1').match(ELEMENT) ?? ['']);
    return replaceOne(bytes, random, ELEMENT, copy + (random.chance(0.5) ? copy : ''));
  },
  name: (bytes, random) =>
    replaceOne(bytes, random, /(?<=<\/?)[\w:]+/g, random.pick(['x', 'ovf:File'])),
};

const MANIFEST: Readonly<Record<string, Mutation>> = {
  ...TEXT,
  algorithm: (bytes, random) => replaceOne(bytes, random, /^\w+/gm, random.pick(DIGESTS)),
  file: (bytes, random) => replaceOne(bytes, random, /(?<=\().*?(?=\))/g, random.pick(NAMES)),
};

/** A field of a tar header: where it is, and texts for it. */
const FIELDS: readonly (readonly [start: number, length: number, texts: readonly string[]])[] = [
  [0, 100, [...NAMES, 'a\u001b[2J', '']],
  [
    124,
    12,
    [
      '',
      '0',
      '77777777777\0',
      '-1',
      '\u0080\0\0\0\u00ff\u00ff\u00ff\u00ff\u00ff\u00ff\u00ff\u00ff',
    ],
  ],
  [156, 1, ['0', '1', '2', '5', 'L', 'K', 'x', 'g', 'S', '\0', '7']],
  [257, 8, ['ustar  \0', 'ustar\x0000', '']],
  [345, 155, ['..', 'x'.repeat(155), '']],
];

const ARCHIVE: Readonly<Record<string, Mutation>> = {
  ...BINARY,
  header: (bytes, random) => {
    const changed = Buffer.from(bytes);
    const start = random.below(Math.ceil(changed.length / BLOCK)) * BLOCK;
    const block = changed.subarray(random.chance(0.5) ? 0 : start).subarray(0, BLOCK);
    if (block.length < BLOCK) return changed;
    const [at, length, texts] = random.pick(FIELDS);
    block.fill(0, at, at + length).write(random.pick(texts), at, length, 'latin1');
    if (random.chance(0.9)) withChecksum(block);
    return changed;
  },
  blocks: (bytes, random) => {
    const [start = 0, end = 0] = [random.below(60), random.below(60)].sort((a, b) => a - b);
    return random.chance(0.5)
      ? replaced(bytes, start * BLOCK, end * BLOCK, Buffer.alloc(0))
      : replaced(bytes, start * BLOCK, start * BLOCK, bytes.subarray(start * BLOCK, end * BLOCK));
  },
};

/** Changes the bytes of a file in one place and returns them with the name of the change. */
export function mutateFile(name: string, bytes: Buffer, random: Random): [Buffer, string] {
  const mutations = mutationsOf(name);
  const kind = random.pick(Object.keys(mutations));
  const changed = mutations[kind]?.(bytes, random) ?? bytes;
  return [changed, `${kind} in ${name}`];
}

function mutationsOf(name: string): Readonly<Record<string, Mutation>> {
  if (name.endsWith('.ova')) return ARCHIVE;
  if (name.endsWith('.ovf')) return XML;
  return name.endsWith('.mf') ? MANIFEST : BINARY;
}

/** Changes the list of files: their order, number or names. */
export function mutateFiles(files: readonly TarMember[], random: Random): TarMember[] {
  const [first, ...others] = files;
  const { content } = random.pick(files);
  const name = random
    .pick([...NAMES, './vm.ovf', 'vm.cert', 'other.mf', 'dir/', '2.ovf'])
    .slice(0, 100);
  switch (random.pick(['order', 'drop', 'add', 'rename'] as const)) {
    case 'order':
      return [...others, ...(first ? [first] : [])];
    case 'drop':
      return files.filter((_, index) => index === 0 || random.chance(0.5));
    case 'add':
      return [...files, { name, content: random.chance(0.5) ? Buffer.alloc(0) : content }];
    case 'rename':
      return files.map((file, index) => (index === files.length - 1 ? { ...file, name } : file));
  }
}
