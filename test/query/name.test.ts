// How a name is read: words of a query, series, and the order of versions.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PAGES } from '../../src/cli/topics.ts';
import { isHash } from '../../src/query/find-versions.ts';
import { foldCase } from '../../src/query/fold-case.ts';
import { readName } from '../../src/query/name.ts';
import { describeChoices } from '../../src/query/newest.ts';
import { Query } from '../../src/query/query.ts';
import { likeliestFirst, SeriesIndex } from '../../src/query/series.ts';
import { compareVersions, isGuess, isPreRelease } from '../../src/query/version-order.ts';
import { parseWord } from '../../src/query/word.ts';
import { rows } from '../support/rows.ts';

describe('a word', () => {
  it.each([
    [
      '8',
      'a-8 a-8.10 OL8U9-olvm-x86_64-1 rhel8 v8 R8-U1',
      'a-18 a-9.8 a-20260803 a-9.x86_64 a-9.el8 a-8abcdef',
    ],
    ['8.', 'a-8.10', 'a-8'],
    ['17.9', 'a-17.09.1 a-17-9 a-017.9', 'a-17.90 a-117.9'],
    ['17.09a', 'a-17.9a', 'a-17.09b'],
    ['9', 'a-9.1', 'a-universalk9.17.12 a-x2.9'],
    ['.8', 'a-9.8 a-9.08 a-8', 'a-18 a-9.80'],
    ['8.1', 'a-8.1 a-8-1', 'a-8.10'],
    ['8-1', 'a-8.1 a-8-1 a-8_1-3', 'a-8.10 a-10.8.1'],
    ['8_1', 'a-8.1', 'a-9.8.1'],
    ['8 1', 'a-8.1', 'a-9.8.1'],
    ['8.10', 'a-8.10-20240528.0', ''],
    ['22.04', 'ubuntu-22.04.1-amd64 ubuntu_22_04', 'ubuntu-2204'],
    ['2.04', '', 'ubuntu-22.04'],
    ['1.23', 'photon-3-kube-v1.23.16.ova', ''],
    ['5.1.0', '', 'a-5.1'],
    ['20240528', 'a-9-20240528.0.x86_64', ''],
    ['64', 'a-64.ova', 'a-9.x86_64-amd64-arm64-64bit'],
    ['3', 'a-3', 'a-7.0U3 a-7.0-SP3'],
    ['11', '', 'photon-hw11-3.0'],
    ['rocky-8', 'Rocky-8.10-GenericCloud rocky8 rocky_8', 'rocky-80'],
    ['rocky9', 'Rocky-9-Base rocky9', 'rocky-19'],
    ['2022--std', 'win-2022--std win-2022_-_std win-2022-std', 'win-20221std'],
    ['8--1', 'a-8--1 a-8.1', 'a-81'],
    ['7.0u3', 'a-7.0U3c a-7.0-U3', 'a-7.0U31'],
    ['0-server', '', 'ubuntu-20.10-server'],
    ['ROCKY', 'rocky-9', ''],
    ['x86', 'a-9.x86_64 a-9-x86', 'a-9.x864'],
    ['x86_64', 'a-9.x86_64.ova a-x86_64-v1.2', 'a-9.x86_64_v3'],
    ['9.x86_64', 'a-9.x86_64.ova', 'a-9.x86_64_v3'],
    ['x86__64', 'a-9.x86_64.ova', 'a-9.x86_64_v3'],
    ['amd64-a', 'x-amd64-a-v2', ''],
    ['009', 'a-9 a-09', 'a-90'],
    ['X86-64', 'a-9-x86-64.ova a-9.x86_64', 'a-9.x86_64_v3'],
    ['cloudimg-amd64', 'ubuntu-22.04-cloudimg-amd64-1', ''],
    ['img-amd64', 'cloudimg-amd64', ''],
    ['amd64', 'a-amd64 a-amd64-v12', 'a-amd64v3'],
    ['ppc64', 'a-9.ppc64le', 'a-9.ppc641'],
    ['arm', 'a-arm64-1', ''],
    ['hw11', 'photon-hw11-3.0', ''],
    ['hw1', '', 'photon-hw11-3.0'],
    ['32bit', 'win-32bit-10', ''],
    ['10G', 'disk-10G.ova', ''],
    ['0G', '', 'disk-10G.ova'],
    ['a383732', 'photon-3.0-a383732 photon-3.0-fa383732e photon-3.0-a38373210', ''],
    ['A383732', 'photon-3.0-a38373210', ''],
    ['c++', 'a-c++-1 A-C++', 'a-c-1'],
    ['c*+d*+', 'c*+d*+', 'ccdd'],
    ['a.b', 'a.b a-b a_-b', 'ab x-y'],
    ['a_b', 'a-b', 'x-y'],
    ['a b', 'a-b', 'x-y'],
    ['$(x)?[y]^{z|}\\', '$(x)?[y]^{z|}\\', '$(x)?[y]^{z'],
    ['x86 64', 'a-9.x86_64', 'a-9.x86_64_v3'],
    ['x8664', 'a-x8664', 'a-x8664v3'],
    ['.ova', 'web.ova', 'webova'],
    ['x86.64', 'a-9.x86_64.ova', 'a-9.x86_64_v3'],
    ['6.5', 'a-6.5g a-6.5', 'a-6.5G'],
  ])('%s matches "%s", but not "%s"', (word, matching, others) => {
    const names = `${matching} ${others}`.trim().split(' ');
    expect(names.filter((name) => parseWord(word).matches(name)).join(' ')).toBe(matching);
  });

  it('has its numbers and letters as pieces', () => {
    expect(parseWord('rocky-09.10_a b').pieces).toEqual(['rocky', '9', '10', 'a', 'b']);
  });

  it('matches names that contain its pieces in their order', () => {
    const word = fc.constantFrom('8', '22.04', 'rocky9', '7.0u3', 'x86_64', 'a', 'b-2', '.8', '9.');
    const name = fc.string({
      unit: fc.constantFrom('8', '22', '04', '9', 'rocky', 'u3', '-', '.', 'x86'),
    });
    const property = fc.property(word, name, (text, given) => {
      const { matches, pieces } = parseWord(text);
      const contains = new RegExp(
        pieces.map((each) => each.replace(/\W/g, '\\$&')).join('.*'),
        'i',
      );
      if (matches(given)) expect(given).toMatch(contains);
    });
    fc.assert(property);
  });

  it.each([
    ['web-8.1-3', '8 0.0, 8-1 0.0, v8 -, V8 -, -8 0.0, 8.1-web -, 3 0.1, web-8 -, .ova -'],
    [
      'web-3.2-v8.1-web',
      '8 0.1, 8-1 0.1, v8 0.1, V8 0.1, -8 -, 8.1-web 0.1, 3 0.0, web-8 -, .ova -',
    ],
    ['web-7.0-U3-x86_64-8', '8 1.0, 8-1 -, v8 -, V8 -, -8 1.0, 8.1-web -, 3 0.0u, web-8 -, .ova -'],
    // Not the last number, which is at another place in web-8-9.ova.
    ['web-8.ova', '8 0.0, 8-1 -, v8 -, V8 -, -8 0.0, 8.1-web -, 3 -, web-8 -, .ova -'],
  ])('means in %s the first version that it matches', (name, positions) => {
    const found = ['8', '8-1', 'v8', 'V8', '-8', '8.1-web', '3', 'web-8', '.ova'].map((word) => {
      return `${word} ${parseWord(word).positionIn(readName(name)) ?? '-'}`;
    });
    expect(found.join(', ')).toBe(positions);
  });

  it.each([
    ['8', 'web-8-U8', '0.0'],
    ['8', 'web-U8', '0.0'],
    ['8.1-web', 'a-12-SP8.1-web', '0.0sp'],
    ['64bit', 'a-64bit-7', undefined],
    ['.8-web', 'a-7.8-web', '0.0'],
    ['_8-web', 'a-7.8-web', '0.0'],
    [' 8-web', 'a-7.8-web', '0.0'],
    ['--8', 'a-7-8', '0.1'],
  ])('%s is in %s at %s', (word, name, position) => {
    expect(parseWord(word).positionIn(readName(name))).toBe(position);
  });
});

