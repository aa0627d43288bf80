// Descriptors: what is read from each version, dialect and deployment option, and what is wrong in them.

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bytesPerUnit } from '../../src/ovf/elements.ts';
import { cpuSeconds } from '../support/cpu.ts';
import { rows } from '../support/rows.ts';
import {
  codes,
  envelope,
  expectFindings,
  hardwareItem,
  machine,
  readDescriptor,
  readFolder,
} from './harness.ts';

const NAMESPACE = 'http://schemas.dmtf.org/ovf/envelope/1';
const ofOvirt = envelope('')
  .replaceAll(`"${NAMESPACE}"`, `"${NAMESPACE}/"`)
  .replace('<Envelope', '<Envelope ovf:version="4.1.0.0"');
const ofVmware = envelope('').replaceAll(NAMESPACE, 'http://www.vmware.com/schema/ovf/1/envelope');

it.each<[string | null, string, string, root?: string]>([
  ['1.x', 'namespace 1', envelope('')],
  ['2.x', 'namespace 2', envelope('', 2)],
  ['2.1.0', 'an attribute', envelope('').replace('<Envelope', '<Envelope ovf:version="2.1.0"')],
  ['1.x', 'the version of oVirt', ofOvirt],
  ['0.9', 'the namespace of VMware', ofVmware],
  [null, 'another root', '<a/>', 'a (without a namespace)'],
  [null, 'a future namespace', envelope('', 3), `Envelope (${NAMESPACE.replace('1', '3')})`],
  [
    null,
    'another element of OVF',
    envelope('').replaceAll('Envelope', 'References'),
    `References (${NAMESPACE})`,
  ],
])('the OVF version is %s with %s', async (version, _, xml, root) => {
  const summary = await readDescriptor(xml);
  expect(summary.ovfVersion).toBe(version);
  const finding = `not-an-envelope vm.ovf:1: the root element is ${root}`;
  expectFindings(summary, root === undefined ? [] : [finding]);
});

it.each([
  ...rows(1, null, '', 'byte', 'bytes', 'B'),
  ...rows(1024, 'byte * 2^10', 'KiloByte', 'KB'),
  ...rows(1024 ** 2, 'byte * 2^20', 'byte * 1024 * 2^10', 'MegaBytes', 'MB', ' mb '),
  ...rows(1024 ** 3, 'byte*2^30', 'gigabytes', 'GiB'),
  ...rows(1024 ** 4, 'TeraByte', 'TB', 'TiB'),
  ...rows(1024 ** 5, 'petabytes', 'PB', 'byte * 2^50'),
  ...rows(1_000_000_000, 'byte * 10^9'),
  ...rows(
    null,
    'hertz * 10^6',
    'byte * 2^99',
    'byte * x',
    'byte * x2',
    'byte * 2^3x',
    'xbytes',
    'bytesx',
    'byte / 2',
    'bit',
    'ib',
    'constructor',
  ),
])('bytesPerUnit of %j is %s', (unit, bytes) => {
  expect(bytesPerUnit(unit)).toBe(bytes);
});

const notWhole = (name: string, written: string) =>
  `bad-number vm.ovf:1: ${name} must be a whole number (got ${written})`;
const tooLarge = (what: string, written: string) =>
  `bad-number vm.ovf:1: ${what} is too large (got ${written})`;

