// Manifests: what is read from them, and what they reveal.

import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FindingList } from '../../src/ovf/findings.ts';
import { parseManifest } from '../../src/ovf/manifest.ts';
import { readPackage } from '../../src/ovf/package.ts';
import { temporaryDirectory } from '../support/io.ts';
import { manifestOf, packTar } from '../support/package-writer.ts';
import { rows } from '../support/rows.ts';
import {
  codes,
  envelope,
  expectFindings,
  member,
  readFolder,
  readMembers,
  sample,
} from './harness.ts';

const SHA1 = 'a'.repeat(40);
const SHA256 = 'b'.repeat(64);
const SHA512 = 'c'.repeat(128);

/** Makes a line of 4,096 characters. */
const LONGEST = 'x'.repeat(4_048);

function parse(text: string) {
  const list = new FindingList();
  const manifest = parseManifest(text, 'a.mf', list);
  return { manifest, findings: list.list('a.ova') };
}

describe('parseManifest', () => {
  const SYNTAX = 'manifest-syntax a.mf:1: expected SHA256(file)= digest';
  const labelled = (written: string, algorithm = 'SHA256') =>
    `manifest-label a.mf:1: written as ${written}...; other programs may accept only ${algorithm}(file)= digest`;

  it.each([
    [`SHA1(a.ovf)= ${SHA1}`, 'a.ovf', 'SHA1', SHA1],
    [`SHA512(a.ovf)= ${SHA512}`, 'a.ovf', 'SHA512', SHA512],
    [`SHA256(a.ovf)= ${SHA256.toUpperCase()}`, 'a.ovf', 'SHA256', SHA256],
    [`SHA256(a.ovf)=  ${SHA256}`, 'a.ovf', 'SHA256', SHA256],
    [`\ufeffSHA1(a (1).ovf)= ${SHA1}\r\n`, 'a (1).ovf', 'SHA1', SHA1],
    [`SHA1(./a.ovf)= ${SHA1}`, 'a.ovf', 'SHA1', SHA1],
    [`SHA1(a\ufeff.ovf)= ${SHA1} `, 'a\ufeff.ovf', 'SHA1', SHA1],
    [`\n\nSHA1(a)=b)= ${SHA1}\n\n`, 'a)=b', 'SHA1', SHA1],
    [`SHA1(${LONGEST})= ${SHA1}`, LONGEST, 'SHA1', SHA1],
  ])('reads %j', (text, name, algorithm, digest) => {
    const manifest = { algorithm, entries: [{ name, algorithm, digest }] };
    expect(parse(text)).toEqual({ manifest, findings: [] });
  });

  it.each([
    [`SHA2-1(a)= ${SHA1}`, [SYNTAX]],
    ['junk', [SYNTAX]],
    [`xSHA1(a)= ${SHA1}`, [SYNTAX]],
    [`SHA1(${LONGEST}x)= ${SHA1}`, [SYNTAX]],
    [`\nSHA256(a)= ${SHA1}`, [SYNTAX.replace('1', '2')]],
    [`SHA1(a)= ${SHA1}x`, [SYNTAX]],
    [`SHA1()= ${SHA1}`, [SYNTAX]],
    [`SHA1(a)= ${SHA1}\nSHA1(./a)= ${SHA1}`, ['manifest-duplicate a.mf:2: a is listed twice']],
    [`SHA1(a)= ${SHA1}\nSHA256(b)= ${SHA256}`, ['manifest-algorithms a.mf: SHA1, SHA256']],
    // Labels that are read, with one warning: of OpenSSL 3, of BSD and of others.
    [`SHA256 (a)= ${SHA256}`, [labelled('SHA256 (')]],
    [`SHA256(a) = ${SHA256}`, [labelled('SHA256(')]],
    [`sha-256(a)=${SHA256}`, [labelled('sha-256(')]],
    [` SHA1(a)= ${SHA1}`, [labelled(' SHA1(', 'SHA1')]],
    [`SHA2-256(a)= ${SHA256}\nSHA2-256(b)= ${SHA256}`, [labelled('SHA2-256(')]],
  ])('reports of %j: %j', (text, expected) => {
    const found = parse(text).findings.map(
      ({ code, place, message }) => `${code} ${place}: ${message}`,
    );
    expect(found).toEqual(expected);
  });
});