it.each([
  ['ubuntu-22.04-server-cloudimg-amd64-20231111.ova', 'ubuntu-#-server-cloudimg-amd64-#.ova'],
  ['Rocky-9-GenericCloud.latest.x86_64.ova', 'Rocky-#-GenericCloud.latest.x86_64.ova'],
  ['a-24-04.3_1.OVF', 'a-#.OVF'],
  ['a-7.0U3c-20', 'a-#'],
  ['a-SP5-b-h3-c-rc1', 'a-#-b-#-c-#'],
  ['a.b5', 'a.b#'],
  ['a-1.0.rc.2', 'a-#'],
  ['a-7.0abc', 'a-#abc'],
  ['kube-v1.2', 'kube-#'],
  [
    'arm64 aarch64 armv5te armv9 X64.s390x.riscv64.2',
    'arm64 aarch64 armv5te armv9 X64.s390x.riscv64.#',
  ],
  ['xamd64', 'xamd#'],
  ['amd642', 'amd#'],
  ['photon-hw11-4.0 photon-HW13-3.0', 'photon-hw11-# photon-HW13-#'],
  ['x86_64_v2-10.1 x86-64v3 amd64v3 7', 'x86_64_v2-# x86-64v3 amd64v3 #'],
  ['amd64-v1.2', 'amd64-#'],
  ['x86-64-v2-10.1 amd64-v1.img', 'x86-64-v2-# amd64-v1.img'],
  ['x86 ppc64le', 'x86 ppc64le'],
  ['20M 2T 4cpu 2vcpus 1core x a-7.10G', '20M 2T 4cpu 2vcpus 1core x a-#'],
  ['16c64g 4vcpu8g 4c_8gb', '16c64g 4vcpu8g 4c_8gb'],
  ['a-b3c-a-h3c-a-m3c-a-p3c-a-r3c-a-s3c', 'a-#-a-#-a-#-a-#-a-#-a-#'],
  ['a-k123s a-16.5m a-16.5t', 'a-# a-# a-#'],
  ['a-2019-cu-4 b-sp_5 c-rc 2 WASP-5', 'a-# b-# c-# WASP-#'],
  ['32bit 64-bit win10', '32bit 64-bit win#'],
  ['i386 i686', 'i386 i686'],
  ['armv6 armv7l armv7hl arm64v8', 'armv6 armv7l armv7hl arm64v8'],
  ['ppc64 ppc64el s390 riscv64', 'ppc64 ppc64el s390 riscv64'],
  ['el7 el10_2 rhel8', 'el7 el10_# rhel#'],
  ['10G 20gb 1.5G 10GiB 4vcpu 16cores x 20260808.1', '10G 20gb 1.5G 10GiB 4vcpu 16cores x #'],
  ['1.0.2g a 6.5g', '# a #'],
  ['photon-a383732-g26156e2-1234567a', 'photon-#'],
  ['lab-cad2024 web-b20240115 x-c20240115b2 a-b12345678', 'lab-cad# web-# x-# a-#'],
  ['a-2024cafe a-01dec2024 a-20240115c3 a-151046b', 'a-#cafe a-#dec# a-# a-#'],
  ['a-1-g123456a a-1-g1234567 a-1a2b3c4 a-g49ccdda a-c202887', 'a-# a-# a-# a-# a-#'],
  ['win64 linux32 win32 64bits 32_bit x32', 'win64 linux32 win32 64bits 32_bit x32'],
  ['gen2 gen10 8c16g 4c-8gb 4cpu8g', 'gen2 gen10 8c16g 4c-8gb 4cpu8g'],
  ['k8s k3s k0s i18n q4os e2e-1', 'k8s k3s k0s i18n q4os e2e-#'],
  ['w11pro-24H2', '#pro-#'],
  ['OL8U10-a 7.0-U3c-b r151046l-c v10b-d k8s1', 'OL#-a #-b #-c #-d #'],
  ['universalk9.17.12 fullk9-7 k9-8', 'universalk9.# fullk9-# k9-#'],
  ['a-1.2-patch3 a-1.2-hotfix2 a-2019-cu4 a-cu', 'a-# a-# a-# a-cu'],
  ['12', '#'],
  ['a-1-\u00b2-2', 'a-#-\u00b2-#'],
  ['16.5g 1.5gb web.ova-2', '# 1.5gb web.ova-#'],
])('the series of %s is %s', (name, pattern) => {
  expect(readName(name).pattern).toBe(pattern);
});

