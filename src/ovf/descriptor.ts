// Reads the descriptor of a package: its sections, and the hardware that each deployment option gives a system.

import { parseXml, type XmlElement, XmlError, type XmlLimits } from '../xml.ts';
import {
  attribute,
  bytesPerUnit,
  childrenOf,
  childText,
  elementKind,
  isOvirt,
  ovfVersionOf,
  type Report,
  setting,
  textLength,
} from './elements.ts';
import { type PackageSource, readRegion } from './package-source.ts';

/** A large real descriptor has a tenth of these elements. */
export const DESCRIPTOR_LIMITS: XmlLimits = { bytes: 16 * 1024 * 1024, nodes: 100_000, depth: 100 };
const MAX_OPTIONS = 32;

/** Returns null if the descriptor is missing or unreadable. */
export async function readDescriptor(
  { descriptor: file, findings }: PackageSource,
  maxHardware: number | undefined,
) {
  if (!file?.complete) return null;
  if (file.size > DESCRIPTOR_LIMITS.bytes) {
    findings.add('descriptor-too-large', file.name, `${file.size} bytes, more than 16 MiB`);
    return null;
  }
  const bytes = await readRegion(file, 0, file.size);
  try {
    const root = parseXml(bytes, DESCRIPTOR_LIMITS);
    const report: Report = (code, { line }, message) =>
      findings.add(code, `${file.name}:${line}`, message);
    if (maxHardware !== undefined) checkHardware(root, maxHardware, report);
    const envelope = readEnvelope(root, report);
    if (textLength(envelope) <= DESCRIPTOR_LIMITS.bytes) return envelope;
    throw new XmlError('xml-too-complex', 'repeated names take more than 16 MiB', root.line);
  } catch (thrown) {
    if (!(thrown instanceof XmlError)) throw thrown;
    findings.add(thrown.code, `${file.name}:${thrown.line}`, thrown.message);
    return null;
  }
}

export type FileReference = ReturnType<typeof readReferences>[number];
export type Disk = ReturnType<typeof readDisks>[number];

function readEnvelope(root: XmlElement, report: Report) {
  const ovfVersion = ovfVersionOf(root);
  if (ovfVersion === null) {
    const namespace = root.namespace || 'without a namespace';
    report('not-an-envelope', root, `the root element is ${root.name} (${namespace})`);
    return null;
  }
  const references = readReferences(root, report);
  const disks = readDisks(root, references, report);
  const networks = grandchildrenOf(root, 'NetworkSection', 'Network').map((network) => {
    const description = childText(network, 'Description');
    return { name: attribute(network, 'name') ?? '', description };
  });
  const configurations = grandchildrenOf(root, 'DeploymentOptionSection', 'Configuration');
  const deploymentOptions = readOptions(configurations, report);
  const declared = {
    disks: new Set(disks.map(({ id }) => id)),
    files: new Set(references.map(({ id }) => id)),
    networks: new Set(networks.map(({ name }) => name)),
    options: new Set(configurations.map((element) => attribute(element, 'id'))),
    ovirtDisks: isOvirt(root) ? new Map(disks.map(({ id, file }) => [file, id])) : null,
  };
  for (const strings of childrenOf(root, 'Strings')) {
    const file = attribute(strings, 'fileRef') || null;
    if (file === null || declared.files.has(file)) continue;
    report('unknown-strings-file', strings, `unknown file ${file} for translated texts`);
  }
  const systems = findSystems(root);
  if (systems.length === 0) {
    const [collection] = childrenOf(root, 'VirtualSystemCollection');
    if (collection === undefined) report('missing-element', root, 'no virtual system');
    else report('empty-collection', collection, 'no virtual system in the collection');
  }
  return {
    /** The version attribute, else 0.9, 1.x or 2.x by namespace. */
    ovfVersion,
    products: findProducts(root).map((section) => ({
      product: childText(section, 'Product'),
      vendor: childText(section, 'Vendor'),
      version: childText(section, 'Version'),
      fullVersion: childText(section, 'FullVersion'),
      properties: childrenOf(section, 'Property').length,
    })),
    systems: systems.map((system) => readSystem(system, deploymentOptions, declared, report)),
    disks,
    networks,
    deploymentOptions,
    references,
  };
}

function readReferences(root: XmlElement, report: Report) {
  if (childrenOf(root, 'References').length === 0) {
    report('missing-element', root, 'no References section');
  }
  const seen = new Set<string>();
  return grandchildrenOf(root, 'References', 'File').flatMap((element) => {
    const id = identifier(element, 'id', seen, report);
    const href = required(element, 'href', report);
    if (id === null || href === null) return [];
    const size = numberOf(element, 'size', report);
    /** Bytes per chunk, for a file stored in chunks. */
    const chunkSize = numberOf(element, 'chunkSize', report);
    return { id, href, size, chunkSize, compression: attribute(element, 'compression') };
  });
}

