// Reads the systems of a descriptor: the hardware that each deployment option gives them.

import type { XmlElement } from '../xml.ts';
import {
  attribute,
  bytesPerUnit,
  childrenOf,
  childText,
  elementKind,
  hasEmpty,
  type Report,
  settingOf,
  wholeNumber,
} from './elements.ts';

export interface Hardware {
  readonly cpus: number | null;
  /** Bytes. */
  readonly memory: number | null;
  /** The disk of each hard disk device; null if it names none. */
  readonly disks: readonly (string | null)[];
  /** The network of each adapter; null if it names none. */
  readonly networks: readonly (string | null)[];
}

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
  options: readonly { readonly id: string; readonly default: boolean }[],
  declared: DeclaredNames,
  report: Report,
) {
  const id = attribute(element, 'id');
  if (id === null) report('missing-attribute', element, `${element.name} without id`);
  // Other hardware sections are alternatives to the first.
  const [section] = childrenOf(element, 'VirtualHardwareSection');
  if (section === undefined) report('no-hardware', element, 'no VirtualHardwareSection');
  const items = section === undefined ? [] : readItems(section, declared, report);
  const system = childrenOf(element, 'OperatingSystemSection')[0];
  const dependent = items.some((item) => item.options.length > 0) ? options : [];
  const standard = options.find((option) => option.default)?.id ?? null;
  const chosen = [standard, ...dependent.map((option) => option.id)].map((option) =>
    chooseItems(items, option),
  );
  checkPlaces(chosen, report);
  const [usual = items, ...others] = chosen;
  return {
    id,
    name: childText(element, 'Name') ?? id,
    /** Identifiers of the enclosing collections, outermost first. */
    collections,
    operatingSystem: (system && childText(system, 'Description')) ?? null,
    hardwareFamilies: section === undefined ? [] : familiesOf(section),
    hardware: addUp(usual),
    /** With each deployment option; empty if none makes a difference. */
    options: dependent.map((option, index) => {
      return { option: option.id, hardware: addUp(others[index] ?? usual) };
    }),
  };
}