it.each<[string, number | null, string[]]>([
  ['ovf:capacity="10"', 10, []],
  ['ovf:capacity=" 10 "', 10, []],
  ['ovf:capacity="10" ovf:capacityAllocationUnits="byte * 2^30"', 10 * 1024 ** 3, []],
  [`ovf:capacity="${'$'}{size}"`, null, []],
  [`ovf:capacity="${'$'}{size"`, null, [notWhole('capacity', '${size')]],
  [
    'ovf:capacity="10" ovf:capacityAllocationUnits="pages"',
    null,
    ['unknown-unit? vm.ovf:1: unknown capacity unit pages'],
  ],
  ['ovf:capacity="-1"', null, [notWhole('capacity', '-1')]],
  ['ovf:capacity="99999999999999999999"', null, [notWhole('capacity', '9'.repeat(20))]],
  [
    'ovf:capacity="9007199254740991" ovf:capacityAllocationUnits="KB"',
    null,
    [tooLarge('capacity', '9007199254740991 KB')],
  ],
  ['', null, ['missing-attribute vm.ovf:1: Disk without capacity']],
])('the capacity of a disk with %s is %s (findings: %j)', async (attributes, capacity, found) => {
  const disk = `<DiskSection><Disk ovf:diskId="d" ${attributes}/></DiskSection>`;
  const summary = await readDescriptor(envelope(disk));
  expect(summary.disks[0]?.capacity).toBe(capacity);
  expectFindings(summary, found);
});

