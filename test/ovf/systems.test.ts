// Virtual systems and their hardware, with each deployment option.

import { expect, it } from 'vitest';
import { envelope, hardwareItem as item, machine, readDescriptor } from './harness.ts';

const OPTIONS = `<DeploymentOptionSection>
  <Configuration ovf:id="small"><Label>Small</Label><Description>For tests</Description></Configuration>
  <Configuration ovf:id="large" ovf:default="true"><Label>Large</Label></Configuration>
</DeploymentOptionSection>
<NetworkSection><Network ovf:name="a"/><Network ovf:name="b"/></NetworkSection>`;

const cpus = (InstanceID: number, VirtualQuantity: number | string, attributes = '') =>
  item({ InstanceID, ResourceType: 3, VirtualQuantity }, attributes);
const memory = (InstanceID: number, VirtualQuantity: number, AllocationUnits: string) =>
  item({ InstanceID, ResourceType: 4, VirtualQuantity, AllocationUnits });
const adapter = (InstanceID: number, Connection: string, attributes = '') =>
  item({ InstanceID, ResourceType: 10, Connection }, attributes);
const UNKNOWN = { cpus: null, memory: null, disks: [], networks: [] };

const GIB = 1024 ** 3;
it.each([
  [
    'processors up to no bound',
    cpus(1, 2) + cpus(2, 1) + cpus(2, 8, 'ovf:bound="max"'),
    { cpus: 3 },
  ],
  [
    'memory in several units',
    memory(3, 3, 'byte * 2^30') + memory(4, 512, 'MB'),
    { memory: 3.5 * GIB },
  ],
  ['a disk that refers to nothing', item({ ResourceType: 17 }), { disks: [null] }],
  ['no items', '', {}],
  ['a quantity in words', cpus(1, 'two'), {}],
  ['no quantity', item({ ResourceType: 3 }), {}],
  ['a negative quantity', cpus(1, -1), {}],
])('the hardware of a system counts %s', async (_, items, hardware) => {
  const { systems, findings } = await readDescriptor(machine(items));
  expect([systems[0]?.hardware, findings]).toEqual([{ ...UNKNOWN, ...hardware }, []]);
});

it('the hardware of a system depends on the deployment option, whose last item of an instance counts', async () => {
  const items = [
    ...[cpus(1, 1), cpus(1, 2, 'ovf:configuration="small large"')],
    ...[cpus(1, 4, 'ovf:configuration="large"'), adapter(2, 'a')],
    adapter(3, 'b', 'ovf:configuration="large"'),
    item({ ResourceType: 3, VirtualQuantity: 8 }, 'ovf:configuration="large"'),
  ];
  const { systems, deploymentOptions, findings } = await readDescriptor(
    machine(items.join(''), OPTIONS),
  );
  expect(findings).toEqual([]);
  expect(deploymentOptions).toEqual([
    { id: 'small', label: 'Small', description: 'For tests', default: false },
    { id: 'large', label: 'Large', description: null, default: true },
  ]);
  const large = { ...UNKNOWN, cpus: 12, networks: ['a', 'b'] };
  expect(systems[0]?.hardware).toEqual(large);
  expect(systems[0]?.options).toEqual([
    { option: 'small', hardware: { ...UNKNOWN, cpus: 2, networks: ['a'] } },
    { option: 'large', hardware: large },
  ]);
});

it('deployment options that make no difference are not listed; the first is the default', async () => {
  const options = OPTIONS.replace('ovf:default="true"', '');
  const { systems, deploymentOptions } = await readDescriptor(machine(cpus(1, 1), options));
  expect(deploymentOptions.map((option) => option.default)).toEqual([true, false]);
  expect(systems[0]?.options).toEqual([]);
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
