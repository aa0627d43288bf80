// Reads the descriptor of a package: its sections, and what is wrong with them.

import { parseXml, type XmlElement, XmlError, type XmlLimits } from '../xml.ts';
import {
  attribute,
  childrenOf,
  childText,
  elementKind,
  findSystems,
  isOvirt,
  numberOf,
  ovfVersionOf,
  type Report,
  required,
  takeId,
  toBytes,
} from './elements.ts';
import type { FindingList } from './findings.ts';
import { readSystem, type VirtualSystem } from './hardware.ts';
import { checkHardware } from './hardware-checks.ts';
import { type PackageFile, readWhole } from './package-file.ts';

/** A large real descriptor has a tenth of these elements. */
export const DESCRIPTOR_LIMITS: XmlLimits = { bytes: 16 * 1024 * 1024, nodes: 100_000, depth: 100 };
const MAX_OPTIONS = 32;

/** What a descriptor says of its package. */
export interface Envelope {
  /** The version attribute, else 0.9, 1.x or 2.x by namespace. */
  readonly ovfVersion: string;
  readonly products: readonly Product[];
  readonly systems: readonly VirtualSystem[];
  readonly disks: readonly Disk[];
  readonly networks: readonly { readonly name: string; readonly description: string | null }[];
  readonly deploymentOptions: readonly DeploymentOption[];
  readonly references: readonly FileReference[];
}

interface Product {
  readonly product: string | null;
  readonly vendor: string | null;
  readonly version: string | null;
  /** Such as `5.0.1 build 4711`. */
  readonly fullVersion: string | null;
  /** How many properties are declared. */
  readonly properties: number;
}

interface DeploymentOption {
  readonly id: string;
  readonly label: string | null;
  readonly description: string | null;
  readonly default: boolean;
}

export interface Disk {
  readonly id: string;
  /** Bytes; null if it is missing, invalid or set by a property. */
  readonly capacity: number | null;
  /** A URI, or `raw`. */
  readonly format: string | null;
  /** The href of its file; null for an empty disk. */
  readonly file: string | null;
  /** The disk that it is a delta of. */
  readonly parent: string | null;
}

export interface FileReference {
  readonly id: string;
  readonly href: string;
  /** Bytes. */
  readonly size: number | null;
  /** Bytes per chunk, for a file stored in chunks. */
  readonly chunkSize: number | null;
  /** Null if it is stored as it is. */
  readonly compression: string | null;
}

/** Returns null if the descriptor is missing or unreadable. */
export async function readDescriptor(
  file: PackageFile | null,
  findings: FindingList,
  maxHardware: number | undefined,
): Promise<Envelope | null> {
  const { bytes: maxBytes } = DESCRIPTOR_LIMITS;
  const bytes = file && (await readWhole(file, findings, maxBytes, 'descriptor-too-large'));
  if (!file || !bytes) return null;
  const report: Report = (code, { line }, message) =>
    findings.add(code, `${file.name}:${line}`, message);
  const root = parseRoot(bytes, report);
  if (root === null) return null;
  if (maxHardware !== undefined) checkHardware(root, maxHardware, report);
  const envelope = readEnvelope(root, report);
  if (textLength(envelope) <= maxBytes) return envelope;
  report('xml-too-complex', root, 'repeated names take more than 16 MiB');
  return null;
}

function parseRoot(bytes: Buffer, report: Report): XmlElement | null {
  try {
    return parseXml(bytes, DESCRIPTOR_LIMITS);
  } catch (thrown) {
    if (!(thrown instanceof XmlError)) throw thrown;
    report(thrown.code, thrown, thrown.message);
    return null;
  }
}

/** Counts the characters of all texts in a value, as often as it repeats them. */
function textLength(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce<number>((sum, each) => sum + textLength(each), 0);
}