function readDisks(root: XmlElement, references: readonly FileReference[], report: Report) {
  const keys = isOvirt(root) ? (['id', 'href'] as const) : (['id'] as const);
  const hrefs = new Map(
    keys.flatMap((key) => references.map((reference) => [reference[key], reference.href])),
  );
  const elements = childrenOf(root, 'DiskSection', 'SharedDiskSection').flatMap((section) =>
    childrenOf(section, 'Disk', 'SharedDisk'),
  );
  const known = new Map(elements.map((element) => [attribute(element, 'diskId'), element]));
  checkParents(known, report);
  const seen = new Set<string>();
  return elements.flatMap((element) => {
    const id = identifier(element, 'diskId', seen, report);
    if (id === null) return [];
    // An empty identifier means nothing, as in exports of VMware and oVirt.
    const fileRef = attribute(element, 'fileRef') || null;
    const file = fileRef === null ? null : (hrefs.get(fileRef) ?? null);
    if (fileRef !== null && file === null) {
      report('unknown-file-reference', element, `disk ${id}: unknown file ${fileRef}`);
    }
    const parent = attribute(element, 'parentRef') || null;
    if (parent !== null && !known.has(parent)) {
      report('unknown-disk', element, `disk ${id}: unknown parent disk ${parent}`);
    }
    /** Bytes; null if it is missing, invalid or set by a property. */
    const capacity = capacityOf(element, report);
    // The format is a URI; the file is an href, or null for an empty disk.
    return { id, capacity, format: attribute(element, 'format'), file };
  });
}

/** Reports one disk of each cycle. */
function checkParents(disks: ReadonlyMap<string | null, XmlElement>, report: Report): void {
  /** Each disk with the one at which the walk that reached it began. */
  const seen = new Map<XmlElement, XmlElement>();
  for (const start of disks.values()) {
    let disk: XmlElement | undefined = start;
    while (disk && !seen.has(disk)) {
      seen.set(disk, start);
      const parent = attribute(disk, 'parentRef');
      disk = parent ? disks.get(parent) : undefined;
    }
    if (disk && seen.get(disk) === start)
      report('disk-cycle', disk, `disk ${attribute(disk, 'diskId')} is among its own parents`);
  }
}

function capacityOf(disk: XmlElement, report: Report): number | null {
  const written = required(disk, 'capacity', report);
  // A property sets it at deployment.
  if (written === null || /^\$\{.*\}$/.test(written)) return null;
  const quantity = numberOf(disk, 'capacity', report);
  const unit = attribute(disk, 'capacityAllocationUnits');
  const bytes = bytesPerUnit(unit);
  if (bytes === null) report('unknown-unit', disk, `unknown capacity unit ${unit}`);
  if (quantity === null || bytes === null) return null;
  if (Number.isSafeInteger(quantity * bytes)) return quantity * bytes;
  report('bad-number', disk, `capacity is too large (got ${written} ${unit})`);
  return null;
}

function grandchildrenOf(root: XmlElement, section: string, kind: string): XmlElement[] {
  return childrenOf(root, section).flatMap((child) => childrenOf(child, kind));
}

function readOptions(configurations: readonly XmlElement[], report: Report) {
  const firstIgnored = configurations[MAX_OPTIONS];
  if (firstIgnored !== undefined) {
    report('too-many-options', firstIgnored, `only the first ${MAX_OPTIONS} options are read`);
  }
  const seen = new Set<string>();
  const considered = configurations.slice(0, MAX_OPTIONS);
  // Without a marked option the first is the default.
  const marked = considered.find((element) =>
    /^(true|1)$/.test(attribute(element, 'default') ?? ''),
  );
  return considered.flatMap((element) => {
    const id = identifier(element, 'id', seen, report);
    if (id === null) return [];
    const label = childText(element, 'Label');
    const description = childText(element, 'Description');
    return { id, label, description, default: element === (marked ?? considered[0]) };
  });
}

function findProducts(element: XmlElement): XmlElement[] {
  return childrenOf(element, 'ProductSection', 'VirtualSystemCollection', 'VirtualSystem').flatMap(
    (child) => (elementKind(child) === 'ProductSection' ? child : findProducts(child)),
  );
}

function required(element: XmlElement, name: string, report: Report): string | null {
  const value = attribute(element, name);
  if (value === null) report('missing-attribute', element, `${element.name} without ${name}`);
  return value;
}

/** Returns a required identifier and reports one that was seen before. */
function identifier(element: XmlElement, name: string, seen: Set<string>, report: Report) {
  const id = required(element, name, report);
  if (id !== null && seen.has(id)) {
    report('duplicate-id', element, `another ${element.name} has the identifier ${id}`);
  }
  if (id !== null) seen.add(id);
  return id;
}

function numberOf(
  element: XmlElement,
  name: string,
  report: Report,
  written = attribute(element, name),
): number | null {
  if (written === null) return null;
  const value = /^\d{1,16}$/.test(written.trim()) ? Number(written) : Number.NaN;
  if (Number.isSafeInteger(value)) return value;
  report('bad-number', element, `${name} must be a whole number (got ${written})`);
  return null;
}

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

