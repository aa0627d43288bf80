// Reads the systems of a descriptor: the hardware that each deployment option gives them.

import type { XmlElement } from '../xml.ts';
import {
  attribute,
  childrenOf,
  childText,
  familiesOf,
  parseWholeNumber,
  type Report,
  type SystemElement,
  settingOf,
  toBytes,
} from './elements.ts';
import { checkPlaces } from './hardware-checks.ts';

export interface Hardware {
  readonly cpus: number | null;
  /** Bytes. */
  readonly memory: number | null;
  /** The disk of each hard disk device; null if it names none. */
  readonly disks: readonly (string | null)[];
  /** The network of each adapter; null if it names none. */
  readonly networks: readonly (string | null)[];
}

export interface VirtualSystem {
  readonly id: string | null;
  readonly name: string | null;
  /** Identifiers of the enclosing collections, outermost first. */
  readonly collections: readonly string[];
  readonly operatingSystem: string | null;
  /** What VirtualSystemType lists, such as `vmx-13`. */
  readonly hardwareFamilies: readonly string[];
  /** With the default deployment option, if there are any. */
  readonly hardware: Hardware;
  /** With each deployment option; empty if none makes a difference. */
  readonly options: readonly { readonly option: string; readonly hardware: Hardware }[];
}

export function readSystem(
  { element, collections }: SystemElement,
  deploymentOptions: readonly { readonly id: string; readonly default: boolean }[],
  declared: DeclaredNames,
  report: Report,
): VirtualSystem {
  const id = attribute(element, 'id');
  if (id === null) report('missing-attribute', element, `${element.name} without id`);
  // Other hardware sections are alternatives to the first.
  const [section] = childrenOf(element, 'VirtualHardwareSection');
  if (section === undefined) report('no-hardware', element, 'no VirtualHardwareSection');
  const items = section === undefined ? [] : readItems(section, declared, report);
  const [operatingSystem] = childrenOf(element, 'OperatingSystemSection');
  const usual = deploymentOptions.find((option) => option.default)?.id ?? null;
  const usualItems = chooseItems(items, usual);
  const areChosen = items.some((item) => item.options.length > 0);
  const choices = (areChosen ? deploymentOptions : []).map((option) => {
    return { option: option.id, items: chooseItems(items, option.id) };
  });
  checkPlaces([usualItems, ...choices.map((choice) => choice.items)], report);
  return {
    id,
    name: childText(element, 'Name') ?? id,
    collections,
    operatingSystem: (operatingSystem && childText(operatingSystem, 'Description')) ?? null,
    hardwareFamilies: section === undefined ? [] : familiesOf(section),
    hardware: addUp(usualItems),
    options: choices.map(({ option, items: chosen }) => ({ option, hardware: addUp(chosen) })),
  };
}

interface DeclaredNames {
  readonly disks: ReadonlySet<string>;
  readonly files: ReadonlySet<string>;
  readonly networks: ReadonlySet<string>;
  /** Identifiers of all deployment options, including those that are not read. */
  readonly options: ReadonlySet<string | null>;
  /** Disks of oVirt by the names of their files; null for other packages. */
  readonly ovirtDisks: ReadonlyMap<string | null, string> | null;
}

/** Values of ResourceType in CIM. */
const PROCESSOR = '3';
const MEMORY = '4';
const ETHERNET = '10';
const HARD_DISK = '17';

/** What an item adds to the hardware of its system; null for what is unknown. */
interface ItemHardware extends Pick<Hardware, 'disks' | 'networks'> {
  readonly cpus: readonly (number | null)[];
  /** Bytes. */
  readonly memory: readonly (number | null)[];
}

/** A hardware item, before what it adds is read. */
interface ItemElement {
  readonly element: XmlElement;
  readonly type: string | null;
  /** Items with the same instance describe the same device. */
  readonly instance: string | null;
  readonly bound: string;
  /** The deployment options it applies to; empty for all. */
  readonly options: readonly string[];
}

type Item = ItemElement & ItemHardware;

function readItems(section: XmlElement, declared: DeclaredNames, report: Report): Item[] {
  const items = childrenOf(section, 'Item', 'StorageItem', 'EthernetPortItem').map(parseItem);
  const seen = new Set<string>();
  for (const { element, instance, bound, options } of items) {
    checkItem(element, report);
    for (const option of options) {
      if (declared.options.has(option)) continue;
      report('unknown-configuration', element, `unknown deployment option ${option}`);
    }
    if (instance === null) continue;
    const key = JSON.stringify([instance, bound, options.toSorted()]);
    if (seen.has(key)) {
      report('duplicate-instance', element, `another item has the InstanceID ${instance}`);
    }
    seen.add(key);
  }
  return items
    .filter(({ bound }) => bound === 'normal')
    .map((item) => ({ ...item, ...readHardware(item, declared, report) }));
}

