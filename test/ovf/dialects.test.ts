// Descriptors in the dialects of other programs: what is read from them.

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { codes, readDescriptor } from './harness.ts';

const read = async (name: string) => {
  const xml = readFileSync(resolve(import.meta.dirname, 'dialects', name), 'utf8');
  const summary = await readDescriptor(xml);
  return { ...summary, found: codes(summary).filter((code) => code !== 'missing-file') };
};

describe('readPackage of a dialect', () => {
  it.each([
    ['ovf-0.9.ovf', '0.9'],
    ['ovf-1.0-draft.ovf', '1.0'],
  ])('reads elements without a namespace in %s', async (name, ovfVersion) => {
    const format = 'http://www.vmware.com/specifications/vmdk.html#sparse';
    const summary = await read(name);
    expect(summary).toMatchObject({
      found: [],
      ovfVersion,
      products: [{ product: 'Shop', vendor: 'Example', version: '2', properties: 1 }],
      systems: [
        {
          name: 'web',
          operatingSystem: 'Other Linux',
          hardwareFamilies: ['vmx-04'],
          hardware: {
            cpus: 2,
            memory: 256 * 1024 ** 2,
            disks: ['disk1', 'scratch'],
            networks: ['lan'],
          },
        },
      ],
      disks: [
        { id: 'disk1', capacity: 1024 ** 2, format, file: 'web-disk1.vmdk' },
        { id: 'scratch', capacity: 2 * 1024 ** 2, format: null, file: null },
      ],
      networks: [{ name: 'lan', description: 'The office' }],
    });
    expect(summary.findings).toMatchObject([{ code: 'missing-file', place: 'web-disk1.vmdk' }]);
  });

  it('reads an export of oVirt, which names files by href and disks by file', async () => {
    expect(await read('ovirt.ovf')).toMatchObject({
      found: [],
      ovfVersion: '1.x',
      systems: [
        {
          name: 'web',
          operatingSystem: 'debian_9',
          hardware: { memory: 1024 ** 3, disks: ['disk1'], networks: ['ovirtmgmt'] },
        },
      ],
      disks: [{ id: 'disk1', file: 'group1/volume1' }],
    });
  });

  it('reports a disk of oVirt whose file is unknown', async () => {
    const xml = readFileSync(resolve(import.meta.dirname, 'dialects/ovirt.ovf'), 'utf8');
    const broken = xml.replace('HostResource>group1/volume1', 'HostResource>group1/volume2');
    expect(codes(await readDescriptor(broken))).toEqual(['unknown-disk', 'missing-file']);
  });

  it('reads the shared disks of OVF 2', async () => {
    expect(await read('ovf-2.0-shared-disk.ovf')).toMatchObject({
      found: [],
      ovfVersion: '2.0',
      disks: [
        { id: 'data', capacity: 1024 ** 2, file: 'cluster-shared.vmdk' },
        { id: 'quorum', capacity: 8192, file: null },
      ],
      systems: [
        { id: 'a', hardware: { disks: ['data', 'quorum'], networks: ['lan'] } },
        { id: 'b', hardware: { disks: ['data'], networks: [] } },
      ],
    });
  });

  it('warns about a collection without systems', async () => {
    expect(await read('collection-without-systems.ovf')).toMatchObject({
      found: ['empty-collection?'],
      systems: [],
    });
  });
});
