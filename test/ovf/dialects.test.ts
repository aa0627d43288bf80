// Descriptors in the dialects of other programs: what is read from them.

import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { readPackage } from '../../src/ovf/package.ts';
import { FIXTURES } from '../support/files.ts';
import { codes, readDescriptor } from './harness.ts';

const read = async (name: string, change = (xml: string) => xml) => {
  const xml = readFileSync(resolve(import.meta.dirname, 'dialects', name), 'utf8');
  const summary = await readDescriptor(change(xml));
  return { ...summary, found: codes(summary) };
};

const WEB = {
  found: ['missing-file'],
  products: [{ product: 'Shop', vendor: 'Example', version: '2', properties: 1 }],
  systems: [
    {
      ...{ name: 'web', operatingSystem: 'Other Linux', hardwareFamilies: ['vmx-04'] },
      hardware: { cpus: 2, memory: 2 ** 28, disks: ['disk1', 'scratch'], networks: ['lan'] },
    },
  ],
  disks: [
    { id: 'disk1', capacity: 2 ** 20, file: 'web-disk1.vmdk' },
    { id: 'scratch', capacity: 2 ** 21, format: null, file: null },
  ],
  networks: [{ name: 'lan', description: 'The office' }],
};
const HARDWARE = { memory: 2 ** 30, disks: ['disk1'], networks: ['ovirtmgmt'] };
const OVIRT = {
  ...{ found: ['missing-file'], ovfVersion: '1.x' },
  systems: [{ name: 'web', operatingSystem: 'debian_9', hardware: HARDWARE }],
  disks: [{ id: 'disk1', file: 'group1/volume1' }],
};
const SHARED = {
  ...{ found: ['missing-file'], ovfVersion: '2.0' },
  disks: [
    { id: 'data', capacity: 1024 ** 2, file: 'cluster-shared.vmdk' },
    { id: 'quorum', capacity: 8192, file: null },
  ],
  systems: [
    { id: 'a', hardware: { disks: ['data', 'quorum'], networks: ['lan'] } },
    { id: 'b', hardware: { disks: ['data'], networks: [] } },
  ],
};

it.each([
  ['elements without a namespace in', 'ovf-0.9.ovf', { ...WEB, ovfVersion: '0.9' }],
  ['elements without a namespace in', 'ovf-1.0-draft.ovf', { ...WEB, ovfVersion: '1.0' }],
  ['files by href and disks by file in', 'ovirt.ovf', OVIRT],
  ['shared disks in', 'ovf-2.0-shared-disk.ovf', SHARED],
  ['no system in', 'collection-without-systems.ovf', { found: ['empty-collection?'], systems: [] }],
])('readPackage reads %s %s', async (_, name, expected) => {
  expect(await read(name)).toMatchObject(expected);
});

it('readPackage reports a disk of oVirt whose file is unknown', async () => {
  const change = (xml: string) => xml.replace('Resource>group1/volume1', 'Resource>group1/x');
  expect((await read('ovirt.ovf', change)).found).toEqual(['unknown-disk', 'missing-file']);
});

// test/commands/inspect.test.ts has what is read from them.
it.skipIf(!existsSync(FIXTURES)).each([
  ['ubuntu.2.0.ovf', '2.0', 'SHA256', []],
  ['input.ovf', '1.x', 'SHA1', []],
  ['vmware.ovf', '1.x', undefined, ['no-manifest?']],
])('readPackage reads %s (skipped without ../shared/fixtures)', async (name, ...expected) => {
  const summary = await readPackage(resolve(FIXTURES, name));
  expect([summary.ovfVersion, summary.manifest?.algorithm, codes(summary)]).toEqual(expected);
});