it.each([
  ['a-24.04.ova', 'A_24-04.3.ovf', true],
  ['debian-12', 'debian12', true],
  ['web-1', 'web-2-3', true],
  ['a-1-b', 'a-2.3-4-b', true],
  ['a-1-amd64', 'a-1-arm64', false],
  ['a-x86_64', 'a-x86-64', true],
  ['web-1-a', 'web-1-b', false],
  ['web-1-20G', 'web-1-40G', false],
  ['cafe\u0301-1', 'caf\u00e9-2', true],
  ['a\0b-1', 'a b-2', true],
  ['-', '-.ova', true],
  ['web-1.OVA', 'web-2', true],
  ['web', 'web-1', true],
  ['a-1-b', 'a-1-b-2', true],
  ['a-b-1', 'ab-1', false],
  ['a-nova', 'a-n', false],
])('%s and %s are of one series: %s', (left, right, isSame) => {
  expect(readName(left).seriesKey === readName(right).seriesKey).toBe(isSame);
});

it('the version of a name is all of its tokens', () => {
  expect(readName('app-v12-SP05_2024-amd64-2.ova').versionText).toBe('v12-SP05-2024-2');
});

it.each([
  ...rows(
    true,
    'a383732',
    'abcde12',
    'b5969303',
    'g1234567',
    'ga12345678',
    'g12345678a',
    'c2024f1a',
  ),
  ...rows(true, '1abcdef', '101dec2024', 'cad20249999', 'a1'.repeat(20)),
  ...rows(false, `${'a1'.repeat(20)}b`, 'cad202412', 'cad20240130', 'cad20240131'),
  ...rows(false, 'cad202401', 'cad2024c12'),
  ...rows(true, '12ab345', '1234567ab', 'b12345678a', 'ab12345678', 'a1cad2024'),
  ...rows(false, 'g12345678', '1234567', '151046b', 'b12345678', 'cad2024', '01dec2024', 'a12345'),
  ...rows(
    false,
    '2024cafe',
    '20240115c3',
    'abcdefa',
    'xa383732',
    'a383732x',
    'gg383732',
    'a3837g32',
  ),
])('isHash of %s is %s', (text, expected) => {
  expect(isHash(text)).toBe(expected);
});