function readEnvelope(root: XmlElement, report: Report): Envelope | null {
  const ovfVersion = ovfVersionOf(root);
  if (ovfVersion === null) {
    const namespace = root.namespace || 'without a namespace';
    report('not-an-envelope', root, `the root element is ${root.name} (${namespace})`);
    return null;
  }
  checkSections(root, report);
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
  const systems = findSystems(root);
  if (systems.length === 0) {
    const [collection] = childrenOf(root, 'VirtualSystemCollection');
    if (collection === undefined) report('missing-element', root, 'no virtual system');
    else report('empty-collection', collection, 'no virtual system in the collection');
  }
  return {
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

/** Reports sections without Info, and properties without a key or with a repeated one. */
function checkSections(parent: XmlElement, report: Report): void {
  /** The keys of the properties by class and instance of their section. */
  const keysOf = new Map<string, Set<string>>();
  for (const element of parent.children) {
    const kind = elementKind(element) ?? '';
    if (kind.endsWith('Section') && childrenOf(element, 'Info').length === 0)
      report('missing-info', element, `${kind} without Info`);
    if (['VirtualSystem', 'VirtualSystemCollection'].includes(kind)) checkSections(element, report);
    if (kind !== 'ProductSection') continue;
    const owner = JSON.stringify([attribute(element, 'class'), attribute(element, 'instance')]);
    const keys = keysOf.get(owner) ?? new Set();
    keysOf.set(owner, keys);
    for (const property of childrenOf(element, 'Property')) {
      const key = attribute(property, 'key');
      if (key === null) {
        report('incomplete-item', property, 'Property without key');
        continue;
      }
      if (keys.has(key))
        report('duplicate-property', property, `property ${key} is declared twice`);
      keys.add(key);
    }
  }
}

function readReferences(root: XmlElement, report: Report): FileReference[] {
  if (childrenOf(root, 'References').length === 0) {
    report('missing-element', root, 'no References section');
  }
  const seen = new Set<string>();
  return grandchildrenOf(root, 'References', 'File').flatMap((element) => {
    const id = takeId(element, 'id', seen, report);
    const href = required(element, 'href', report);
    if (id === null || href === null) return [];
    const size = numberOf(element, 'size', report);
    const chunkSize = numberOf(element, 'chunkSize', report);
    const compression = attribute(element, 'compression') || 'identity';
    return {
      id,
      href,
      size,
      chunkSize,
      compression: compression === 'identity' ? null : compression,
    };
  });
}

function readDisks(root: XmlElement, references: readonly FileReference[], report: Report): Disk[] {
  const keys = isOvirt(root) ? (['id', 'href'] as const) : (['id'] as const);
  const hrefs = new Map(
    keys.flatMap((key) => references.map((reference) => [reference[key], reference.href])),
  );
  const elements = childrenOf(root, 'DiskSection', 'SharedDiskSection').flatMap((section) =>
    childrenOf(section, 'Disk', 'SharedDisk'),
  );
  const known = new Set(elements.map((element) => attribute(element, 'diskId')));
  const seen = new Set<string>();
  const owners = new Map<string, string>();
  return elements.flatMap((element) => {
    const id = takeId(element, 'diskId', seen, report);
    if (id === null) return [];
    // An empty identifier means nothing, as in exports of VMware and oVirt.
    const fileRef = attribute(element, 'fileRef') || null;
    const file = fileRef === null ? null : (hrefs.get(fileRef) ?? null);
    if (fileRef !== null && file === null) {
      report('unknown-file-reference', element, `disk ${id}: unknown file ${fileRef}`);
    }
    // oVirt declares a raw disk as a VMDK, and beside it as raw.
    const isRaw = attribute(element, 'volume-format') === 'RAW';
    const format = isRaw ? 'raw' : attribute(element, 'format');
    if (!format) report('disk-without-format', element, `disk ${id}: no format`);
    const sharing = file === null ? undefined : owners.get(file);
    if (sharing !== undefined)
      report('shared-file', element, `disk ${id}: disk ${sharing} has the same file`);
    if (file !== null) owners.set(file, id);
    const parent = attribute(element, 'parentRef') || null;
    if (parent !== null && !known.has(parent)) {
      report('unknown-disk', element, `disk ${id}: unknown parent disk ${parent}`);
    }
    return { id, capacity: capacityOf(element, isOvirt(root), report), format, file, parent };
  });
}

function capacityOf(disk: XmlElement, isOptional: boolean, report: Report): number | null {
  const written = isOptional ? attribute(disk, 'capacity') : required(disk, 'capacity', report);
  // A property sets it at deployment.
  if (written === null || /^\$\{.*\}$/.test(written)) return null;
  const quantity = numberOf(disk, 'capacity', report);
  return toBytes(quantity, attribute(disk, 'capacityAllocationUnits'), 'capacity', disk, report);
}

function grandchildrenOf(root: XmlElement, section: string, kind: string): XmlElement[] {
  return childrenOf(root, section).flatMap((child) => childrenOf(child, kind));
}

function readOptions(configurations: readonly XmlElement[], report: Report): DeploymentOption[] {
  const firstIgnored = configurations[MAX_OPTIONS];
  if (firstIgnored !== undefined) {
    report('too-many-options', firstIgnored, `only the first ${MAX_OPTIONS} options are read`);
  }
  const seen = new Set<string>();
  const considered = configurations.slice(0, MAX_OPTIONS);
  // Without a marked option the first is the default.
  const marked = considered.find((element) =>
    ['true', '1'].includes(attribute(element, 'default') ?? ''),
  );
  return considered.flatMap((element) => {
    const id = takeId(element, 'id', seen, report);
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