describe('a descriptor', () => {
  const file = (attributes: string) => `<References><File ${attributes}/></References>`;
  const disks = (...all: string[]) => {
    const elements = all.map((attributes) => `<Disk ovf:capacity="1" ${attributes}/>`);
    return `<DiskSection>${elements.join('')}</DiskSection>`;
  };
  const child = (id: string, parent = '') => `ovf:diskId="${id}" ovf:parentRef="${parent}"`;
  const options = (count: number) =>
    `<DeploymentOptionSection>${Array.from({ length: count }, (_, id) => `<Configuration ovf:id="${id}"/>`).join('')}</DeploymentOptionSection>`;
  const item = (settings: Record<string, string | number>, attributes = '') =>
    hardwareItem({ ResourceType: 17, ...settings }, attributes);
  const one = (attributes = '') => item({ InstanceID: 1 }, attributes);
  const amount = (ResourceType: number, VirtualQuantity: string, AllocationUnits = 'byte') =>
    hardwareItem({ ResourceType, VirtualQuantity, AllocationUnits });
  const lacking = (element: string, name: string) =>
    `missing-attribute vm.ovf:1: ${element} without ${name}`;
  const LARGE = envelope(`<!--${' '.repeat(2 ** 24)}-->`);
  const HUGE = '9'.repeat(1_000);
  const unknownUnit = { ResourceType: 4, VirtualQuantity: 1, AllocationUnits: 'pages' };
  const sections = (...all: string[]) => all.map((section) => envelope(section));
  const found = (code: string | undefined, ...descriptors: string[]) =>
    descriptors.map((xml) => [code, xml] as const);
  const items = (...all: string[]) => all.map((text) => machine(text, options(2)));

  it.each([
    ...found(
      'missing-element vm.ovf:1: no References section',
      envelope('').replace('<References/>', ''),
    ),
    ...found(
      'missing-element vm.ovf:1: no virtual system',
      envelope('').replace(/<VirtualSystem .*<\/VirtualSystem>/, ''),
    ),
    ...found(lacking('File', 'href'), envelope(file('ovf:id="f"'))),
    ...found(lacking('File', 'id'), envelope(file('ovf:href="vm.ovf"'))),
    ...found(lacking('Disk', 'diskId'), envelope(disks(''))),
    ...found(lacking('VirtualSystem', 'id'), envelope('<VirtualSystem/>')),
    ...found(lacking('Configuration', 'id'), envelope(options(1).replace(/ ovf:id="0"/, ''))),
    ...found(notWhole('size', 'x'), envelope(file('ovf:id="f" ovf:href="vm.ovf" ovf:size="x"'))),
    ...found('bad-number', ...items(amount(3, HUGE), amount(4, HUGE))),
    ...found(
      tooLarge('memory', '9007199254740991 MB'),
      ...items(amount(4, '9007199254740991', 'MB')),
    ),
    ...found(notWhole('VirtualQuantity', '1e400'), ...items(amount(4, '1e400'))),
    ...found(
      'unknown-file-reference vm.ovf:1: disk d: unknown file f',
      envelope(disks('ovf:diskId="d" ovf:fileRef="f"')),
    ),
    ...found(
      'unknown-file-reference vm.ovf:1: unknown file f',
      ...items(item({ HostResource: 'ovf:/file/f' })),
    ),
    ...found('duplicate-id', envelope(disks('ovf:diskId="d"', 'ovf:diskId="d"'))),
    ...found(
      'unknown-disk vm.ovf:1: disk d: unknown parent disk p',
      envelope(disks('ovf:diskId="d" ovf:parentRef="p"')),
    ),
    ...found(
      'unknown-disk vm.ovf:1: unknown disk d',
      ...items(item({ HostResource: 'ovf:/disk/d' })),
    ),
    ...found('bad-host-resource', ...items(item({ HostResource: 'd' }))),
    ...found('unknown-configuration', ...items(one('ovf:configuration="x"'))),
    ...found('duplicate-instance', ...items(one() + one(), one() + item({ InstanceId: 1 }))),
    ...found(
      'duplicate-instance',
      ...items(one('ovf:configuration="0 1"') + one('ovf:configuration="1 0"')),
    ),
    ...found('unknown-network?', ...items(item({ ResourceType: 10, Connection: 'n' }))),
    ...found('unknown-unit? vm.ovf:1: unknown memory unit pages', ...items(item(unknownUnit))),
    ...found('too-many-options?', envelope(options(40))),
    // An option beyond those that are read is known all the same.
    ...found('too-many-options?', machine(one('ovf:configuration="39"'), options(40))),
    ...found('xml-doctype', `<!DOCTYPE Envelope>${envelope('')}`),
    ...found('xml-syntax', `${envelope('')}junk`),
    ...found(`descriptor-too-large vm.ovf: ${LARGE.length} bytes, more than 16 MiB`, LARGE),
    ...found(undefined, ...sections(disks('ovf:diskId="d" ovf:fileRef="" ovf:parentRef=""'))),
    ...found(undefined, ...sections(disks('ovf:diskId="d"', child('e', 'd'), child('f', 'd')))),
    ...found(undefined, ...items(amount(17, HUGE))),
    ...found(undefined, envelope('<Strings/><Strings ovf:fileRef=""/>')),
    ...found(undefined, ...items(one() + one('ovf:bound="min"') + one('ovf:bound="max"'))),
    ...found(undefined, ...items(one() + one('ovf:configuration="0"'), item({}) + item({}))),
    ...found(undefined, ...items(item({ ResourceType: 15, HostResource: '/dev/x' }))),
  ])('has the finding %s (row %#)', async (code, xml) => {
    expectFindings(await readDescriptor(xml), code === undefined ? [] : [code]);
  });

  it('has at most 32 deployment options', async () => {
    const { deploymentOptions } = await readDescriptor(envelope(options(40)));
    expect(deploymentOptions.map(({ id }) => Number(id))).toEqual([...Array(32).keys()]);
  });

  const INFO = '<Info/>';
  const whole = { InstanceID: 1, ElementName: 'x', ResourceType: 17 };
  const hardware = (items: string) =>
    `<VirtualSystem ovf:id="vm">${INFO}<VirtualHardwareSection>${INFO}${items}</VirtualHardwareSection></VirtualSystem>`;
  const product = (properties: string, attributes = '') =>
    `<ProductSection ${attributes}>${INFO}${properties}</ProductSection>`;
  const property = '<Property ovf:key="k"/>';
  const CLASS = 'ovf:class="c"';
  const inDisks = (text: string) => `<DiskSection>${INFO}${text}</DiskSection>${hardware('')}`;
  const disk = (id: string, rest = 'ovf:format="f"') =>
    `<Disk ovf:diskId="${id}" ovf:capacity="1" ovf:fileRef="f" ${rest}/>`;
  const inCaption = hardwareItem({ InstanceId: 1, Caption: 'x', ResourceType: 17 });
  const ofNova = hardwareItem(whole)
    .replaceAll('rasd:', 'x:')
    .replace('<Item', '<Item xmlns:x="urn:x"');
  const { InstanceID, ElementName, ResourceType } = whole;

  it.each([
    [[], hardware(hardwareItem(whole) + inCaption.replace('>1<', '>2<'))],
    [
      ['incomplete-item: Item without InstanceID'],
      hardware(hardwareItem({ ElementName, ResourceType })),
    ],
    [
      ['incomplete-item: Item without ElementName'],
      hardware(hardwareItem({ InstanceID, ResourceType })),
    ],
    [
      ['incomplete-item: Item without ResourceType'],
      hardware(hardwareItem({ InstanceID, ElementName })),
    ],
    [['incomplete-item: Item without InstanceID, ElementName, ResourceType'], hardware('<Item/>')],
    [
      ['no-hardware: no VirtualHardwareSection'],
      `<VirtualSystem ovf:id="vm">${INFO}</VirtualSystem>`,
    ],
    [['missing-info: EulaSection without Info'], `<EulaSection/>${hardware('')}`],
    [
      [],
      ['', CLASS, `${CLASS} ovf:instance="1"`].map((own) => product(property, own)).join('') +
        hardware(''),
    ],
    [
      ['duplicate-property: property k is declared twice'],
      product(property + property) + hardware(''),
    ],
    [
      ['duplicate-property: property k is declared twice'],
      product(property) + product(property) + hardware(''),
    ],
    [
      Array(2).fill('incomplete-item: Property without key'),
      product('<Property/>'.repeat(2)) + hardware(''),
    ],
    [['disk-without-format: disk d: no format'], inDisks(disk('d', ''))],
    [['shared-file: disk e: disk d has the same file'], inDisks(disk('d') + disk('e'))],
    // Sections of other programs follow rules of their own.
    [[], `<x:OtherSection xmlns:x="urn:x"/>${hardware('')}`],
    // Other programs use a namespace of their own for the settings.
    [[], hardware(ofNova)],
  ])('has the warnings %j (row %#)', async (expected, sections) => {
    const file = '<References><File ovf:id="f" ovf:href="vm.ovf"/></References>';
    const descriptor = envelope(file + sections);
    const { findings } = await readFolder([{ name: 'vm.ovf', content: Buffer.from(descriptor) }]);
    const found = findings.filter(({ code }) => code !== 'no-manifest');
    expect(found.map(({ code, message }) => `${code}: ${message}`)).toEqual(expected);
    expect(found.every(({ severity }) => severity === 'warning')).toBe(true);
  });

  const device = (InstanceID: number, ResourceType: number, more = {}) =>
    hardwareItem({ InstanceID, ElementName: `d${InstanceID}`, ResourceType, ...more });
  const drive = (instance: number, Parent: number | string, more = {}, type = 17) =>
    device(instance, type, { Parent, AddressOnParent: 0, ...more });
  const OVIRT_IMAGE = '6f1c2d3e-0000-4000-8000-1234567890ab';
  const IDE = device(5, 5) + device(6, 20);
  const inOption = (item: string) => item.replace('<Item', '<Item ovf:configuration="0"');

  it.each<[string, string[], string]>([
    ['no places', [], device(1, 17) + device(2, 15)],
    ['two controllers', [], IDE + drive(1, 5) + drive(2, 6, {}, 15)],
    ...[1, 5, 6, 7, 8, 9, 20, 23, 25].map((type): [string, string[], string] => [
      `a controller of type ${type}`,
      [],
      device(5, type) + drive(1, 5),
    ]),
    ...[14, 16].map((type): [string, string[], string] => [
      `a drive of type ${type}`,
      ['d1: unknown Parent 9'],
      drive(1, 9, {}, type),
    ]),
    ['two addresses', [], IDE + drive(1, 5) + drive(2, 5, { AddressOnParent: 1 })],
    [
      'no addresses',
      [],
      device(5, 6) + device(1, 17, { Parent: 5 }) + device(2, 17, { Parent: 5 }),
    ],
    ['an empty Parent', ['d1: its Parent is empty'], drive(1, '')],
    ['a Parent that is nil', [], drive(1, '').replace('<rasd:Parent>', '<rasd:Parent nil="true">')],
    ['an unknown Parent', ['d1: unknown Parent 9'], IDE + drive(1, 9)],
    [
      'another disk as Parent',
      ['d2: its Parent 1 is not a controller'],
      IDE + drive(1, 5) + drive(2, 1),
    ],
    [
      'one place for a disk and a drive',
      ['d2: another drive has address 0 of Parent 5'],
      IDE + drive(1, 5) + drive(2, 5, { AddressOnParent: '00' }, 15),
    ],
    [
      'one place that is no number',
      ['d2: another drive has address a of Parent 5'],
      IDE + drive(1, 5, { AddressOnParent: 'a' }) + drive(2, 5, { AddressOnParent: 'a' }),
    ],
    [
      'a drive without a name',
      ['drive: unknown Parent 9'],
      hardwareItem({ InstanceID: 1, ResourceType: 17, Parent: 9 }),
    ],
    ['one place in different options', [], IDE + inOption(drive(1, 5)) + drive(1, 5)],
    [
      'one place in an option only',
      ['d2: another drive has address 0 of Parent 5'],
      IDE + drive(1, 5) + inOption(drive(2, 5)).replace('="0"', '="1"'),
    ],
    [
      'a controller in another option',
      ['d1: unknown Parent 7'],
      inOption(device(7, 6)).replace('="0"', '="1"') + drive(1, 7),
    ],
    [
      'images of oVirt as Parent',
      [],
      drive(1, OVIRT_IMAGE) + drive(2, OVIRT_IMAGE) + drive(3, OVIRT_IMAGE.toUpperCase()),
    ],
    ['a Parent of no drive', [], device(1, 10, { Parent: 9 })],
  ])('has the right device-place warnings for %s', async (_what, expected, text) => {
    const { findings } = await readDescriptor(machine(text, options(2)));
    const found = findings.map(({ code, severity, message }) => [code, severity, message]);
    expect(found).toEqual(expected.map((message) => ['device-place', 'warning', message]));
  });

  it('has findings of at most 300 characters', async () => {
    const { findings } = await readDescriptor(machine(amount(3, HUGE)));
    const start = 'VirtualQuantity must be a whole number (got ';
    expect(findings[0]?.message).toBe(`${start}${'9'.repeat(299 - start.length)}…`);
  });

  it('is reported with the line of the finding', async () => {
    const { findings } = await readDescriptor(envelope(`\n\n${disks('')}`));
    expect(findings[0]?.place).toBe('vm.ovf:3');
  });
});