it.each([
  ['ΣÀς', 'σàσ'],
  ['\u{10400}\u0130\u{10400}À', '\u{10428}\u0130\u{10428}à'],
])('foldCase of %s is %s', (text, expected) => {
  expect(foldCase(text)).toBe(expected);
});

describe('of two names of a series', () => {
  const compare = (left: string, right: string) => {
    const [one, other] = [readName(left).compared, readName(right).compared];
    return { order: compareVersions(one, other), isUnclear: isGuess(one, other) };
  };

  it.each([
    ['a-8.10', 'a-8.9'],
    ['a-20231111', 'a-20230928'],
    ['a-2-1', 'a-1-9'],
    ['a-99999999999999999999999999', 'a-99999999999999999999999998'],
    ['a-1.1', 'a-1'],
    ['a-1-1', 'a-1'],
    ['a-amd64-10', 'a-amd64-2'],
    ['a-1.2.3-50', 'a-1.2-100'],
    ['a-12.1-v1', 'a-12-v3'],
    ['a-12.1-V1', 'a-12-V3'],
    ['a-16.1.4.1-0.0.5', 'a-16.1.4-0.0.22'],
    ['a-7.0U3c', 'a-7.0U3'],
    ['a-7.0U3n', 'a-7.0U3c'],
    ['a-12-SP10', 'a-12-SP9'],
    ['a-20.4R3-S2', 'a-20.4R3'],
    ['a-1.0', 'a-1.0-rc.2'],
    ['a-1.0-rc1', 'a-1.0-beta2'],
    ['a-1.0beta', 'a-1.0alpha3'],
    ['a-100-1', 'a-99-1'],
    ['a-2', 'a-1-a383732'],
    ['a-2019-cu14', 'a-2019'],
    ['a-12.4-patch3', 'a-12.4-patch1'],
    ['a-5.2.1hotfix2', 'a-5.2.1'],
    ['a-1-b-2', 'a-1-b'],
    ['a-8.2.1-20231130', 'a-8.2.1'],
    ['a-3.20.1-r0', 'a-3.20-r5'],
    ['a-3.0.1-26156e2', 'a-3.0-a383732'],
    ['a-7.0c-SP1', 'a-7.0b-SP1'],
    ['a-7.0b-SP1', 'a-7.0'],
    ['a-1.0.64', 'a-1.0.32'],
    ['a-6.5g', 'a-6.5f'],
    ['a-2.5-1.5g', 'a-2.4-1.5g'],
    ['a-1.3.5g-1', 'a-1.2.5g-2'],
    ['a-2.5g2-1', 'a-1.5g2-2'],
    ['a-1202401', 'a'],
    ['a-2024011', 'a'],
    ['a-100', 'a-9'],
    ['a-1.100', 'a-1.9'],
    ['a-2', 'a-1-3'],
  ])('%s is newer than %s', (newer, older) => {
    expect(compare(newer, older)).toEqual({
      order: expect.toSatisfy((n) => n > 0),
      isUnclear: false,
    });
    expect(compare(older, newer)).toEqual({
      order: expect.toSatisfy((n) => n < 0),
      isUnclear: false,
    });
  });

  it.each([
    ['a-01', 'a-1'],
    ['a-1-a383732', 'a-1-26156e2'],
    ['a-1-A383732', 'a-1-26156E2'],
    ['a-1-a383732', 'a-1'],
    ['a-1-a1b2c2024', 'a-1'],
    ['a-v1', 'a-1'],
    ['a-V1', 'a-1'],
    ['a-12-sp5', 'a-12sp5'],
    ['a-12-sp_5', 'a-12sp5'],
    ['a-12-sp 5', 'a-12sp5'],
  ])('neither %s nor %s is newer', (one, other) => {
    expect(compare(one, other)).toEqual({ order: 0, isUnclear: false });
  });

  it.each([
    ['a-1-1234567', 'a-1-a383732'],
    ['a-1.0b2', 'a-1.0'],
    ['a-1.2.4', 'a-1.2-3'],
    ['a-20240115', 'a'],
    ['a-7.0.1', 'a-7.0U3'],
    ['a-15.1X49', 'a-15.1R7'],
    ['a-64', 'a-32'],
    ['a-2.5g-1', 'a-1.5g-2'],
    ['a-20.5g-1', 'a-10.5g-2'],
    ['a-1909', 'a-21H2'],
    ['a-992', 'a-9.16'],
    ['a-12_sp3', 'a-12_2021'],
    ['a-1.0b1', 'a-1.0a2'],
    ['a-971-4', 'a-9-23-1'],
    ['a-1.0a1', 'a-1.0rc1'],
    ['a-1.0-M1', 'a-1.0'],
    ['a-10.2.3-h4', 'a-10.2.3-c12'],
    ['a-20141129', 'a-2211'],
    ['a-992', 'a-9.16.1'],
    ['a-992', 'a-9-16-1'],
    ['a-1.2.4-a383732', 'a-1.2-3'],
    ['a-12sp3', 'a-12-2021'],
    ['a-1.2v3', 'a-1.2-v4'],
    ['a-7.0.0-U1', 'a-7.0-U3'],
    ['a-12-SP3', 'a-SP3'],
    ['a-11-M20-cu1', 'a-11-cu1'],
    ['a-2024-01-15', 'a'],
    ['a-202401', 'a'],
    ['a-15.01.2024', 'a'],
    ['a-12-b-20240115-7', 'a-12-b'],
    ['a-8-64', 'a-8-32'],
    ['a-7.0-SP2', 'a-7.0b-SP1'],
    ['a-2-1.5g', 'a-2'],
    ['a-2.1', 'a-1.5g-2.2'],
    ['a-6.7a', 'a-6.5g'],
    ['a-7.0-SP2', 'a-7.0b'],
    ['a-992.1', 'a-9'],
    ['a-992-1', 'a-9'],
    ['a-992', 'a-9.16-1'],
    ['a-15.1X', 'a-15.1R7'],
    ['a-2.5m-1', 'a-1.5m-2'],
    ['a-2.5t-1', 'a-1.5t-2'],
    ['a-202401151356', 'a'],
  ])('%s is newer than %s, but that is a guess', (newer, older) => {
    const found = [compare(newer, older), compare(older, newer)];
    const isUnclear = found.every((each) => each.isUnclear);
    expect(found.map(({ order }) => Math.sign(order))).toEqual([1, -1]);
    expect(isUnclear).toBe(true);
  });

  it.each([
    [
      'a-2.0-rc1 a-rc1-2024 a-2024-b-1.0b2 a-2.0beta a-3.0.0b2 a-3.0.0c2 a-6.1.0a3 a-11.0.0-M20 a-1.0-alpha.1 a-2b1',
      true,
    ],
    ['a-2.0 a-1.0.2g a-b5-1 a-159-3.m10 a-10.2-h4 a-10.2R3 kvm-b289 a-2b', false],
  ])('%s are pre-releases: %s', (names, isPre) => {
    const others = names
      .split(' ')
      .filter((name) => isPreRelease(readName(name).compared) !== isPre);
    expect(others).toEqual([]);
  });

  it('the order is transitive and without contradictions', () => {
    const unit = fc.constantFrom(
      '0',
      '1',
      '9',
      '2024',
      'rc1',
      'b',
      'SP2',
      '-',
      '.',
      'a383732',
      'u3',
    );
    const name = fc.string({ unit, maxLength: 6 }).map((text) => `a-${text}`);
    fc.assert(
      fc.property(name, name, name, (a, b, c) => {
        const order = (left: string, right: string) => Math.sign(compare(left, right).order);
        expect(order(a, b)).toBe(0 - order(b, a));
        if (order(a, b) <= 0 && order(b, c) <= 0) expect(order(a, c)).toBeLessThanOrEqual(0);
      }),
      { numRuns: 1000 },
    );
  });
});

