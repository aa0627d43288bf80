// Manifests: what is read from them, and what they reveal.

import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { FindingList } from '../../src/ovf/findings.ts';
import { parseManifest } from '../../src/ovf/manifest.ts';
import { manifestOf } from '../../src/ovf/sample.ts';
import { packTar, type TarMember } from '../../src/ovf/tar-writer.ts';
import { codes, envelope, member, readBytes, readFolder, readMembers, sample } from './harness.ts';

const SHA1 = 'a'.repeat(40);
const SHA256 = 'b'.repeat(64);
const SHA512 = 'c'.repeat(128);

describe('parseManifest', () => {
  it.each([
    [`SHA1(a.ovf)= ${SHA1}`, 'a.ovf', 'SHA1', SHA1],
    [`SHA256(a.ovf)= ${SHA256}`, 'a.ovf', 'SHA256', SHA256],
    [`SHA512(a.ovf)= ${SHA512}`, 'a.ovf', 'SHA512', SHA512],
    [`SHA256(a.ovf)=${SHA256}`, 'a.ovf', 'SHA256', SHA256],
    [`SHA256 (a.ovf) = ${SHA256}`, 'a.ovf', 'SHA256', SHA256],
    [`sha-256(a.ovf)= ${SHA256.toUpperCase()}`, 'a.ovf', 'SHA256', SHA256],
    [`\ufeffSHA1(a (1).ovf)= ${SHA1}\r\n`, 'a (1).ovf', 'SHA1', SHA1],
    [`SHA1(./a.ovf)= ${SHA1}`, 'a.ovf', 'SHA1', SHA1],
    [`\n\nSHA1(a)=b)= ${SHA1}\n\n`, 'a)=b', 'SHA1', SHA1],
  ])('reads %j', (text, name, algorithm, digest) => {
    const findings = new FindingList();
    expect(parseManifest(text, 'a.mf', findings)).toEqual({
      algorithm,
      entries: [{ name, algorithm, digest }],
    });
    expect(findings.list('a.ova')).toEqual([]);
  });

  it.each([
    ['junk', 'manifest-syntax', 'a.mf:1'],
    [`MD5(a)= ${'d'.repeat(32)}`, 'manifest-syntax', 'a.mf:1'],
    [`\nSHA256(a)= ${SHA1}`, 'manifest-syntax', 'a.mf:2'],
    [`SHA1(a)= ${SHA1}x`, 'manifest-syntax', 'a.mf:1'],
    [`SHA1()= ${SHA1}`, 'manifest-syntax', 'a.mf:1'],
    [`SHA1(${'a'.repeat(5000)})= ${SHA1}`, 'manifest-syntax', 'a.mf:1'],
    [`SHA1(a)= ${SHA1}\nSHA1(a)= ${SHA1}`, 'manifest-duplicate', 'a.mf:2'],
    [`SHA1(a)= ${SHA1}\nSHA1(./a)= ${SHA1}`, 'manifest-duplicate', 'a.mf:2'],
    [`SHA1(a)= ${SHA1}\nSHA256(b)= ${SHA256}`, 'manifest-algorithms', 'a.mf'],
  ])('complains of %j', (text, code, place) => {
    const findings = new FindingList();
    parseManifest(text, 'a.mf', findings);
    expect(findings.list('a.ova')).toMatchObject([{ code, place }]);
  });
});

