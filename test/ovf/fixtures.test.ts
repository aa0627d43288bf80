// Packages of real exporters, if they are beside the project: what is read from them.

import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readPackage } from '../../src/ovf/package.ts';
import { FIXTURES } from '../support/files.ts';
import { codes, member, readMembers } from './harness.ts';

const absent = !existsSync(FIXTURES);
const MIB = 1024 ** 2;

describe.skipIf(absent)('readPackage of real packages (skipped without ../shared/fixtures)', () => {
  const read = (name: string) => readPackage(resolve(FIXTURES, name));

  it('reads OVF 2.0 of VirtualBox', async () => {
    const format = 'http://www.vmware.com/interfaces/specifications/vmdk.html#streamOptimized';
    expect(await read('ubuntu.2.0.ovf')).toMatchObject({
      ...{ findings: [], kind: 'ovf', ovfVersion: '2.0', products: [] },
      systems: [
        {
          ...{ name: 'ubuntu', operatingSystem: 'Ubuntu_64', hardwareFamilies: ['virtualbox-2.2'] },
          hardware: { cpus: 1, memory: 512 * MIB, disks: ['vmdisk1'], networks: ['NAT'] },
        },
      ],
      disks: [{ id: 'vmdisk1', capacity: 8192 * MIB, format, file: 'ubuntu.2.0-disk1.vmdk' }],
      networks: [{ name: 'NAT', description: 'Logical network used by this appliance.' }],
      manifest: { algorithm: 'SHA256' },
      files: [{ size: 12_015 }, { name: 'ubuntu.2.0.mf', size: 185 }, { size: 68_608 }],
    });
  });

  it('reads OVF 1.0 of Cisco with deployment options', async () => {
    const hardware = (size: number, adapters: number) => ({
      ...{ cpus: size, memory: size * 1024 * MIB, disks: ['vmdisk1'] },
      networks: Array.from({ length: adapters }, () => 'VM Network'),
    });
    const options = [
      { option: '1CPU-1GB-1NIC', hardware: hardware(1, 1) },
      { option: '2CPU-2GB-1NIC', hardware: hardware(2, 1) },
      { option: '4CPU-4GB-3NIC', hardware: hardware(4, 3) },
    ];
    expect(await read('input.ovf')).toMatchObject({
      findings: [],
      products: [{ product: 'PRODUCT', fullVersion: 'DEVELOPMENT IMAGE', properties: 10 }],
      systems: [{ name: 'test', hardware: hardware(4, 3), options }],
      disks: [{ capacity: 1024 * MIB, file: 'input.vmdk' }],
      manifest: { algorithm: 'SHA1' },
    });
  });

  it('reads OVF 1.0 of VMware without a manifest', async () => {
    const summary = await read('vmware.ovf');
    expect(codes(summary)).toEqual(['no-manifest?']);
    const operatingSystem = 'Red Hat Enterprise Linux 6 (64-bit)';
    const hardware = { cpus: 2, memory: 1536 * MIB, disks: ['vmdisk1'] };
    const systems = [{ name: 'vmw', operatingSystem, hardware }];
    expect(summary).toMatchObject({ ovfVersion: '1.x', systems });
    expect(summary.systems[0]?.hardware.networks).toHaveLength(4);
  });

  it.each([
    [['ubuntu.2.0.ovf', 'ubuntu.2.0.mf', 'ubuntu.2.0-disk1.vmdk']],
    [['input.ovf', 'input.mf', 'input.vmdk', 'input.iso', 'sample_cfg.txt']],
  ])('finds nothing in an archive of %j', async (files) => {
    const members = files.map((file) => member(file, readFileSync(resolve(FIXTURES, file))));
    expect((await readMembers(members)).findings).toEqual([]);
  });
});