it.each([
  ['digits', '1'],
  ['dots', '.'],
  ['letters', 'a'],
  ['dashes', '-'],
  ['dates', '1.2.2024-'],
  ['hexadecimal digits', 'a1'],
  ['versions', '1.2rc3-'],
  ['sizes', '4vcpu '],
])('a name of 100 KB of %s is read, compared and matched in linear time', (_, text) => {
  const [one, other] = ['x', 'y'].map((end) => `a-${text.repeat(100_000 / text.length)}${end}`);
  const index = new SeriesIndex<{ name: string }>(['8']);
  const query = new Query({ words: ['a8', '8', 'a', '-8'] });
  for (const name of [one, other].map(String)) {
    query.matches({ name });
    index.add({ name });
  }
  expect(index.series().length).toBeGreaterThan(0);
});

/** Names of few parts, so that numbers repeat at different places. */
const number = fc.constantFrom('8', '9', '18', '8.10', '9.8', '20260808', '20260808.1');
const textWord = fc.constantFrom('x86_64', 'x86_64_v3', 'amd64', 'el8', 'hw8', '64bit', '8G');
const anyName = fc
  .tuple(fc.constantFrom('web', 'db'), number, textWord, number)
  .map((parts) => parts.join('-'));
const names = fc.uniqueArray(anyName, { minLength: 1, maxLength: 12 });