function familiesOf(section: XmlElement): string[] {
  const [system] = childrenOf(section, 'System');
  return (system && settingOf(system, 'VirtualSystemType'))?.split(/[\s,]+/) ?? [];
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

/** CIM resource types. */
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

type Item = ItemHardware & Omit<ReturnType<typeof identityOf>, 'bound'>;

function readItems(section: XmlElement, declared: DeclaredNames, report: Report): Item[] {
  const items = childrenOf(section, 'Item', 'StorageItem', 'EthernetPortItem').map(identityOf);
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
    .map((item) => ({ ...item, ...readHardware(item.element, declared, report) }));
}

/** What every item needs, with the names of OVF 0.9. */
const NEEDED = [
  ['InstanceID', 'InstanceId'],
  ['ElementName', 'Caption'],
  ['ResourceType'],
] as const;

function checkItem(element: XmlElement, report: Report): void {
  const lacking = NEEDED.filter((names) =>
    names.every((name) => settingOf(element, name) === null),
  );
  if (lacking.length === 0) return;
  const isBare = lacking.length === NEEDED.length;
  const what = isBare ? 'readable settings' : lacking.map(([name]) => name).join(', ');
  report('incomplete-item', element, `${element.name} without ${what}`);
}

function identityOf(element: XmlElement) {
  return {
    element,
    /** Items with the same instance describe the same device. */
    instance: settingOf(element, 'InstanceID') ?? settingOf(element, 'InstanceId'),
    bound: attribute(element, 'bound') ?? 'normal',
    /** The deployment options it applies to; empty for all. */
    options: attribute(element, 'configuration')?.split(/\s+/).filter(Boolean) ?? [],
  };
}

function readHardware(item: XmlElement, declared: DeclaredNames, report: Report): ItemHardware {
  const type = settingOf(item, 'ResourceType');
  const disk = diskOf(item, type, declared, report);
  const network = type === ETHERNET ? settingOf(item, 'Connection') : null;
  if (network !== null && !declared.networks.has(network)) {
    report('unknown-network', item, `unknown network ${network}`);
  }
  return {
    cpus: type === PROCESSOR ? [quantityOf(item, report)] : [],
    memory: type === MEMORY ? [memoryOf(item, report)] : [],
    disks: type === HARD_DISK ? [disk] : [],
    networks: type === ETHERNET ? [network] : [],
  };
}

function quantityOf(item: XmlElement, report: Report): number | null {
  return wholeNumber(settingOf(item, 'VirtualQuantity'), 'VirtualQuantity', item, report);
}

const MIB = 2 ** 20;
/** MiB. */
const MAX_MEMORY = 2 ** 24;

/** Returns bytes; null if unknown. Without a unit, programs read MiB, such as virt-v2v. */
function memoryOf(item: XmlElement, report: Report): number | null {
  const quantity = quantityOf(item, report);
  const unit = settingOf(item, 'AllocationUnits');
  if (quantity === null) return null;
  if (unit === null && quantity <= MAX_MEMORY) {
    report('unknown-unit', item, `no memory unit, read as ${quantity} MiB`);
    return quantity * MIB;
  }
  const bytes = unit === null ? null : bytesPerUnit(unit);
  if (bytes === null) {
    report('unknown-unit', item, unit === null ? 'no memory unit' : `unknown memory unit ${unit}`);
    return null;
  }
  if (Number.isSafeInteger(quantity * bytes)) return quantity * bytes;
  report('bad-number', item, `VirtualQuantity is too large (got ${quantity} ${unit})`);
  return null;
}

/** `ovf:/disk/<id>`, in drafts `ovf://disk/<id>`, in oVirt the disk's file; of other devices anything. */
function diskOf(item: XmlElement, type: string | null, declared: DeclaredNames, report: Report) {
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

/** Returns the items of an option, whose last item with an instance replaces all others with that instance. */
function chooseItems(items: readonly Item[], option: string | null): Item[] {
  const isFor = (item: Item) => option !== null && item.options.includes(option);
  const last = new Map(items.filter(isFor).map((item) => [item.instance, item]));
  return items.filter((item) => {
    const replacement = item.instance === null ? undefined : last.get(item.instance);
    if (isFor(item)) return replacement === undefined || replacement === item;
    return item.options.length === 0 && replacement === undefined;
  });
}

/** CIM resource types. */
const DRIVES = ['14', '15', '16', HARD_DISK];
const CONTROLLERS = ['1', '5', '6', '7', '8', '9', '20', '23', '25'];

/** In oVirt, the Parent of a disk is the image that it is based on. */
const IMAGE_OF_OVIRT = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Reports disks and drives without a place of their own at a controller: vSphere and VirtualBox refuse them. */
function checkPlaces(chosen: readonly (readonly Item[])[], report: Report): void {
  const reported = new Set<XmlElement>();
  for (const items of chosen) {
    const types = new Map(
      items.map(({ instance, element }) => [instance, settingOf(element, 'ResourceType') ?? '']),
    );
    const taken = new Set<string>();
    for (const { element } of items) {
      if (!DRIVES.includes(settingOf(element, 'ResourceType') ?? '')) continue;
      const problem = placeProblem(element, types, taken);
      if (problem === null || reported.has(element)) continue;
      reported.add(element);
      report('device-place', element, problem);
    }
  }
}

/** @param types by instance. @param taken places, to which its own is added */
function placeProblem(
  element: XmlElement,
  types: ReadonlyMap<string | null, string>,
  taken: Set<string>,
): string | null {
  const name = settingOf(element, 'ElementName') ?? settingOf(element, 'Caption') ?? 'drive';
  const parent = settingOf(element, 'Parent');
  if (parent === null) return hasEmpty(element, 'Parent') ? `${name}: its Parent is empty` : null;
  if (IMAGE_OF_OVIRT.test(parent)) return null;
  const type = types.get(parent);
  if (type === undefined) return `${name}: unknown Parent ${parent}`;
  if (!CONTROLLERS.includes(type)) return `${name}: its Parent ${parent} is no controller`;
  const address = settingOf(element, 'AddressOnParent');
  if (address === null) return null;
  const place = JSON.stringify([parent, /^\d{1,9}$/.test(address) ? Number(address) : address]);
  if (taken.has(place)) return `${name}: another drive has address ${address} of Parent ${parent}`;
  taken.add(place);
  return null;
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

/** CIM resource types; also that of VMware's sound cards, which is "other". */
const DEVICES: ReadonlyMap<string, string> = new Map([
  ['22', 'a parallel port'],
  ['23', 'a USB controller'],
  ['35', 'a sound card'],
]);

export function checkHardware(root: XmlElement, maxHardware: number, report: Report): void {
  for (const { element } of findSystems(root)) {
    const [section] = childrenOf(element, 'VirtualHardwareSection');
    if (section === undefined) continue;
    const [system = section] = childrenOf(section, 'System');
    const types = familiesOf(section);
    const versions = types.flatMap((type) => /^vmx-0*(\d{1,4})$/i.exec(type)?.[1] ?? []);
    const named = types.join(', ');
    if (types.length > 0 && versions.length === 0)
      report(
        'other-hardware',
        system,
        `${named}, no vmx version to compare with vmx-${maxHardware}`,
      );
    // A system that lists several runs on any of them.
    else if (types.length > 0 && versions.every((version) => Number(version) > maxHardware))
      report('newer-hardware', system, `${named}, newer than vmx-${maxHardware}`);
    for (const item of childrenOf(section, 'Item')) {
      const subtype = settingOf(item, 'ResourceSubType') ?? '';
      const type = settingOf(item, 'ResourceType') ?? '';
      const device = /soundcard/i.test(subtype) ? 'a sound card' : DEVICES.get(type);
      if (device !== undefined)
        report('unsupported-device', item, `${device} (${subtype || type})`);
    }
  }
}
