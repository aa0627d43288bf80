// Version order: series, architectures, and numbers of any length.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareVersions, describeSeries, parseVersion } from '../../src/query/version.ts';

const compare = (left: string, right: string) =>
  Math.sign(compareVersions(parseVersion(left), parseVersion(right)));

it.each([
  ['ubuntu-22.04-server-cloudimg-amd64-20231111.ova', 'ubuntu-#.#-server-cloudimg-amd64-#.ova'],
  ['Rocky-9-GenericCloud.latest.x86_64.ova', 'Rocky-#-GenericCloud.latest.x86_64.ova'],
  ['a-x86-64-b1', 'a-x86-64-b#'],
  ['arm64 aarch64 armhf X64.s390x.riscv64.2', 'arm64 aarch64 armhf X64.s390x.riscv64.#'],
  ['xamd64', 'xamd#'],
  ['amd642', 'amd#'],
  ['photon-hw11-4.0 photon-HW13-3.0', 'photon-hw11-#.# photon-HW13-#.#'],
  ['x86_64_v2-10.1 x86-64v3 amd64v3 7', 'x86_64_v2-#.# x86-64v3 amd64v3 #'],
  ['32bit 64-bit win32 WIN64 win10', '32bit 64-bit win32 WIN64 win#'],
  ['i386 i686 i786', 'i386 i686 i#'],
  ['armv6 armv7l armv7hl arm64v8 armv10', 'armv6 armv7l armv7hl arm64v8 armv#'],
  ['mips64el mips64 mips32r2 mips2', 'mips64el mips64 mips32r2 mips#'],
  ['ppc64 ppc64el powerpc64le s390 riscv64 ppc2', 'ppc64 ppc64el powerpc64le s390 riscv64 ppc#'],
  ['el7 el10_2 rhel8', 'el7 el10_# rhel#'],
  ['10G 20gb 1.5G 10GiB 20260808.1', '10G 20gb 1.5G #GiB #.#'],
  ['hw0 0G', 'hw0 0G'],
  ['12', '#'],
])('the series of %s is %s', (name, pattern) => {
  expect(describeSeries(parseVersion(name))).toBe(pattern);
});

it.each([
  ['a-8.10', 'a-8.9', 1],
  ['a-20231111', 'a-20230928', 1],
  ['a-2-1', 'a-1-9', 1],
  ['a-01', 'a-1', 0],
  ['a-99999999999999999999999998', 'a-99999999999999999999999999', -1],
  ['a-1', 'b-0', -1],
  ['a', 'a1', -1],
  ['a1', 'a1.1', -1],
  ['a-amd64-2', 'a-amd64-10', -1],
])('compares the versions of %s and %s: %i', (left, right, order) => {
  expect(compare(left, right)).toBe(order);
});

/** Names of few characters, so that series and numbers repeat. */
const anyName = fc.string({ unit: fc.constantFrom('0', '1', '9', 'a', '-', 'x64', '#', '😀') });
const number = fc.bigInt({ min: 0n, max: 10n ** 20n });
const text = fc.constantFrom('ubuntu-', '.', '-amd64-', '-server-x86_64.', '.ova', '_');

describe('version order, for any names', () => {
  it('is total: transitive and without contradictions', () => {
    fc.assert(
      fc.property(anyName, anyName, anyName, (a, b, c) => {
        expect(compare(a, b)).toBe(0 - compare(b, a));
        if (compare(a, b) <= 0 && compare(b, c) <= 0) expect(compare(a, c)).toBeLessThanOrEqual(0);
      }),
    );
  });

  it('orders a series by its first number that differs', () => {
    const parts = fc.array(fc.tuple(text, number, number), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(parts, (all) => {
        const left = all.map(([word, value]) => `${word}${value}`).join('');
        const right = all.map(([word, , value]) => `${word}${value}`).join('');
        const differing = all.find(([, value, other]) => value !== other);
        const [, first = 0n, second = 0n] = differing ?? [];
        expect(compare(left, right)).toBe(first === second ? 0 : first < second ? -1 : 1);
      }),
    );
  });
});