function choose(all: readonly string[], words: readonly string[]) {
  const index = new SeriesIndex<{ name: string }>(words);
  const query = new Query({ words });
  for (const name of all) if (query.matches({ name })) index.add({ name });
  return index.series().map(({ pattern, choices, doubt }) => {
    return { pattern, newest: choices.map(({ name }) => name), doubt };
  });
}

it('the choices of several series have one order, whatever comes first', () => {
  const [a, b, c] = [{ name: 'a-5.12.24' }, { name: 'b-28.02.24' }, { name: 'c-6.1.1' }] as const;
  for (const images of [
    [a, b, c],
    [b, c, a],
    [c, a, b],
  ] as const) {
    expect(likeliestFirst<{ name: string }>(images)).toEqual([b, c, a]);
  }
});

it('choices of one name have - for what they lack', () => {
  expect(describeChoices([{ id: 1, name: 'a' }, { name: 'a' }])).toEqual([
    '1  -  (-)',
    '-  -  (-)',
  ]);
});

describe('the newest image for a word of digits', () => {
  it('has a number that is the word, or begins with it and a dot', () => {
    fc.assert(
      fc.property(names, fc.constantFrom('8', '9', '8.1', '18', '20260808'), (all, word) => {
        for (const name of choose(all, [word]).flatMap(({ newest }) => newest)) {
          const [, first = '', , second = ''] = name.split('-');
          expect([first, second].some((each) => `${each}.`.startsWith(`${word}.`))).toBe(true);
        }
      }),
    );
  });

  it.each(['8', '8.1', '8-1', 'v8'])('is left open if %s is at different positions', (word) => {
    const doubt = `${word} matches different numbers in app-#`;
    expect(choose(['app-v8.1-3', 'app-9-v8.1'], [word])).toMatchObject([{ doubt }]);
  });

  it('is left open between the newest of each position, the newest first', () => {
    const all = ['app-9-8', 'app-8-1', 'app-8-0', 'app-7-1-8'];
    const newest = ['app-9-8', 'app-8-1', 'app-7-1-8'];
    for (const names of [all, all.toReversed()])
      expect(choose(names, ['8'])).toMatchObject([{ newest }]);
  });

  it.each([
    ['app-8.0-2', ['app-8.2-1']],
    ['app-6-8', ['app-7-8']],
    ['app-5-5', []],
    ['db-8', []],
  ])('at the place that it has in %s is one of %j', (name, newest) => {
    const index = new SeriesIndex<{ name: string }>(['8']);
    for (const each of ['app-8.1-3', 'app-8.2-1', 'app-7-8']) index.add({ name: each });
    expect(index.newestLike({ name }).map((image) => image.name)).toEqual(newest);
  });

  it('stays the same if an image with another text word is added', () => {
    fc.assert(
      fc.property(names, textWord, textWord, number, (all, wanted, other, version) => {
        fc.pre(wanted !== other);
        const words = ['web', wanted];
        const added = `web-${version}-${other}-99999999`;
        expect(choose([...all, added], words)).toEqual(choose(all, words));
      }),
    );
  });
});