describe('the hardware of a system', () => {
  const cpus = (InstanceID: number, VirtualQuantity: number | string, attributes = '') =>
    hardwareItem({ InstanceID, ResourceType: 3, VirtualQuantity }, attributes);
  const memory = (InstanceID: number, VirtualQuantity: number | string, AllocationUnits: string) =>
    hardwareItem({ InstanceID, ResourceType: 4, VirtualQuantity, AllocationUnits });
  const adapter = (InstanceID: number, Connection: string, attributes = '') =>
    hardwareItem({ InstanceID, ResourceType: 10, Connection }, attributes);
  const UNKNOWN = { cpus: null, memory: null, disks: [], networks: [] };
  const TO_NO_BOUND = cpus(1, 2) + cpus(2, 1) + cpus(2, 8, 'ovf:bound="max"');
  const IN_UNITS = memory(3, 3, 'byte * 2^30') + memory(4, 512, 'MB');

  it.each([
    ['processors up to no bound', TO_NO_BOUND, { cpus: 3 }],
    ['memory in several units', IN_UNITS, { memory: 3.5 * 1024 ** 3 }],
    ['a disk that refers to nothing', hardwareItem({ ResourceType: 17 }), { disks: [null] }],
    ['no items', '', {}],
    ['no quantity', hardwareItem({ ResourceType: 3 }) + hardwareItem({ ResourceType: 4 }), {}],
  ])('counts %s', async (_, items, hardware) => {
    const { systems, findings } = await readDescriptor(machine(items));
    expect(systems[0]?.hardware).toEqual({ ...UNKNOWN, ...hardware });
    expect(findings).toEqual([]);
  });

  it.each([
    [512, 512 * 2 ** 20],
    [2 ** 33, null],
  ])('reads memory of %s without a unit as MiB, with a warning', async (quantity, memory) => {
    const item = hardwareItem({ ResourceType: 4, VirtualQuantity: quantity });
    const { systems, findings } = await readDescriptor(machine(item));
    const message = `no memory unit, read as ${quantity} MiB`;
    expect(systems[0]?.hardware.memory).toBe(memory);
    expect(findings).toMatchObject([{ code: 'unknown-unit', severity: 'warning', message }]);
  });

  const INVALID = ['-1', '0.5', 'two', '0x10', '1e3', '+2', '9'.repeat(20)];
  it.each(INVALID)(
    'is unknown, and the package invalid, with the quantity %s',
    async (quantity) => {
      // Together with a valid one, it would be a wrong sum.
      for (const item of [cpus(1, quantity), memory(1, quantity, 'MB')]) {
        const summary = await readDescriptor(machine(item + cpus(2, 4) + memory(3, 4, 'MB')));
        const { hardware } = summary.systems[0] ?? {};
        expect([hardware?.cpus, hardware?.memory]).toContain(null);
        expectFindings(summary, [notWhole('VirtualQuantity', quantity)]);
      }
    },
  );

  it('depends on the deployment option, whose last item of an instance counts', async () => {
    const OPTIONS = `<DeploymentOptionSection>
      <Configuration ovf:id="small"><Label>Small</Label><Description>For tests</Description></Configuration>
      <Configuration ovf:id="large" ovf:default="true"><Label>Large</Label></Configuration>
    </DeploymentOptionSection>
    <NetworkSection><Network ovf:name="a"/><Network ovf:name="b"/></NetworkSection>`;
    const items = [
      ...[cpus(1, 1), cpus(1, 2, 'ovf:configuration="small large"')],
      ...[cpus(1, 4, 'ovf:configuration="large"'), adapter(2, 'a')],
      adapter(3, 'b', 'ovf:configuration="large"'),
      hardwareItem({ ResourceType: 3, VirtualQuantity: 8 }, 'ovf:configuration="large"'),
    ].join('');
    const { systems, deploymentOptions, findings } = await readDescriptor(machine(items, OPTIONS));
    expect(findings).toEqual([]);
    expect(deploymentOptions).toEqual([
      { id: 'small', label: 'Small', description: 'For tests', default: false },
      { id: 'large', label: 'Large', description: null, default: true },
    ]);
    const small = { ...UNKNOWN, cpus: 2, networks: ['a'] };
    const large = { ...UNKNOWN, cpus: 12, networks: ['a', 'b'] };
    expect(systems[0]?.hardware).toEqual(large);
    expect(systems[0]?.options).toEqual([
      { option: 'small', hardware: small },
      { option: 'large', hardware: large },
    ]);
    // Options that make no difference are not listed; the first is the default.
    const unmarked = machine(cpus(1, 1), OPTIONS.replace('ovf:default="true"', ''));
    const same = await readDescriptor(unmarked);
    expect(same.deploymentOptions.map((option) => option.default)).toEqual([true, false]);
    expect(same.systems[0]?.options).toEqual([]);
  });
});

