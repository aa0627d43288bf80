// Descriptors of each version of OVF, and what is wrong in them.

import { describe, expect, it } from 'vitest';
import { codes, envelope, hardwareItem, machine, readDescriptor } from './harness.ts';

describe('the version', () => {
  it.each([
    ['of the namespace, 1', envelope(''), '1.x'],
    ['of the namespace, 2', envelope('', 2), '2.x'],
    [
      'of the attribute',
      envelope('', 2).replace('<Envelope', '<Envelope ovf:version="2.1.0"'),
      '2.1.0',
    ],
  ])('is that %s', async (_, xml, version) => {
    expect((await readDescriptor(xml)).ovfVersion).toBe(version);
  });

  it.each([
    ['another root', '<a/>'],
    ['no namespace', '<Envelope/>'],
    ['a version to come', envelope('', 3)],
    ['another element of OVF', envelope('').replaceAll('Envelope', 'References')],
  ])('is unknown with %s', async (_, xml) => {
    const summary = await readDescriptor(xml);
    expect(summary.ovfVersion).toBeNull();
    expect(codes(summary)).toEqual(['not-an-envelope']);
  });
});

describe('capacity', () => {
  it.each([
    ['ovf:capacity="10"', 10, []],
    ['ovf:capacity="10" ovf:capacityAllocationUnits="byte * 2^30"', 10 * 1024 ** 3, []],
    [`ovf:capacity="${'$'}{size}"`, null, []],
    ['ovf:capacity="10" ovf:capacityAllocationUnits="pages"', null, ['unknown-unit']],
    ['ovf:capacity="-1"', null, ['bad-number']],
    ['ovf:capacity="1e3"', null, ['bad-number']],
    ['ovf:capacity="99999999999999999999"', null, ['bad-number']],
    ['ovf:capacity="9007199254740991" ovf:capacityAllocationUnits="KB"', null, []],
    ['', null, ['missing-attribute']],
  ])('from %s', async (attributes, capacity, findings) => {
    const summary = await readDescriptor(
      envelope(`<DiskSection><Disk ovf:diskId="d" ${attributes}/></DiskSection>`),
    );
    expect(summary.disks[0]?.capacity).toBe(capacity);
    expect(codes(summary)).toEqual(findings);
  });
});

describe('a descriptor with a fault', () => {
  const reference = (attributes: string) => `<References><File ${attributes}/></References>`;
  const disk = (attributes: string) =>
    `<DiskSection><Disk ovf:capacity="1" ${attributes}/></DiskSection>`;
  const options = Array.from(
    { length: 40 },
    (_, index) => `<Configuration ovf:id="${index}"/>`,
  ).join('');

  it.each([
    ['no References', envelope('').replace('<References/>', ''), 'missing-element'],
    [
      'no system',
      envelope('<VirtualSystemCollection ovf:id="c"/>').replace(/<VirtualSystem .*?>/, ''),
      'missing-element',
    ],
    ['a reference without href', envelope(reference('ovf:id="f"')), 'missing-attribute'],
    ['a reference without id', envelope(reference('ovf:href="vm.ovf"')), 'missing-attribute'],
    [
      'a size that is no number',
      envelope(reference('ovf:id="f" ovf:href="vm.ovf" ovf:size="x"')),
      'bad-number',
    ],
    ['a disk without identifier', envelope(disk('')), 'missing-attribute'],
    [
      'a disk of no reference',
      envelope(disk('ovf:diskId="d" ovf:fileRef="f"')),
      'unknown-file-reference',
    ],
    [
      'one disk identifier twice',
      envelope(disk('ovf:diskId="d"') + disk('ovf:diskId="d"')),
      'duplicate-id',
    ],
    [
      'a device without its disk',
      envelope(machine(hardwareItem({ ResourceType: 17, HostResource: 'ovf:/disk/d' }))),
      'unknown-disk',
    ],
    [
      'a device without its file',
      envelope(machine(hardwareItem({ ResourceType: 15, HostResource: 'ovf:/file/f' }))),
      'unknown-file-reference',
    ],
    [
      'an adapter without its network',
      envelope(machine(hardwareItem({ ResourceType: 10, Connection: 'n' }))),
      'unknown-network',
    ],
    [
      'memory of an unknown unit',
      envelope(
        machine(hardwareItem({ ResourceType: 4, VirtualQuantity: 1, AllocationUnits: 'pages' })),
      ),
      'unknown-unit',
    ],
    [
      'many options',
      envelope(`<DeploymentOptionSection>${options}</DeploymentOptionSection>`),
      'too-many-options',
    ],
    ['a document type', `<!DOCTYPE Envelope>${envelope('')}`, 'xml-doctype'],
    ['junk behind it', `${envelope('')}junk`, 'xml-syntax'],
    [
      'more than 16 MiB',
      envelope(`<!--${' '.repeat(16 * 1024 * 1024)}-->`),
      'descriptor-too-large',
    ],
  ])('has %s', async (_, xml, code) => {
    expect(codes(await readDescriptor(xml))).toEqual([code]);
  });

  it('has the line of the fault', async () => {
    const { findings } = await readDescriptor(
      envelope(`\n\n${disk('ovf:diskId="d" ovf:fileRef="f"')}`),
    );
    expect(findings[0]?.place).toBe('vm.ovf:3');
  });
});