describe('dates with the year at their end', () => {
  /** Returns the newest of these names in both orders, and why each of several could be. */
  const newestOf = (names: readonly string[]) =>
    [names, names.toReversed()].map((all) => {
      const [series] = choose(all, []);
      return { newest: series?.newest, doubt: series?.doubt };
    });

  it.each([
    ['app-31-12-2023.ova', 'app-01-02-2024.ova'],
    ['a-01.02.2024', 'a-03.01.2024'],
    ['a-31012024', 'a-01022024'],
    ['a-12-2023', 'a-1-2024'],
    ['a-122023', 'a-012024'],
    ['a-W52-2023', 'a-W01-2024'],
    ['a-4Q2023', 'a-1Q2024'],
    ['a-31-01-2024-12-30', 'a-01-02-2024-08-15'],
    ['a-31-01-2024-01', 'a-01-02-2024-01'],
    ['a-31-01-2024-1230', 'a-01-02-2024-0800'],
    ['a-12-2023-01', 'a-01-2024-02'],
    ['a-q4fy29', 'a-q1fy39'],
    ['a-kw52-23', 'a-kw02-24'],
    ['a-w5223', 'a-w0124'],
    ['a-H2_23', 'a-H1_24'],
    ['a-4q15', 'a-1q24'],
    ['a-week52-23', 'a-week02-24'],
    ['a-q42023', 'a-q12024'],
    ['a-4Q2024', 'a-1Q25'],
    ['a-05.12.23', 'a-01.02.2024'],
    ['a-kw53-2024', 'a-kw01-25'],
    ['a-28.02.29', 'a-15.03.30'],
    ['a-05_12_24', 'a-02_01_25'],
    ['31.12.2023-a', '01.02.2024-a'],
    ['28.02.29-a', '15.03.30-a'],
    ['a-092023', 'a-012024'],
    ['a-122023', 'a-102024'],
    ['a-12_2023', 'a-01_2024'],
    ['a-12.2023', 'a-01.2024'],
    ['app4Q2023', 'app1Q2024'],
    ['a-kw-52-23', 'a-kw-02-24'],
    ['a-H_2_23', 'a-H_1_24'],
    ['a-w52.23', 'a-w02.24'],
    ['a-q4fy2023', 'a-q1fy2024'],
    // A month is older than a day of the next one.
    ['a-30-11-2023', 'a-12-2023'],
    ['a-kw50-23', 'a-kw02-24'],
    ['a-4q19', 'a-1q20'],
    // 5.01.24 may be a version, but neither 13.12.23 nor 1.02.2024.
    ['a-13.12.23', 'a-5.01.24'],
    ['a-19.12.23', 'a-5.01.24'],
    ['a-20.12.23', 'a-5.01.24'],
    ['a-31.12.23', 'a-5.01.24'],
    ['a-5.12.23', 'a-1.02.2024'],
    // The second date of a name decides.
    ['a-01-02-2024-b-31-12-2023', 'a-01-02-2024-b-01-02-2024'],
    ['a-28.02.24-b-31.03.24', 'a-28.02.24-b-01.03.25'],
    ['a-kw01-24-b-kw52-23', 'a-kw01-24-b-kw01-24'],
  ])('leave it open which of %s and %s is newer', (...names) => {
    const doubt = expect.stringMatching(/^the dates in \S*#\S* cannot be compared$/);
    const open = { newest: [expect.anything(), expect.anything()], doubt };
    expect(newestOf(names)).toEqual([open, open]);
  });

  it.each([
    // The newest with the day first, with the month first, and the one with the greatest month.
    ['01_31_2024 02_01_2024 03_01_2023', '01_31_2024 02_01_2024 03_01_2023'],
    ['05.06.2024 07.03.2024 12.12.2023 01.01.2024', '05.06.2024 07.03.2024 12.12.2023'],
    ['01-31-2024 03-31-2024 04-02-2023', '03-31-2024 04-02-2023'],
    // No month is 31 or 13.
    ['13-01-2023 12-05-2024 05-12-2024', '05-12-2024 13-01-2023'],
    ['31-01-2024 15-06-2024 12-06-2024', '15-06-2024 31-01-2024'],
    ['31-01-2023 30-01-2024 02-05-2024', '02-05-2024 31-01-2023'],
    ['31-12-2023 12-31-2024', '12-31-2024 31-12-2023'],
    ['12-2023 1-2024 2-2024', '12-2023 2-2024'],
    ['31-12-2022 12-2023 15-12-2023', '15-12-2023 31-12-2022'],
  ])('leave open which of %s is the newest: %s', (texts, choices) => {
    for (const { newest } of newestOf(texts.split(' ').map((text) => `a-${text}`))) {
      expect(
        newest
          ?.toSorted()
          .map((name) => name.slice(2))
          .join(' '),
      ).toBe(choices);
    }
  });

  it.each([
    ['a release and a date', ['a-24-04-2024-05-01', 'a-22-04-2024-06-01']],
    ['if the order is the same', ['app-05-06-2024.ova', 'app-01-02-2023.ova']],
    ['if no month is 13', ['a-02-12-2024', 'a-01-13-2024']],
    ['if no month is 31', ['a-2_5_2024', 'a-1_31_2024']],
    ['versions such as 12.12.23', ['a-12.12.23', 'a-5.01.24']],
    ['versions such as 33.1.23', ['a-33.1.23', 'a-32.1.24']],
    ['numbers', ['CentOS-8.4.2105.ova', 'CentOS-8.3.2011.ova', 'CentOS-7.9.2009.ova']],
    ['without such a day', ['app-33.13.2021', 'app-13.14.2020']],
    ['a number before .', ['a-1.28.02.24', 'a-1.15.03.25']],
    ['a number after .', ['a-28.02.24.1', 'a-15.03.25.2']],
    ['a number after -', ['a-28.02.24-1', 'a-15.03.25-2']],
    ['a number after _', ['a-28.02.24_1', 'a-15.03.25_2']],
    ['digits before', ['a-131.01.2024', 'a-130.02.2025']],
    ['digits after', ['a-31.01.20241', 'a-05.02.20252']],
    ['a letter before', ['a-xq4-23', 'a-xq1-24']],
    ['a letter after', ['a-q4fy23x', 'a-q1fy24x']],
    ['month 13', ['a-132023', 'a-012024']],
    ['month 0', ['a-1-2023', 'a-0-2024']],
    ['week 54', ['a-w54-23', 'a-w01-24']],
    ['years before 15', ['a-4q14', 'a-1q15']],
    ['years after 39', ['a-4q39', 'a-1q40']],
    ['versions such as 10.1.24', ['tomcat-10.1.24', 'tomcat-10.1.19', 'tomcat-9.1.29']],
    ['if others have no date', ['a-28.02.24', 'a-15.03.25', 'a-14.2']],
    ['halves of a year', ['a-22H2', 'a-21H2']],
    ['beyond 2099', ['a-31-01-2100', 'a-01-02-2101']],
    ['with the year first', ['a-2024-01-31', 'a-2023-12-01']],
    ['months with the year first', ['a-202101', 'a-202012']],
  ])('are compared from the left as they are: %s', (_, names) => {
    const first = { newest: names.slice(0, 1), doubt: undefined };
    expect(newestOf(names)).toEqual([first, first]);
  });
});

it.each([
  ['a-999 a-1000 a-10000', 'a-10000'],
  ['a-#97 a-#1034 a-#998', 'a-#1034'],
  ['a-1.999 a-1.10000 a-1.5000', 'a-1.10000'],
  ['a-32 a-48 a-64', 'a-64'],
  ['a-999 a-1000 a-9999.1 a-10000', 'a-10000'],
  ['a-999 a-10000', undefined],
  ['a-1909 a-999 a-21H2', undefined],
  ['a-9-23-1 a-971-4 a-984-15 a-992', undefined],
  ['a-9 a-10 a-2000', undefined],
])('of %s, numbers of different length that others connect, the newest is %s', (text, newest) => {
  const all = text.split(' ');
  for (const names of [all, all.toReversed()]) {
    const [series] = choose(names, []);
    expect(series?.doubt === undefined ? series?.newest[0] : undefined).toBe(newest);
  }
});

it('of several rivals of the newest image, the newest is a choice', () => {
  const newest = ['a-1909', 'a-21H2'];
  expect(choose(['a-9R1-1', 'a-21H2', 'a-1909'], [])).toMatchObject([{ newest }]);
});

describe('help choosing', () => {
  const terms = PAGES.choosing.flatMap((block) =>
    typeof block === 'object' && 'terms' in block ? block.terms : [],
  );
  const pairs = terms.flatMap(([term]) => {
    const [, one, other] = /^(\S+), (\S+)$/.exec(term) ?? [];
    return one && other ? [[one, other]] : [];
  });

  it.each(pairs)('names %s and %s, of which images latest chooses none', (...names) => {
    const [series] = choose(
      names.map((name) => (/^\d/.test(name) ? `a-${name}` : name)),
      [],
    );
    expect(series).toMatchObject({ doubt: expect.any(String) });
  });

  it.each(terms.filter(([, meaning]) => meaning.startsWith('is newer than ')))(
    'says truly that %s %s',
    (newer, meaning) => {
      const names = [newer, meaning.slice('is newer than '.length)].map((text) => `a-${text}`);
      expect(choose(names, [])).toMatchObject([{ newest: [`a-${newer}`], doubt: undefined }]);
    },
  );

  it.each(terms.filter(([, meaning]) => meaning.startsWith('matches ')))(
    'says truly that %s %s',
    (word, meaning) => {
      const [matching, others] = meaning
        .slice('matches '.length)
        .split(', not ')
        .map((list) => list.split(/, | and | or /).map((text) => `a-${text}`));
      const { matches } = parseWord(word);
      expect(matching?.every(matches)).toBe(true);
      expect(others?.some(matches)).toBe(false);
    },
  );
});