describe('a descriptor of few bytes that repeats a long name', () => {
  const long = 'x'.repeat(100_000);
  const many = (text: string) => text.repeat(200);
  const item = hardwareItem({ ResourceType: 3 }, 'ovf:configuration="0"');
  const option = (_: unknown, id: number) =>
    `<Configuration ovf:id="${id === 0 ? 0 : id + long.slice(90_000)}"/>`;
  const OPTIONS = Array.from({ length: 32 }, option).join('');
  const virtual = (content: string) =>
    `<VirtualSystem ovf:id="vm"><VirtualHardwareSection>${content}</VirtualHardwareSection></VirtualSystem>`;
  const disk = (_: unknown, id: number) =>
    `<Disk ovf:diskId="${id}" ovf:capacity="1" ovf:fileRef="f"/>`;

  it.each([
    [
      'of a collection',
      `<VirtualSystemCollection ovf:id="${long}">${many(virtual(''))}</VirtualSystemCollection>`,
    ],
    [
      'of a deployment option',
      `<DeploymentOptionSection>${OPTIONS}</DeploymentOptionSection>${many(virtual(item))}`,
    ],
    [
      'of a file',
      `<References><File ovf:id="f" ovf:href="${long}"/></References><DiskSection>${Array.from({ length: 200 }, disk).join('')}</DiskSection>`,
    ],
  ])('%s is invalid, with one finding', async (_what, sections) => {
    const summary = await readDescriptor(envelope(sections));
    expect(summary).toMatchObject({ ovfVersion: null, systems: [], disks: [] });
    expect(summary.findings).toEqual([
      {
        code: 'xml-too-complex',
        severity: 'error',
        place: 'vm.ovf:1',
        message: 'repeated names take more than 16 MiB',
      },
    ]);
  });
});

