// Descriptors of each version of OVF, and what is wrong in them.

import { describe, expect, it } from 'vitest';
import { bytesPerUnit } from '../../src/ovf/elements.ts';
import { rows } from '../support/rows.ts';
import { codes, envelope, hardwareItem, machine, readDescriptor } from './harness.ts';

describe('the OVF version', () => {
  const attribute = envelope('', 2).replace('<Envelope', '<Envelope ovf:version="2.1.0"');

  it.each([
    ['1.x', 'namespace 1', envelope('')],
    ['2.x', 'namespace 2', envelope('', 2)],
    ['2.1.0', 'a version attribute', attribute],
  ])('is %s with %s', async (version, _, xml) => {
    expect((await readDescriptor(xml)).ovfVersion).toBe(version);
  });

  it.each([
    ['another root', '<a/>'],
    ['no namespace', '<Envelope/>'],
    ['a future namespace', envelope('', 3)],
    ['another element of OVF', envelope('').replaceAll('Envelope', 'References')],
  ])('is unknown with %s', async (_, xml) => {
    const summary = await readDescriptor(xml);
    expect(summary.ovfVersion).toBeNull();
    expect(codes(summary)).toEqual(['not-an-envelope']);
  });
});

it.each([
  ...rows(1, null, '', 'byte', 'bytes'),
  ...rows(1024, 'byte * 2^10', 'KiloByte', 'KB'),
  ...rows(1024 ** 2, 'byte * 2^20', 'byte * 1024 * 2^10', 'MegaBytes', 'MB', ' mb '),
  ...rows(1024 ** 3, 'byte*2^30', 'gigabytes', 'GiB'),
  ...rows(1024 ** 4, 'byte * 2 ^ 40', 'TB'),
  ...rows(1_000_000_000, 'byte * 10^9'),
  ...rows(null, 'hertz * 10^6', 'byte * 2^99', 'byte * x', 'byte / 2', 'bit', 'constructor'),
])('bytesPerUnit of %j is %s', (unit, bytes) => {
  expect(bytesPerUnit(unit)).toBe(bytes);
});

describe('the capacity of a disk', () => {
  it.each([
    ['ovf:capacity="10"', 10, []],
    ['ovf:capacity="10" ovf:capacityAllocationUnits="byte * 2^30"', 10 * 1024 ** 3, []],
    [`ovf:capacity="${'$'}{size}"`, null, []],
    ['ovf:capacity="10" ovf:capacityAllocationUnits="pages"', null, ['unknown-unit?']],
    ['ovf:capacity="-1"', null, ['bad-number']],
    ['ovf:capacity="1e3"', null, ['bad-number']],
    ['ovf:capacity="99999999999999999999"', null, ['bad-number']],
    ['ovf:capacity="9007199254740991" ovf:capacityAllocationUnits="KB"', null, []],
    ['', null, ['missing-attribute']],
  ])('given as %s is %s with the findings %j', async (attributes, capacity, findings) => {
    const summary = await readDescriptor(
      envelope(`<DiskSection><Disk ovf:diskId="d" ${attributes}/></DiskSection>`),
    );
    expect(summary.disks[0]?.capacity).toBe(capacity);
    expect(codes(summary)).toEqual(findings);
  });
});

