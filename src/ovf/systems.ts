// Reads the virtual systems of an envelope and the hardware that each deployment option gives them.

import {
  attribute,
  bytesPerUnit,
  childrenOf,
  childText,
  elementKind,
  type Report,
  setting,
} from './elements.ts';
import type { DeploymentOption, Hardware, VirtualSystem } from './summary.ts';
import type { XmlElement } from './xml.ts';

interface SystemElement {
  readonly element: XmlElement;
  readonly collections: readonly string[];
}

export function findSystems(
  element: XmlElement,
  collections: readonly string[] = [],
): SystemElement[] {
  return childrenOf(element, 'VirtualSystem', 'VirtualSystemCollection').flatMap((child) => {
    if (elementKind(child) === 'VirtualSystem') return { element: child, collections };
    return findSystems(child, [...collections, attribute(child, 'id') ?? '']);
  });
}

export function readSystem(
  { element, collections }: SystemElement,
  options: readonly DeploymentOption[],
  declared: DeclaredNames,
  report: Report,
): VirtualSystem {
  const id = attribute(element, 'id');
  if (id === null) report('missing-attribute', element, `${element.name} without id`);
  // Other hardware sections are alternatives to the first.
  const section = childrenOf(element, 'VirtualHardwareSection')[0];
  const items = section === undefined ? [] : readItems(section, declared, report);
  const family = section && childrenOf(section, 'System')[0];
  const system = childrenOf(element, 'OperatingSystemSection')[0];
  const dependent = items.some((item) => item.options.length > 0) ? options : [];
  const standard = options.find((option) => option.default)?.id ?? null;
  return {
    id,
    name: childText(element, 'Name') ?? id,
    collections,
    operatingSystem: (system && childText(system, 'Description')) ?? null,
    hardwareFamilies: (family && setting(family, 'VirtualSystemType'))?.split(/[\s,]+/) ?? [],
    hardware: hardwareFor(items, standard),
    options: dependent.map((option) => {
      return { option: option.id, hardware: hardwareFor(items, option.id) };
    }),
  };
}

/** The identifiers and names that hardware items may refer to. */
interface DeclaredNames {
  readonly disks: ReadonlySet<string>;
  readonly files: ReadonlySet<string>;
  readonly networks: ReadonlySet<string>;
  /** Identifiers of all deployment options, including those that are not read. */
  readonly options: ReadonlySet<string | null>;
  /** Disks of oVirt by the names of their files; null for other packages. */
  readonly ovirtDisks: ReadonlyMap<string | null, string> | null;
}

interface Item extends Hardware {
  /** Items with the same instance describe the same device. */
  readonly instance: string | null;
  /** The deployment options it applies to; empty for all. */
  readonly options: readonly string[];
}

/** CIM resource types. */
const PROCESSOR = '3';
const MEMORY = '4';
const ETHERNET = '10';
const HARD_DISK = '17';

function readItems(section: XmlElement, declared: DeclaredNames, report: Report): Item[] {
  const items = childrenOf(section, 'Item', 'StorageItem', 'EthernetPortItem');
  checkIdentity(items, declared, report);
  return items
    .filter((item) => boundOf(item) === 'normal')
    .map((item) => readItem(item, declared, report));
}

/** Checks that items with the same instance differ in bound or deployment options, and that the options exist. */
function checkIdentity(items: readonly XmlElement[], declared: DeclaredNames, report: Report) {
  const seen = new Set<string>();
  for (const item of items) {
    const instance = instanceOf(item);
    const options = optionsOf(item);
    for (const option of options) {
      if (declared.options.has(option)) continue;
      report('unknown-configuration', item, `unknown deployment option ${option}`);
    }
    if (instance === null) continue;
    const key = JSON.stringify([instance, boundOf(item), options.sort()]);
    if (seen.has(key)) {
      report('duplicate-instance', item, `another item has the InstanceID ${instance}`);
    }
    seen.add(key);
  }
}

function boundOf(item: XmlElement): string {
  return attribute(item, 'bound') ?? 'normal';
}

function instanceOf(item: XmlElement): string | null {
  return setting(item, 'InstanceID') ?? setting(item, 'InstanceId');
}

function optionsOf(item: XmlElement): string[] {
  return attribute(item, 'configuration')?.split(/\s+/).filter(Boolean) ?? [];
}