it('a descriptor with many properties of a long class is read soon', async () => {
  const property = (_: unknown, key: number) => `<Property ovf:key="${key}"/>`;
  const properties = Array.from({ length: 400 }, property).join('');
  const section = `<ProductSection ovf:class="${'x'.repeat(2 ** 21)}">${properties}</ProductSection>`;
  const seconds = await cpuSeconds(async () => {
    expect(codes(await readDescriptor(envelope(section)))).toEqual([]);
  });
  expect(seconds).toBeLessThan(1);
});

it('systems and products are found inside collections', async () => {
  const { systems, products, findings } = await readDescriptor(
    envelope(`<VirtualSystemCollection ovf:id="outer">
      <ProductSection><Product>Suite</Product><Vendor>V</Vendor><Version>1</Version>
        <FullVersion>1.0.1</FullVersion><Property ovf:key="a"/><Property ovf:key="b"/></ProductSection>
      <VirtualSystem ovf:id="one"><Name>First</Name></VirtualSystem>
      <VirtualSystemCollection ovf:id="inner">
        <VirtualSystem ovf:id="two"><ProductSection><Product>Part</Product></ProductSection></VirtualSystem>
      </VirtualSystemCollection>
    </VirtualSystemCollection>`),
  );
  expect(findings).toEqual([]);
  expect(systems.map(({ id, name, collections }) => [id, name, collections])).toEqual([
    ['one', 'First', ['outer']],
    ['two', 'two', ['outer', 'inner']],
  ]);
  expect(products).toEqual([
    { product: 'Suite', vendor: 'V', version: '1', fullVersion: '1.0.1', properties: 2 },
    { product: 'Part', vendor: null, version: null, fullVersion: null, properties: 0 },
  ]);
});

describe('a descriptor of another program', () => {
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
    disks: [{ id: 'disk1', file: 'group1/volume1', format: 'raw', capacity: null }],
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
    ['elements without a namespace', 'ovf-0.9', { ...WEB, ovfVersion: '0.9' }],
    ['elements without a namespace', 'ovf-1.0-draft', { ...WEB, ovfVersion: '1.0' }],
    ['files by href and disks by file', 'ovirt', OVIRT],
    ['shared disks', 'ovf-2.0-shared-disk', SHARED],
    ['no system', 'collection-without-systems', { found: ['empty-collection?'], systems: [] }],
  ])('may have %s (%s)', async (_, name, expected) => {
    expect(await read(`${name}.ovf`)).toMatchObject(expected);
  });

  it('has a finding for a disk of oVirt whose file is unknown', async () => {
    const change = (xml: string) => xml.replace('Resource>group1/volume1', 'Resource>group1/x');
    expect((await read('ovirt.ovf', change)).found).toEqual(['unknown-disk', 'missing-file']);
  });
});
