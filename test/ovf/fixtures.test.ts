// Packages of real exporters, if they are beside the project: what is read from them.

import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readPackage } from '../../src/ovf/package.ts';
import { FIXTURES } from '../support/files.ts';
import { codes, member, readMembers } from './harness.ts';

const absent = !existsSync(FIXTURES);
const MIB = 1024 ** 2;
const STREAM = 'http://www.vmware.com/interfaces/specifications/vmdk.html#streamOptimized';

/** Members of an OVA in the order of the standard. */
const PACKAGES = {
  ubuntu: ['ubuntu.2.0.ovf', 'ubuntu.2.0.mf', 'ubuntu.2.0-disk1.vmdk'],
  input: ['input.ovf', 'input.mf', 'input.vmdk', 'input.iso', 'sample_cfg.txt'],
} as const;

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

it.skipIf(absent).each(['ubuntu', 'input'] as const)(
  'readPackage finds nothing in an archive of %s (skipped without ../shared/fixtures)',
  async (name) => {
    const members = PACKAGES[name].map((file) =>
      member(file, readFileSync(resolve(FIXTURES, file))),
    );
    expect((await readMembers(members)).findings).toEqual([]);
  },
);