describe('the manifest of a package', () => {
  const [descriptor, manifest, disk] = sample();
  const certificate = member('vm.cert', 'x');

  it.each(['sha1', 'sha256', 'sha512'])('is verified with %s', async (algorithm) => {
    const label = algorithm.toUpperCase();
    const digestOf = (file: { content: Uint8Array }) =>
      createHash(algorithm).update(file.content).digest('hex');
    const lines = [descriptor, disk].map((file) => `${label}(${file.name})= ${digestOf(file)}\n`);
    const changed = member(disk.name, disk.content);
    changed.content[70_000] = 1;
    const message = `${label} is ${digestOf(changed)}, the manifest has ${digestOf(disk)}`;
    for (const read of [readMembers, readFolder]) {
      const own = member('vm.mf', lines.join(''));
      const sound = await read([descriptor, own, disk]);
      expect(codes(sound)).toEqual([]);
      expect(sound.manifest?.algorithm).toBe(label);
      const [finding] = (await read([descriptor, own, changed])).findings;
      expect(finding).toMatchObject({ code: 'digest-mismatch', place: disk.name, message });
    }
  });

  it('is verified until the signal is aborted', async () => {
    const file = join(temporaryDirectory(), 'vm.ova');
    writeFileSync(file, packTar(sample()));
    const abort = new AbortController();
    const onProgress = () => abort.abort('enough');
    await expect(readPackage(file, { signal: abort.signal, onProgress })).rejects.toBe('enough');
  });

  const digests = `${manifest.content}`;
  it.each<[string, string[], string, BufferEncoding?]>([
    ['lists a missing file', ['digest-without-file'], `${digests}SHA1(gone.txt)= ${SHA1}`],
    ['lacks a file', ['not-in-manifest?'], digests.replace(/.*vmdk.*\n/, '')],
    ['is empty', ['not-in-manifest?', 'not-in-manifest?'], ''],
    ['is in UTF-16', ['manifest-syntax'], `\ufeff${digests}`, 'utf16le'],
    ['is in UTF-16 without a mark', ['manifest-syntax'], digests, 'utf16le'],
    ['is in Latin-1', ['manifest-syntax'], `${digests}SHA1(\u00e9.txt)= ${SHA1}`, 'latin1'],
    ['has 2 MiB', ['not-in-manifest?', 'not-in-manifest?'], ' '.repeat(2 * 1024 * 1024)],
    ['has over 2 MiB', ['manifest-too-large'], ' '.repeat(2 * 1024 * 1024 + 1)],
  ])('that %s has the findings %j', async (_, expected, text, encoding) => {
    const members = [descriptor, member('vm.mf', Buffer.from(text, encoding)), disk];
    const found = codes(await readMembers(members));
    expect(found.filter((code) => code !== 'manifest-algorithms?')).toEqual(expected);
    expect(codes(await readFolder(members))).toEqual(found);
  });

  it.each([
    [
      ['no-manifest? vm.ovf: no manifest, so the files cannot be verified'],
      null,
      [descriptor, disk],
    ],
    [
      ['manifest-name? x.mf: should be named vm.mf'],
      null,
      [descriptor, member('x.mf', digests), disk],
    ],
    [['certificate-syntax'], 'vm.cert', [descriptor, manifest, certificate, disk]],
    [
      ['certificate-without-manifest vm.cert: the manifest it signs is missing'],
      'vm.cert',
      [descriptor, certificate, disk],
    ],
  ])('may have the findings %j (certificate: %s)', async (expected, name, members) => {
    const summary = await readMembers(members);
    expectFindings(summary, expected);
    expect(summary.certificate).toBe(name);
  });
});

