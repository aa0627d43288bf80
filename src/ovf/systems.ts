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

export interface SystemElement {
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
export interface DeclaredNames {
  readonly disks: ReadonlySet<string>;
  readonly files: ReadonlySet<string>;
  readonly networks: ReadonlySet<string>;
}

interface Item {
  /** Items with the same instance describe the same device. */
  readonly instance: string | null;
  /** The deployment options it applies to; empty for all. */
  readonly options: readonly string[];
  readonly cpus: number;
  /** Bytes. */
  readonly memory: number;
  readonly disk: string | null;
  readonly network: string | null;
}

/** CIM resource types. */
const PROCESSOR = '3';
const MEMORY = '4';
const ETHERNET = '10';
const HARD_DISK = '17';

function readItems(section: XmlElement, declared: DeclaredNames, report: Report): Item[] {
  return childrenOf(section, 'Item', 'StorageItem', 'EthernetPortItem')
    .filter((item) => (attribute(item, 'bound') ?? 'normal') === 'normal')
    .map((item) => readItem(item, declared, report));
}

function readItem(item: XmlElement, declared: DeclaredNames, report: Report): Item {
  const type = setting(item, 'ResourceType');
  const quantity = Number(setting(item, 'VirtualQuantity') ?? Number.NaN);
  const [, kind, id = null] =
    /^(?:ovf:)?\/(disk|file)\/(.+)$/.exec(setting(item, 'HostResource') ?? '') ?? [];
  const network = type === ETHERNET ? setting(item, 'Connection') : null;
  if (kind === 'disk' && id !== null && !declared.disks.has(id)) {
    report('unknown-disk', item, `unknown disk ${id}`);
  }
  if (kind === 'file' && id !== null && !declared.files.has(id)) {
    report('unknown-file-reference', item, `unknown file ${id}`);
  }
  if (network !== null && !declared.networks.has(network)) {
    report('unknown-network', item, `unknown network ${network}`);
  }
  return {
    instance: setting(item, 'InstanceID') ?? setting(item, 'InstanceId'),
    options: attribute(item, 'configuration')?.split(/\s+/).filter(Boolean) ?? [],
    cpus: type === PROCESSOR ? quantity : 0,
    memory: type === MEMORY ? quantity * unitOf(item, report) : 0,
    disk: type === HARD_DISK && kind === 'disk' ? id : null,
    network,
  };
}

function unitOf(item: XmlElement, report: Report): number {
  const unit = setting(item, 'AllocationUnits');
  const bytes = bytesPerUnit(unit);
  if (bytes === null) report('unknown-unit', item, `unknown memory unit ${unit}`);
  return bytes ?? Number.NaN;
}

/** Adds up the hardware for an option, whose items replace general items with the same instance. */
function hardwareFor(items: readonly Item[], option: string | null): Hardware {
  const isFor = (item: Item) => option !== null && item.options.includes(option);
  const replaced = new Set(items.filter(isFor).map(({ instance }) => instance));
  const chosen = items.filter(
    (item) =>
      isFor(item) ||
      (item.options.length === 0 && (item.instance === null || !replaced.has(item.instance))),
  );
  const present = (texts: (string | null)[]) => texts.filter((text) => text !== null);
  return {
    cpus: total(chosen.map(({ cpus }) => cpus)),
    memory: total(chosen.map(({ memory }) => memory)),
    disks: present(chosen.map(({ disk }) => disk)),
    networks: present(chosen.map(({ network }) => network)),
  };
}

function total(quantities: readonly number[]): number | null {
  const sum = quantities.reduce((before, quantity) => before + quantity, 0);
  return Number.isSafeInteger(sum) && sum > 0 ? sum : null;
}
