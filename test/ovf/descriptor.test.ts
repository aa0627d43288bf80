// Descriptors of each version of OVF, and what is wrong in them.

import { describe, expect, it } from 'vitest';
import { bytesPerUnit } from '../../src/ovf/elements.ts';
import { rows } from '../support/rows.ts';
import { codes, envelope, hardwareItem, machine, readDescriptor } from './harness.ts';

describe('the OVF version', () => {
  it.each([
    ['1.x', 'namespace 1', envelope('')],
    ['2.x', 'namespace 2', envelope('', 2)],
    ['2.1.0', 'an attribute', envelope('').replace('<Envelope', '<Envelope ovf:version="2.1.0"')],
    [null, 'another root', '<a/>'],
    [null, 'a future namespace', envelope('', 3)],
    [null, 'another element of OVF', envelope('').replaceAll('Envelope', 'References')],
  ])('is %s with %s', async (version, _, xml) => {
    const summary = await readDescriptor(xml);
    expect(summary.ovfVersion).toBe(version);
    expect(codes(summary)).toEqual(version === null ? ['not-an-envelope'] : []);
  });
});

it.each([
  ...rows(1, null, '', 'byte', 'bytes'),
  ...rows(1024, 'byte * 2^10', 'KiloByte', 'KB'),
  ...rows(1024 ** 2, 'byte * 2^20', 'byte * 1024 * 2^10', 'MegaBytes', 'MB', ' mb '),
  ...rows(1024 ** 3, 'byte*2^30', 'gigabytes', 'GiB'),
  ...rows(1_000_000_000, 'byte * 10^9'),
  ...rows(null, 'hertz * 10^6', 'byte * 2^99', 'byte * x', 'byte / 2', 'bit', 'constructor'),
])('bytesPerUnit of %j is %s', (unit, bytes) => {
  expect(bytesPerUnit(unit)).toBe(bytes);
});

it.each([
  ['ovf:capacity="10"', 10, []],
  ['ovf:capacity="10" ovf:capacityAllocationUnits="byte * 2^30"', 10 * 1024 ** 3, []],
  [`ovf:capacity="${'$'}{size}"`, null, []],
  ['ovf:capacity="10" ovf:capacityAllocationUnits="pages"', null, ['unknown-unit?']],
  ['ovf:capacity="-1"', null, ['bad-number']],
  ['ovf:capacity="99999999999999999999"', null, ['bad-number']],
  ['ovf:capacity="9007199254740991" ovf:capacityAllocationUnits="KB"', null, []],
  ['', null, ['missing-attribute']],
])('the capacity of a disk with %s is %s (findings: %j)', async (attributes, capacity, found) => {
  const disk = `<DiskSection><Disk ovf:diskId="d" ${attributes}/></DiskSection>`;
  const summary = await readDescriptor(envelope(disk));
  expect([summary.disks[0]?.capacity, codes(summary)]).toEqual([capacity, found]);
});

describe('a descriptor', () => {
  const file = (attributes: string) => `<References><File ${attributes}/></References>`;
  const disks = (...all: string[]) => {
    const elements = all.map((attributes) => `<Disk ovf:capacity="1" ${attributes}/>`);
    return `<DiskSection>${elements.join('')}</DiskSection>`;
  };
  const options = (count: number) =>
    `<DeploymentOptionSection>${Array.from({ length: count }, (_, id) => `<Configuration ovf:id="${id}"/>`).join('')}</DeploymentOptionSection>`;
  const item = (settings: Record<string, string | number>, attributes = '') =>
    hardwareItem({ ResourceType: 17, ...settings }, attributes);
  const one = (attributes = '') => item({ InstanceID: 1 }, attributes);
  const unknownUnit = { ResourceType: 4, VirtualQuantity: 1, AllocationUnits: 'pages' };
  const sections = (...all: string[]) => all.map((section) => envelope(section));
  const found = (code: string | undefined, ...descriptors: string[]) =>
    descriptors.map((xml) => [code, xml] as const);
  const items = (...all: string[]) => all.map((text) => machine(text, options(2)));

  it.each([
    ...found('missing-element', envelope('').replace('<References/>', '')),
    ...found('missing-element', envelope('').replace(/<VirtualSystem .*?>/, '')),
    ...found('missing-attribute', ...sections(file('ovf:id="f"'), file('ovf:href="vm.ovf"'))),
    ...found('missing-attribute', ...sections(disks(''), '<VirtualSystem/>')),
    ...found('bad-number', envelope(file('ovf:id="f" ovf:href="vm.ovf" ovf:size="x"'))),
    ...found('unknown-file-reference', envelope(disks('ovf:diskId="d" ovf:fileRef="f"'))),
    ...found('unknown-file-reference', ...items(item({ HostResource: 'ovf:/file/f' }))),
    ...found('duplicate-id', envelope(disks('ovf:diskId="d"', 'ovf:diskId="d"'))),
    ...found('unknown-disk', envelope(disks('ovf:diskId="d" ovf:parentRef="p"'))),
    ...found('unknown-disk', ...items(item({ HostResource: 'ovf:/disk/d' }))),
    ...found('bad-host-resource', ...items(item({ HostResource: 'd' }))),
    ...found('unknown-configuration', ...items(one('ovf:configuration="x"'))),
    ...found('duplicate-instance', ...items(one() + one(), one() + item({ InstanceId: 1 }))),
    ...found('unknown-strings-file?', envelope('<Strings ovf:fileRef="f"/>')),
    ...found('unknown-network?', ...items(item({ ResourceType: 10, Connection: 'n' }))),
    ...found('unknown-unit?', ...items(item(unknownUnit))),
    ...found('too-many-options?', envelope(options(40))),
    // An option beyond those that are read is known all the same.
    ...found('too-many-options?', machine(one('ovf:configuration="39"'), options(40))),
    ...found('xml-doctype', `<!DOCTYPE Envelope>${envelope('')}`),
    ...found('xml-syntax', `${envelope('')}junk`),
    ...found('descriptor-too-large', envelope(`<!--${' '.repeat(2 ** 24)}-->`)),
    ...found(undefined, ...sections(disks('ovf:diskId="d" ovf:fileRef="" ovf:parentRef=""'))),
    ...found(undefined, ...sections(disks('ovf:diskId="d"', 'ovf:diskId="e" ovf:parentRef="d"'))),
    ...found(undefined, envelope('<Strings/><Strings ovf:fileRef=""/>')),
    ...found(undefined, ...items(one() + one('ovf:bound="min"') + one('ovf:bound="max"'))),
    ...found(undefined, ...items(one() + one('ovf:configuration="0"'), item({}) + item({}))),
    ...found(undefined, ...items(item({ ResourceType: 15, HostResource: '/dev/x' }))),
  ])('has the finding %s (row %#)', async (code, xml) => {
    expect(codes(await readDescriptor(xml))).toEqual(code === undefined ? [] : [code]);
  });

  it('is reported with the line of the finding', async () => {
    const { findings } = await readDescriptor(envelope(`\n\n${disks('')}`));
    expect(findings[0]?.place).toBe('vm.ovf:3');
  });
});
