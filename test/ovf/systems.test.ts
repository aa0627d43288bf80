// Virtual systems and their hardware, with each deployment option.

import { describe, expect, it } from 'vitest';
import { envelope, hardwareItem, machine, readDescriptor } from './harness.ts';

const OPTIONS = `<DeploymentOptionSection>
  <Configuration ovf:id="small"><Label>Small</Label><Description>For tests</Description></Configuration>
  <Configuration ovf:id="large" ovf:default="true"><Label>Large</Label></Configuration>
</DeploymentOptionSection>`;

function cpus(InstanceID: number, VirtualQuantity: number | string, attributes = ''): string {
  return hardwareItem({ InstanceID, ResourceType: 3, VirtualQuantity }, attributes);
}

function memory(InstanceID: number, VirtualQuantity: number, AllocationUnits: string): string {
  return hardwareItem({ InstanceID, ResourceType: 4, VirtualQuantity, AllocationUnits });
}

function adapter(InstanceID: number, Connection: string, attributes = ''): string {
  return hardwareItem({ InstanceID, ResourceType: 10, Connection }, attributes);
}

describe('the hardware of a system', () => {
  it('adds up processors and memory but not upper bounds', async () => {
    const processors = cpus(1, 2) + cpus(2, 1) + cpus(2, 8, 'ovf:bound="max"');
    const memories = memory(3, 3, 'byte * 2^30') + memory(4, 512, 'MegaBytes');
    const { systems, findings } = await readDescriptor(machine(processors + memories));
    expect(findings).toEqual([]);
    expect(systems[0]?.hardware).toEqual({
      cpus: 3,
      memory: 3.5 * 1024 ** 3,
      disks: [],
      networks: [],
    });
  });

  it.each([
    ['no items', ''],
    ['a quantity in words', cpus(1, 'two')],
    ['no quantity', hardwareItem({ ResourceType: 3 })],
    ['a negative quantity', cpus(1, -1)],
  ])('is unknown with %s', async (_, items) => {
    const { systems } = await readDescriptor(machine(items));
    expect(systems[0]?.hardware).toEqual({ cpus: null, memory: null, disks: [], networks: [] });
  });

  it('depends on the deployment option', async () => {
    const items =
      cpus(1, 1) +
      cpus(1, 4, 'ovf:configuration="other large"') +
      adapter(2, 'a') +
      adapter(3, 'b', 'ovf:configuration="large"');
    const networks =
      '<NetworkSection><Network ovf:name="a"/><Network ovf:name="b"/></NetworkSection>';
    const { systems, deploymentOptions } = await readDescriptor(machine(items, networks + OPTIONS));
    const small = { cpus: 1, memory: null, disks: [], networks: ['a'] };
    const large = { cpus: 4, memory: null, disks: [], networks: ['a', 'b'] };
    expect(deploymentOptions).toEqual([
      { id: 'small', label: 'Small', description: 'For tests', default: false },
      { id: 'large', label: 'Large', description: null, default: true },
    ]);
    expect(systems[0]?.hardware).toEqual(large);
    expect(systems[0]?.options).toEqual([
      { option: 'small', hardware: small },
      { option: 'large', hardware: large },
    ]);
  });

  it('counts devices that refer to nothing', async () => {
    const items =
      hardwareItem({ InstanceID: 1, ResourceType: 10 }) +
      hardwareItem({ InstanceID: 2, ResourceType: 17 }) +
      hardwareItem({ InstanceID: 3, ResourceType: 17 }, 'ovf:bound="max"');
    const { systems, findings } = await readDescriptor(machine(items));
    expect(findings).toEqual([]);
    expect(systems[0]?.hardware).toMatchObject({ disks: [null], networks: [null] });
  });

  it('uses the last item of an instance for an option', async () => {
    const items =
      cpus(1, 1) +
      cpus(1, 2, 'ovf:configuration="small large"') +
      cpus(1, 4, 'ovf:configuration="large"') +
      hardwareItem({ ResourceType: 3, VirtualQuantity: 8 }, 'ovf:configuration="large"');
    const { systems, findings } = await readDescriptor(machine(items, OPTIONS));
    expect(findings).toEqual([]);
    expect(systems[0]?.options).toMatchObject([
      { option: 'small', hardware: { cpus: 2 } },
      { option: 'large', hardware: { cpus: 12 } },
    ]);
  });

  it('lists no options that make no difference', async () => {
    const { systems, deploymentOptions } = await readDescriptor(machine(cpus(1, 1), OPTIONS));
    expect(deploymentOptions).toHaveLength(2);
    expect(systems[0]?.options).toEqual([]);
  });

  it('uses the first deployment option if none is the default', async () => {
    const xml = envelope(OPTIONS.replace('ovf:default="true"', ''));
    const { deploymentOptions } = await readDescriptor(xml);
    expect(deploymentOptions.map((option) => option.default)).toEqual([true, false]);
  });
});

describe('virtual systems', () => {
  it('are found inside collections', async () => {
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
});