function readItem(item: XmlElement, declared: DeclaredNames, report: Report): Item {
  const type = setting(item, 'ResourceType');
  const quantity = Number(setting(item, 'VirtualQuantity') ?? Number.NaN);
  const disk = diskOf(item, type, declared, report);
  const network = type === ETHERNET ? setting(item, 'Connection') : null;
  if (network !== null && !declared.networks.has(network)) {
    report('unknown-network', item, `unknown network ${network}`);
  }
  return {
    instance: instanceOf(item),
    options: optionsOf(item),
    cpus: type === PROCESSOR ? quantity : null,
    memory: type === MEMORY ? quantity * unitOf(item, report) : null,
    disks: type === HARD_DISK ? [disk] : [],
    networks: type === ETHERNET ? [network] : [],
  };
}

/**
 * Returns the disk of a host resource: `ovf:/disk/<id>`, in drafts `ovf://disk/<id>`, in oVirt the disk's file. What
 * other devices have is free.
 */
function diskOf(
  item: XmlElement,
  type: string | null,
  { disks, files, ovirtDisks }: DeclaredNames,
  report: Report,
): string | null {
  const text = setting(item, 'HostResource');
  if (text === null) return null;
  const [, kind, id = ''] = /^(?:ovf:)?\/{1,2}(disk|file)\/(.+)$/.exec(text) ?? [];
  if (kind === 'file') {
    if (!files.has(id)) report('unknown-file-reference', item, `unknown file ${id}`);
    return null;
  }
  if (kind === undefined && type !== HARD_DISK) return null;
  if (kind === undefined && ovirtDisks === null) {
    report('bad-host-resource', item, `host resource must be ovf:/disk/ID (got ${text})`);
    return null;
  }
  const disk = kind === undefined ? (ovirtDisks?.get(text) ?? text) : id;
  if (!disks.has(disk)) report('unknown-disk', item, `unknown disk ${disk}`);
  return disk;
}

function unitOf(item: XmlElement, report: Report): number {
  const unit = setting(item, 'AllocationUnits');
  const bytes = bytesPerUnit(unit);
  if (bytes === null) report('unknown-unit', item, `unknown memory unit ${unit}`);
  return bytes ?? Number.NaN;
}

/** Adds up the hardware for an option; its last item with an instance replaces all others with that instance. */
function hardwareFor(items: readonly Item[], option: string | null): Hardware {
  const isFor = (item: Item) => option !== null && item.options.includes(option);
  const last = new Map(items.filter(isFor).map((item) => [item.instance, item]));
  const chosen = items.filter((item) => {
    const replacement = item.instance === null ? undefined : last.get(item.instance);
    if (isFor(item)) return replacement === undefined || replacement === item;
    return item.options.length === 0 && replacement === undefined;
  });
  return {
    cpus: total(chosen.map(({ cpus }) => cpus ?? 0)),
    memory: total(chosen.map(({ memory }) => memory ?? 0)),
    disks: chosen.flatMap(({ disks }) => disks),
    networks: chosen.flatMap(({ networks }) => networks),
  };
}

function total(quantities: readonly number[]): number | null {
  const sum = quantities.reduce((before, quantity) => before + quantity, 0);
  return Number.isSafeInteger(sum) && sum > 0 ? sum : null;
}

/** CIM resource types; also that of VMware's sound cards, which is "other". */
const DEVICES: ReadonlyMap<string, string> = new Map([
  ['22', 'a parallel port'],
  ['23', 'a USB controller'],
  ['35', 'a sound card'],
]);

/** @param maxHardware the number of the newest version, such as 13 for vmx-13 */
export function checkHardware(root: XmlElement, maxHardware: number, report: Report): void {
  for (const { element } of findSystems(root)) {
    const [section] = childrenOf(element, 'VirtualHardwareSection');
    if (section === undefined) continue;
    const [system] = childrenOf(section, 'System');
    const types = (system && setting(system, 'VirtualSystemType'))?.split(/[\s,]+/) ?? [];
    const versions = types.map((type) => Number(/^vmx-0*(\d{1,4})$/i.exec(type)?.[1]));
    // A system that lists several runs on any of them.
    if (system && versions.length > 0 && versions.every((version) => version > maxHardware)) {
      report('newer-hardware', system, `${types.join(', ')}, newer than vmx-${maxHardware}`);
    }
    for (const item of childrenOf(section, 'Item')) {
      const subtype = setting(item, 'ResourceSubType') ?? '';
      const type = setting(item, 'ResourceType') ?? '';
      const device = /soundcard/i.test(subtype) ? 'a sound card' : DEVICES.get(type);
      if (device !== undefined)
        report('unsupported-device', item, `${device} (${subtype || type})`);
    }
  }
}
