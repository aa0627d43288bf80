// Packages of real exporters, if they are beside the project: what is read from them, and damage that is found.

import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readPackage } from '../../src/ovf/package.ts';
import { packTar, type TarMember } from '../../src/ovf/tar.ts';
import { FIXTURES } from '../support/files.ts';
import { codes, expectCutsFound, member, readMembers } from './harness.ts';

const absent = !existsSync(FIXTURES);
const MIB = 1024 ** 2;
const STREAM = 'http://www.vmware.com/interfaces/specifications/vmdk.html#streamOptimized';

/** Members of an OVA in the order of the standard. */
const PACKAGES = {
  ubuntu: ['ubuntu.2.0.ovf', 'ubuntu.2.0.mf', 'ubuntu.2.0-disk1.vmdk'],
  input: ['input.ovf', 'input.mf', 'input.vmdk', 'input.iso', 'sample_cfg.txt'],
} as const;

function membersOf(name: keyof typeof PACKAGES): TarMember[] {
  return PACKAGES[name].map((file) => member(file, readFileSync(resolve(FIXTURES, file))));
}

describe.skipIf(absent)('readPackage of real packages (skipped without ../shared/fixtures)', () => {
  it('reads OVF 2.0 of VirtualBox', async () => {
    const summary = await readPackage(resolve(FIXTURES, 'ubuntu.2.0.ovf'));
    expect(summary.findings).toEqual([]);
    expect(summary).toMatchObject({
      kind: 'ovf',
      ovfVersion: '2.0',
      products: [],
      systems: [
        {
          name: 'ubuntu',
          operatingSystem: 'Ubuntu_64',
          hardwareFamilies: ['virtualbox-2.2'],
          hardware: { cpus: 1, memory: 512 * MIB, disks: ['vmdisk1'], networks: ['NAT'] },
          options: [],
        },
      ],
      disks: [
        { id: 'vmdisk1', capacity: 8192 * MIB, format: STREAM, file: 'ubuntu.2.0-disk1.vmdk' },
      ],
      networks: [{ name: 'NAT', description: 'Logical network used by this appliance.' }],
      manifest: { algorithm: 'SHA256' },
    });
    expect(summary.files.map(({ name, size }) => [name, size])).toEqual([
      ['ubuntu.2.0.ovf', 12_015],
      ['ubuntu.2.0.mf', 185],
      ['ubuntu.2.0-disk1.vmdk', 68_608],
    ]);
  });

  it('reads OVF 1.0 of Cisco with deployment options', async () => {
    const summary = await readPackage(resolve(FIXTURES, 'input.ovf'));
    expect(summary.findings).toEqual([]);
    expect(summary.products).toEqual([
      {
        product: 'PRODUCT',
        vendor: 'VENDOR',
        version: 'DEV',
        fullVersion: 'DEVELOPMENT IMAGE',
        properties: 10,
      },
    ]);
    expect(summary.deploymentOptions.map((option) => [option.id, option.default])).toEqual([
      ['1CPU-1GB-1NIC', false],
      ['2CPU-2GB-1NIC', false],
      ['4CPU-4GB-3NIC', true],
    ]);
    const hardware = (size: number, adapters: number) => ({
      cpus: size,
      memory: size * 1024 * MIB,
      disks: ['vmdisk1'],
      networks: Array.from({ length: adapters }, () => 'VM Network'),
    });
    expect(summary.systems).toMatchObject([
      {
        name: 'test',
        hardware: hardware(4, 3),
        options: [
          { option: '1CPU-1GB-1NIC', hardware: hardware(1, 1) },
          { option: '2CPU-2GB-1NIC', hardware: hardware(2, 1) },
          { option: '4CPU-4GB-3NIC', hardware: hardware(4, 3) },
        ],
      },
    ]);
    expect(summary.disks).toMatchObject([{ capacity: 1024 * MIB, file: 'input.vmdk' }]);
    expect(summary.manifest?.algorithm).toBe('SHA1');
  });

  it('reads OVF 1.0 of VMware without a manifest', async () => {
    const summary = await readPackage(resolve(FIXTURES, 'vmware.ovf'));
    expect(codes(summary)).toEqual(['no-manifest?']);
    expect(summary.ovfVersion).toBe('1.x');
    expect(summary.systems).toMatchObject([
      {
        name: 'vmw',
        operatingSystem: 'Red Hat Enterprise Linux 6 (64-bit)',
        hardware: { cpus: 2, memory: 1536 * MIB, disks: ['vmdisk1'] },
      },
    ]);
    expect(summary.systems[0]?.hardware.networks).toHaveLength(4);
  });
});

describe.skipIf(absent).each(['ubuntu', 'input'] as const)(
  'an archive of %s (skipped without ../shared/fixtures)',
  (name) => {
    const members = () => membersOf(name);
    const isDisk = (file: TarMember) => file.name.endsWith('.vmdk');

    it('has no findings', async () => {
      expect((await readMembers(members())).findings).toEqual([]);
    });

    it('has a digest-mismatch after one byte of its disk is flipped', async () => {
      for (const position of [600, 66_000, 68_000]) {
        const flipped = members();
        const content = flipped.find(isDisk)?.content;
        if (content !== undefined) content[position] = (content[position] ?? 0) ^ 0x10;
        expect(codes(await readMembers(flipped)), `${position}`).toContain('digest-mismatch');
      }
    });

    it('is reported without its disk', async () => {
      const found = codes(await readMembers(members().filter((file) => !isDisk(file))));
      expect(found).toEqual(['missing-file', 'digest-without-file']);
    });

    it('is reported with its disk under another name', async () => {
      const renamed = members().map((file) => (isDisk(file) ? { ...file, name: 'x.vmdk' } : file));
      const found = codes(await readMembers(renamed));
      expect(found).toEqual(['missing-file', 'unreferenced-file?', 'digest-without-file']);
    });

    it('is found when cut at any of 50 offsets', () => expectCutsFound(packTar(members())));

    it('is reported with its members in any other order', async () => {
      const sound = members();
      const [descriptor, manifest, ...others] = sound;
      const manifestLast = [descriptor, ...others, manifest];
      for (let turn = 1; turn < sound.length; turn += 1) {
        for (const base of [sound, [...sound].reverse()]) {
          const order = [...base.slice(turn), ...base.slice(0, turn)];
          const expected = order.every((file, index) => file === manifestLast[index])
            ? []
            : expect.arrayContaining([
                expect.stringMatching(/^(descriptor-not-first|member-order)$/),
              ]);
          expect(codes(await readMembers(order))).toEqual(expected);
        }
      }
    });
  },
);