describe('a descriptor', () => {
  const reference = (attributes: string) =>
    envelope(`<References><File ${attributes}/></References>`);
  const disks = (...attributes: string[]) =>
    envelope(
      `<DiskSection>${attributes.map((more) => `<Disk ovf:capacity="1" ${more}/>`).join('')}</DiskSection>`,
    );
  const item = (settings: Record<string, string | number>) => machine(hardwareItem(settings));
  const options = Array.from({ length: 40 }, (_, index) => `<Configuration ovf:id="${index}"/>`);
  const withoutSystem = envelope('').replace(/<VirtualSystem .*?>/, '');
  const disk = (settings: Record<string, string | number>, attributes = '') =>
    hardwareItem({ ResourceType: 17, InstanceID: 1, ...settings }, attributes);
  const unknownFile = 'ovf:diskId="d" ovf:fileRef="f"';

  it.each([
    ['no References', 'missing-element', envelope('').replace('<References/>', '')],
    ['no system', 'missing-element', withoutSystem],
    ['a reference without href', 'missing-attribute', reference('ovf:id="f"')],
    ['a reference without id', 'missing-attribute', reference('ovf:href="vm.ovf"')],
    ['an invalid size', 'bad-number', reference('ovf:id="f" ovf:href="vm.ovf" ovf:size="x"')],
    ['a disk without identifier', 'missing-attribute', disks('')],
    ['a disk with an unknown file', 'unknown-file-reference', disks(unknownFile)],
    ['a repeated identifier', 'duplicate-id', disks('ovf:diskId="d"', 'ovf:diskId="d"')],
    ['an unknown disk', 'unknown-disk', item({ ResourceType: 17, HostResource: 'ovf:/disk/d' })],
    [
      'an unknown file',
      'unknown-file-reference',
      item({ ResourceType: 15, HostResource: 'ovf:/file/f' }),
    ],
    ['a system without id', 'missing-attribute', envelope('<VirtualSystem/>')],
    ['an unknown parent disk', 'unknown-disk', disks('ovf:diskId="d" ovf:parentRef="p"')],
    [
      'a disk resource that is no reference',
      'bad-host-resource',
      item({ ResourceType: 17, HostResource: 'd' }),
    ],
    [
      'an unknown deployment option',
      'unknown-configuration',
      machine(disk({}, 'ovf:configuration="x"')),
    ],
    ['a repeated instance', 'duplicate-instance', machine(disk({}) + disk({ ResourceType: 10 }))],
    [
      'a repeated instance in 0.9',
      'duplicate-instance',
      machine(disk({}) + hardwareItem({ InstanceId: 1 })),
    ],
    ['texts in an unknown file', 'unknown-strings-file?', envelope('<Strings ovf:fileRef="f"/>')],
    ['an unknown network', 'unknown-network?', item({ ResourceType: 10, Connection: 'n' })],
    [
      'an unknown unit of memory',
      'unknown-unit?',
      item({ ResourceType: 4, VirtualQuantity: 1, AllocationUnits: 'pages' }),
    ],
    [
      '40 deployment options',
      'too-many-options?',
      envelope(`<DeploymentOptionSection>${options.join('')}</DeploymentOptionSection>`),
    ],
    ['a document type', 'xml-doctype', `<!DOCTYPE Envelope>${envelope('')}`],
    ['junk at its end', 'xml-syntax', `${envelope('')}junk`],
    ['more than 16 MiB', 'descriptor-too-large', envelope(`<!--${' '.repeat(2 ** 24)}-->`)],
  ])('with %s has the finding %s', async (_, code, xml) => {
    expect(codes(await readDescriptor(xml))).toEqual([code]);
  });

  const manyOptions = `<DeploymentOptionSection>${options.join('')}</DeploymentOptionSection>`;
  const twoOptions =
    '<DeploymentOptionSection><Configuration ovf:id="a"/><Configuration ovf:id="b"/></DeploymentOptionSection>';
  const known = disks('ovf:diskId="d"').replace(
    '</DiskSection>',
    '<Disk ovf:diskId="e" ovf:capacity="1" ovf:parentRef="d"/></DiskSection>',
  );

  it.each([
    ['an empty file reference', disks('ovf:diskId="d" ovf:fileRef="" ovf:parentRef=""')],
    ['a parent disk', known],
    ['texts of its own or in an empty reference', envelope('<Strings/><Strings ovf:fileRef=""/>')],
    [
      'an instance with three bounds',
      machine(disk({}) + disk({}, 'ovf:bound="min"') + disk({}, 'ovf:bound="max"')),
    ],
    [
      'an instance per deployment option',
      machine(
        disk({}) + disk({}, 'ovf:configuration="a"') + disk({}, 'ovf:configuration="a b"'),
        twoOptions,
      ),
    ],
    ['items without an instance', machine(hardwareItem({ ResourceType: 17 }).repeat(2))],
    ['a drive with any resource', item({ ResourceType: 15, HostResource: '/dev/cdrom' })],
  ])('with %s has no findings', async (_, xml) => {
    expect(codes(await readDescriptor(xml))).toEqual([]);
  });

  it('may use a deployment option beyond those that are read', async () => {
    const xml = machine(disk({}, 'ovf:configuration="39"'), manyOptions);
    expect(codes(await readDescriptor(xml))).toEqual(['too-many-options?']);
  });

  it('is reported with the line of the finding', async () => {
    const { findings } = await readDescriptor(
      disks(unknownFile).replace('<DiskSection>', '\n\n<DiskSection>'),
    );
    expect(findings[0]?.place).toBe('vm.ovf:3');
  });
});