function findSystems(element: XmlElement, collections: readonly string[] = []): SystemElement[] {
  return childrenOf(element, 'VirtualSystem', 'VirtualSystemCollection').flatMap((child) => {
    if (elementKind(child) === 'VirtualSystem') return { element: child, collections };
    return findSystems(child, [...collections, attribute(child, 'id') ?? '']);
  });
}

function readSystem(
  { element, collections }: SystemElement,
  options: readonly { readonly id: string; readonly default: boolean }[],
  declared: DeclaredNames,
  report: Report,
) {
  const id = attribute(element, 'id');
  if (id === null) report('missing-attribute', element, `${element.name} without id`);
  // Other hardware sections are alternatives to the first.
  const [section] = childrenOf(element, 'VirtualHardwareSection');
  const items = section === undefined ? [] : readItems(section, declared, report);
  const system = childrenOf(element, 'OperatingSystemSection')[0];
  const dependent = items.some((item) => item.options.length > 0) ? options : [];
  const standard = options.find((option) => option.default)?.id ?? null;
  return {
    id,
    name: childText(element, 'Name') ?? id,
    /** Identifiers of the enclosing collections, outermost first. */
    collections,
    operatingSystem: (system && childText(system, 'Description')) ?? null,
    hardwareFamilies: section === undefined ? [] : familiesOf(section),
    /** With the default deployment option, if there are options. */
    hardware: hardwareFor(items, standard),
    /** With each deployment option; empty if none makes a difference. */
    options: dependent.map((option) => {
      return { option: option.id, hardware: hardwareFor(items, option.id) };
    }),
  };
}

function familiesOf(section: XmlElement): string[] {
  const [system] = childrenOf(section, 'System');
  return (system && setting(system, 'VirtualSystemType'))?.split(/[\s,]+/) ?? [];
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

/** CIM resource types. */
const PROCESSOR = '3';
const MEMORY = '4';
const ETHERNET = '10';
const HARD_DISK = '17';

type Item = Hardware & Pick<ReturnType<typeof identityOf>, 'instance' | 'options'>;

/** Items with the same instance must differ in bound or deployment options. */
function readItems(section: XmlElement, declared: DeclaredNames, report: Report): Item[] {
  const items = childrenOf(section, 'Item', 'StorageItem', 'EthernetPortItem').map(identityOf);
  const seen = new Set<string>();
  for (const { element, instance, bound, options } of items) {
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

function identityOf(element: XmlElement) {
  return {
    element,
    /** Items with the same instance describe the same device. */
    instance: setting(element, 'InstanceID') ?? setting(element, 'InstanceId'),
    bound: attribute(element, 'bound') ?? 'normal',
    /** The deployment options it applies to; empty for all. */
    options: attribute(element, 'configuration')?.split(/\s+/).filter(Boolean) ?? [],
  };
}

function readHardware(item: XmlElement, declared: DeclaredNames, report: Report): Hardware {
  const type = setting(item, 'ResourceType');
  const written = type === PROCESSOR || type === MEMORY ? setting(item, 'VirtualQuantity') : null;
  const quantity = numberOf(item, 'VirtualQuantity', report, written) ?? Number.NaN;
  const disk = diskOf(item, type, declared, report);
  const network = type === ETHERNET ? setting(item, 'Connection') : null;
  if (network !== null && !declared.networks.has(network)) {
    report('unknown-network', item, `unknown network ${network}`);
  }
  const unit = type === MEMORY ? setting(item, 'AllocationUnits') : null;
  const bytes = bytesPerUnit(unit);
  if (bytes === null) report('unknown-unit', item, `unknown memory unit ${unit}`);
  if (quantity * (bytes ?? 1) > Number.MAX_SAFE_INTEGER) {
    report('bad-number', item, `VirtualQuantity is too large (got ${written} ${unit})`);
  }
  return {
    cpus: type === PROCESSOR ? quantity : null,
    memory: type === MEMORY ? quantity * (bytes ?? Number.NaN) : null,
    disks: type === HARD_DISK ? [disk] : [],
    networks: type === ETHERNET ? [network] : [],
  };
}

/**
 * Returns the disk of a host resource: `ovf:/disk/<id>`, in drafts `ovf://disk/<id>`, in oVirt the disk's file. Those
 * of other devices can be anything.
 */
function diskOf(item: XmlElement, type: string | null, declared: DeclaredNames, report: Report) {
  const { disks, files, ovirtDisks } = declared;
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
function checkHardware(root: XmlElement, maxHardware: number, report: Report): void {
  for (const { element } of findSystems(root)) {
    const [section] = childrenOf(element, 'VirtualHardwareSection');
    if (section === undefined) continue;
    const [system = section] = childrenOf(section, 'System');
    const types = familiesOf(section);
    const versions = types.map((type) => Number(/^vmx-0*(\d{1,4})$/i.exec(type)?.[1]));
    // A system that lists several runs on any of them.
    if (versions.length > 0 && versions.every((version) => version > maxHardware)) {
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
