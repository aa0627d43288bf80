// Packages of real exporters, if they are beside the project: what is read from them.

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readPackage } from '../../src/ovf/package.ts';
import { FIXTURES } from '../support/files.ts';
import { codes } from './harness.ts';

const absent = !existsSync(FIXTURES);
const MIB = 1024 ** 2;
const VIRTUALBOX = {
  ...{ findings: [], ovfVersion: '2.0', products: [], manifest: { algorithm: 'SHA256' } },
  disks: [{ id: 'vmdisk1', capacity: 8192 * MIB, file: 'ubuntu.2.0-disk1.vmdk' }],
  networks: [{ name: 'NAT', description: 'Logical network used by this appliance.' }],
  files: [{ size: 12_015 }, { name: 'ubuntu.2.0.mf', size: 185 }, { size: 68_608 }],
};
const CISCO = {
  ...{ findings: [], ovfVersion: '1.x', manifest: { algorithm: 'SHA1' } },
  products: [{ product: 'PRODUCT', fullVersion: 'DEVELOPMENT IMAGE', properties: 10 }],
  disks: [{ capacity: 1024 * MIB, file: 'input.vmdk' }],
};

describe.skipIf(absent)('readPackage of real packages (skipped without ../shared/fixtures)', () => {
  const read = (name: string) => readPackage(resolve(FIXTURES, name));

  // test/commands/inspect.test.ts has their hardware.
  it.each([
    ['ubuntu.2.0.ovf', VIRTUALBOX],
    ['input.ovf', CISCO],
  ])('reads %s', async (name, expected) => {
    expect(await read(name)).toMatchObject(expected);
  });

  it('reads vmware.ovf, which has no manifest', async () => {
    const summary = await read('vmware.ovf');
    expect([summary.ovfVersion, codes(summary)]).toEqual(['1.x', ['no-manifest?']]);
  });
});