it('a manifest that lists one file under two names is invalid', async () => {
  const [descriptor, , disk] = sample();
  const file = member('sub/a.txt', 'x');
  const own = manifestOf([descriptor, disk, file, { ...file, name: 'sub//a.txt' }]);
  const { findings } = await readFolder([descriptor, member('vm.mf', own), disk, file]);
  const message = 'listed twice under different names';
  expect(findings).toMatchObject([{ code: 'manifest-duplicate', place: 'sub//a.txt', message }]);
});

it.each([
  ['gone', 'missing'],
  ['../x', 'must be relative and stay inside the folder'],
])('a manifest that lists %s says why that is refused', async (name, why) => {
  const [descriptor, manifest, disk] = sample();
  const own = member('vm.mf', `${manifest.content}SHA1(${name})= ${SHA1}`);
  const { findings } = await readFolder([descriptor, own, disk]);
  const found = findings.find(({ code }) => code === 'digest-without-file');
  expect(found?.message).toBe(`listed in the manifest, but ${why}`);
});

it.each([
  ['vm.ovf', 'vm.MF', 'should be named vm.mf'],
  ['vm.ovf', 'VM.mf', 'should be named vm.mf'],
  ['\u00e9.ovf', 'e\u0301.mf', 'should be named \u00e9.mf, in another Unicode form'],
])(
  'the manifest of %s may be named %s, with a warning, and list more',
  async (own, name, message) => {
    const [{ content }, , disk] = sample();
    const descriptor = member(own, content);
    const more = member('read.me', 'x');
    const manifest = member(name, manifestOf([descriptor, disk, more]));
    const members = [descriptor, manifest, disk, more];
    const found = { code: 'manifest-name', place: name, message };
    expect((await readMembers(members)).findings).toContainEqual({ ...found, severity: 'warning' });
    const summary = await readFolder(members);
    expect(summary.findings).toMatchObject([found]);
    const files = summary.files.map((file) => `${file.name}: ${file.role}`);
    const others = [`${name}: manifest`, 'vm-disk1.vmdk: referenced', 'read.me: other'];
    expect(files).toEqual([`${own}: descriptor`, ...others]);
  },
);

describe('the order of members', () => {
  const files = ['1', '2'].map((name) => `<File ovf:id="${name}" ovf:href="${name}"/>`).join('');
  const descriptor = member('vm.ovf', envelope(`<References>${files}</References>`));
  const [one, two, x] = [member('1', 'x'), member('2', 'x'), member('x', 'x')];
  const manifest = member('vm.mf', manifestOf([descriptor, one, two]));
  const certificate = member('vm.cert', 'x');
  const startsWith = (name: string) =>
    `descriptor-not-first vm.ovf: the archive starts with ${name}`;
  const misplaced = (name: string) =>
    `member-order ${name}: the files are not in the order of the references, or manifest and certificate are not together`;
  const contents = { o: descriptor, m: manifest, c: certificate, 1: one, 2: two, x };

  it.each([
    ...rows([], 'omc12', 'o12mc', 'om12', 'o12m', 'omx12'),
    ...rows([startsWith('x')], 'xom12'),
    ...rows([startsWith('vm.mf')], 'mo12', 'm12o'),
    ...rows([misplaced('2')], 'om21'),
    ...rows([misplaced('1')], 'o1m2', 'om12c'),
    ...rows([misplaced('vm.cert')], 'ocm12'),
    ...rows([startsWith('2'), misplaced('2')], '21mo'),
  ])('%s has the findings %j', async (order, expected) => {
    const members = [...order].map((key) => contents[key as keyof typeof contents]);
    const summary = await readMembers(members);
    const others = ['unreferenced-file', 'certificate-syntax'];
    const findings = summary.findings.filter(({ code }) => !others.includes(code));
    expectFindings({ ...summary, findings }, expected);
  });
});