function parseItem(element: XmlElement): ItemElement {
  return {
    element,
    type: settingOf(element, 'ResourceType'),
    instance: settingOf(element, 'InstanceID'),
    bound: attribute(element, 'bound') ?? 'normal',
    options: attribute(element, 'configuration')?.split(/\s/).filter(Boolean) ?? [],
  };
}

function checkItem(element: XmlElement, report: Report): void {
  const needed = ['InstanceID', 'ElementName', 'ResourceType'];
  const lacking = needed.filter((name) => settingOf(element, name) === null);
  if (lacking.length === 0) return;
  report('incomplete-item', element, `${element.name} without ${lacking.join(', ')}`);
}

function readHardware(item: ItemElement, declared: DeclaredNames, report: Report): ItemHardware {
  const { element, type } = item;
  const disk = resolveHostResource(element, type, declared, report);
  const network = type === ETHERNET ? settingOf(element, 'Connection') : null;
  if (network !== null && !declared.networks.has(network)) {
    report('unknown-network', element, `unknown network ${network}`);
  }
  return {
    cpus: type === PROCESSOR ? [quantityOf(element, report)] : [],
    memory: type === MEMORY ? [memoryOf(element, report)] : [],
    disks: type === HARD_DISK ? [disk] : [],
    networks: type === ETHERNET ? [network] : [],
  };
}

function quantityOf(item: XmlElement, report: Report): number | null {
  return parseWholeNumber(settingOf(item, 'VirtualQuantity'), 'VirtualQuantity', item, report);
}

/** Returns bytes; null if unknown. Without a unit, other programs read MiB, such as virt-v2v. */
function memoryOf(item: XmlElement, report: Report): number | null {
  const quantity = quantityOf(item, report);
  if (quantity === null) return null;
  const unit = settingOf(item, 'AllocationUnits');
  if (unit !== null) return toBytes(quantity, unit, 'memory', item, report);
  report('unknown-unit', item, `no memory unit, read as ${quantity} MiB`);
  const bytes = quantity * 2 ** 20;
  // 8 GiB, written in bytes, are too many MiB. The warning says enough.
  return Number.isSafeInteger(bytes) ? bytes : null;
}

/**
 * Checks what HostResource names, and returns its disk, named as `ovf:/disk/<id>`, in drafts as
 * `ovf://disk/<id>`, in oVirt by its file. Devices other than hard disks may name anything.
 */
function resolveHostResource(
  item: XmlElement,
  type: string | null,
  declared: DeclaredNames,
  report: Report,
): string | null {
  const { disks, files, ovirtDisks } = declared;
  const text = settingOf(item, 'HostResource');
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

/**
 * Returns the items of a deployment option: those without options, and its own, of which the last
 * with an instance replaces all others with that instance.
 *
 *     instance 1: 2 CPUs; for large: 4 CPUs, then 8 CPUs -> large has 8 CPUs, other options have 2
 */
function chooseItems(items: readonly Item[], option: string | null): Item[] {
  const own = new Set(items.filter(({ options }) => option !== null && options.includes(option)));
  const lastOwn = new Map([...own].map((item) => [item.instance, item]));
  return items.filter((item) => {
    const replacement = item.instance === null ? undefined : lastOwn.get(item.instance);
    if (replacement !== undefined) return item === replacement;
    return own.has(item) || item.options.length === 0;
  });
}

function addUp(chosen: readonly Item[]): Hardware {
  return {
    cpus: total(chosen.flatMap(({ cpus }) => cpus)),
    memory: total(chosen.flatMap(({ memory }) => memory)),
    disks: chosen.flatMap(({ disks }) => disks),
    networks: chosen.flatMap(({ networks }) => networks),
  };
}

/** Null if one is unknown: the sum of the others would be wrong. */
function total(quantities: readonly (number | null)[]): number | null {
  const known = quantities.filter((quantity) => quantity !== null);
  const sum = known.reduce((before, quantity) => before + quantity, 0);
  if (known.length < quantities.length) return null;
  return Number.isSafeInteger(sum) && sum > 0 ? sum : null;
}
