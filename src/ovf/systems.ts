// Reads the virtual systems of an envelope and the hardware that each deployment option gives them.

import {
  attribute,
  bytesPerUnit,
  childrenOf,
  childText,
  kindOf,
  type Report,
  setting,
} from './elements.ts';
import type { DeploymentOption, Hardware, VirtualSystem } from './summary.ts';
import type { XmlElement } from './xml.ts';

/** A VirtualSystem element and the identifiers of the collections around it, outermost first. */
export interface SystemElement {
  readonly element: XmlElement;
  readonly collections: readonly string[];
}

export function findSystems(
  element: XmlElement,
  collections: readonly string[] = [],
): SystemElement[] {
  return childrenOf(element, 'VirtualSystem', 'VirtualSystemCollection').flatMap((child) => {
    if (kindOf(child) === 'VirtualSystem') return { element: child, collections };
    return findSystems(child, [...collections, attribute(child, 'id') ?? '']);
  });
}

export function readSystem(
  { element, collections }: SystemElement,
  options: readonly DeploymentOption[],
  context: DeclaredNames,
  report: Report,
): VirtualSystem {
  const id = attribute(element, 'id');
  // Further hardware sections are alternatives to the first.
  const section = childrenOf(element, 'VirtualHardwareSection')[0];
  const items = section === undefined ? [] : readItems(section, context, report);
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

/** What items may refer to. */
export interface DeclaredNames {
  /** Identifiers of the disks of the disk section. */
  readonly disks: ReadonlySet<string>;
  /** Identifiers of the references. */
  readonly files: ReadonlySet<string>;
  /** Names of the networks of the network section. */
  readonly networks: ReadonlySet<string>;
}

/** A hardware item as far as it counts here. */
export interface Item {
  /** Items with the same one stand for the same device. */
  readonly instance: string | null;
  /** Deployment options that it is for; empty for all. */
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

/** The items of a hardware section; what they refer to and does not exist becomes a finding. */
export function readItems(section: XmlElement, context: DeclaredNames, report: Report): Item[] {
  return childrenOf(section, 'Item', 'StorageItem', 'EthernetPortItem')
    .filter((item) => (attribute(item, 'bound') ?? 'normal') === 'normal')
    .map((item) => readItem(item, context, report));
}

function readItem(item: XmlElement, context: DeclaredNames, report: Report): Item {
  const type = setting(item, 'ResourceType');
  const quantity = Number(setting(item, 'VirtualQuantity') ?? Number.NaN);
  const [, kind, id = null] =
    /^(?:ovf:)?\/(disk|file)\/(.+)$/.exec(setting(item, 'HostResource') ?? '') ?? [];
  const network = type === ETHERNET ? setting(item, 'Connection') : null;
  if (kind === 'disk' && id !== null && !context.disks.has(id)) {
    report('unknown-disk', item, `no disk has the identifier ${id}`);
  }
  if (kind === 'file' && id !== null && !context.files.has(id)) {
    report('unknown-file-reference', item, `no reference has the identifier ${id}`);
  }
  if (network !== null && !context.networks.has(network)) {
    report('unknown-network', item, `the network section has no ${network}`);
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
  if (bytes === null) report('unknown-unit', item, `unit ${unit} of memory`);
  return bytes ?? Number.NaN;
}

/** The hardware with a deployment option: an item made for it replaces the general one of its instance. */
export function hardwareFor(items: readonly Item[], option: string | null): Hardware {
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

/** A sum, or null where it is nothing or unknown. */
function total(quantities: readonly number[]): number | null {
  const sum = quantities.reduce((before, quantity) => before + quantity, 0);
  return Number.isSafeInteger(sum) && sum > 0 ? sum : null;
}