describe('the manifest of a package', () => {
  const [descriptor, manifest, disk] = sample();

  /** A manifest of the sample's files with another algorithm. */
  function manifestWith(algorithm: string): TarMember {
    const lines = [descriptor, disk].map(({ name, content }) => {
      const digest = createHash(algorithm).update(content).digest('hex');
      return `${algorithm.toUpperCase()}(${name})= ${digest}\n`;
    });
    return member('vm.mf', lines.join(''));
  }

  it.each(['sha1', 'sha256', 'sha512'])('of %s digests is verified', async (algorithm) => {
    const sound = await readMembers([descriptor, manifestWith(algorithm), disk]);
    expect(sound.findings).toEqual([]);
    expect(sound.manifest?.algorithm).toBe(algorithm.toUpperCase());
    const changed = member(disk.name, disk.content);
    changed.content[70_000] = 1;
    const broken = await readMembers([descriptor, manifestWith(algorithm), changed]);
    expect(broken.findings).toMatchObject([
      { code: 'digest-mismatch', severity: 'error', place: 'vm-disk1.vmdk' },
    ]);
  });

  it('is verified of a descriptor in a folder, too', async () => {
    expect(codes(await readFolder([descriptor, manifest, disk]))).toEqual([]);
    const changed = member(descriptor.name, `${descriptor.content} `);
    expect(codes(await readFolder([changed, manifest, disk]))).toEqual(['digest-mismatch']);
  });

  it('has each file once, under whatever name', async () => {
    const digest = createHash('sha256').update('x').digest('hex');
    const lines = `${manifest.content}SHA256(sub/x)= ${digest}\nSHA256(sub//x)= ${digest}\n`;
    const files = [descriptor, member('vm.mf', lines), disk, member('sub/x', 'x')];
    expect(codes(await readFolder(files))).toEqual(['manifest-duplicate']);
  });

  it('is left alone when the archive ends in it', async () => {
    const archive = packTar([descriptor, manifest]).subarray(0, -1024 - 400);
    expect(codes(await readBytes(archive))).toEqual(['truncated-member', 'missing-file']);
  });

  it.each([
    ['no file of it', `${manifest.content}SHA1(gone.txt)= ${SHA1}`, ['digest-without-file']],
    [
      'a name outside the package',
      `${manifest.content}SHA1(../x)= ${SHA1}`,
      ['digest-without-file'],
    ],
    ['no digest of a file', `${manifest.content}`.replace(/.*vmdk.*\n/, ''), ['not-in-manifest']],
    ['nothing in it', '', ['not-in-manifest', 'not-in-manifest']],
    ['too much in it', ' '.repeat(2 * 1024 * 1024 + 1), ['manifest-too-large']],
  ])('has %s', async (_, text, expected) => {
    const summary = await readMembers([descriptor, member('vm.mf', text), disk]);
    expect(codes(summary).filter((code) => code !== 'manifest-algorithms')).toEqual(expected);
    expect(codes(await readFolder([descriptor, member('vm.mf', text), disk]))).toEqual(
      codes(summary),
    );
  });

  it.each([
    ['missing', [descriptor, disk], ['no-manifest']],
    ['named otherwise', [descriptor, member('x.mf', manifest.content), disk], ['manifest-name']],
    [
      'with a certificate',
      [descriptor, manifest, member('vm.cert', 'x'), disk],
      ['certificate-not-verified'],
    ],
    [
      'missing with a certificate',
      [descriptor, member('vm.cert', 'x'), disk],
      ['certificate-not-verified', 'certificate-without-manifest'],
    ],
  ])('may be %s', async (_, members, expected) => {
    const summary = await readMembers(members);
    expect(codes(summary)).toEqual(expected);
    expect(summary.certificate).toBe(expected[0]?.startsWith('certificate') ? 'vm.cert' : null);
  });
});

describe('the order of members', () => {
  const files =
    '<References><File ovf:id="1" ovf:href="1"/><File ovf:id="2" ovf:href="2"/></References>';
  const descriptor = member('vm.ovf', envelope(files));
  const one = member('1', 'x');
  const two = member('2', 'x');
  const contents: Record<string, TarMember> = {
    o: descriptor,
    m: member('vm.mf', manifestOf([descriptor, one, two])),
    c: member('vm.cert', 'x'),
    1: one,
    2: two,
    x: member('x', 'x'),
  };

  it.each([
    ['omc12', []],
    ['o12mc', []],
    ['om12', []],
    ['o12m', []],
    ['xom12', ['descriptor-not-first']],
    ['mo12', ['descriptor-not-first']],
    ['m12o', ['descriptor-not-first']],
    ['21mo', ['descriptor-not-first', 'member-order']],
    ['om21', ['member-order']],
    ['o1m2', ['member-order']],
    ['om12c', ['member-order']],
    ['ocm12', ['member-order']],
    ['omx12', []],
  ])('%s', async (order, expected) => {
    const members = [...order].flatMap((key) => contents[key] ?? []);
    const found = codes(await readMembers(members));
    const others = ['unreferenced-file', 'certificate-not-verified'];
    expect(found.filter((code) => !others.includes(code))).toEqual(expected);
  });
});
