// Reads the sections that all systems share: references, disks, networks, deployment options, products.

import {
  attribute,
  bytesPerUnit,
  childrenOf,
  childText,
  elementKind,
  type Report,
} from './elements.ts';
import type { DeploymentOption, Disk, Network, Product } from './summary.ts';
import type { XmlElement } from './xml.ts';

export interface FileReference {
  readonly id: string;
  readonly href: string;
  /** Declared size in bytes. */
  readonly size: number | null;
  /** Bytes per chunk, for a file stored in chunks. */
  readonly chunkSize: number | null;
  readonly compression: string | null;
}

const MAX_OPTIONS = 32;

export function readReferences(root: XmlElement, report: Report): FileReference[] {
  const sections = childrenOf(root, 'References');
  if (sections.length === 0) report('missing-element', root, 'no References section');
  const seen = new Set<string>();
  return sections
    .flatMap((section) => childrenOf(section, 'File'))
    .flatMap((element) => {
      const id = identifier(element, 'id', seen, report);
      const href = required(element, 'href', report);
      if (id === null || href === null) return [];
      const size = wholeNumber(element, 'size', report);
      const chunkSize = wholeNumber(element, 'chunkSize', report);
      return { id, href, size, chunkSize, compression: attribute(element, 'compression') };
    });
}

export function readDisks(
  root: XmlElement,
  references: readonly FileReference[],
  report: Report,
): Disk[] {
  const hrefs = new Map(references.map(({ id, href }) => [id, href]));
  const seen = new Set<string>();
  return childrenOf(root, 'DiskSection')
    .flatMap((section) => childrenOf(section, 'Disk'))
    .flatMap((element) => {
      const id = identifier(element, 'diskId', seen, report);
      if (id === null) return [];
      const fileRef = attribute(element, 'fileRef');
      const file = fileRef === null ? null : (hrefs.get(fileRef) ?? null);
      if (fileRef !== null && file === null) {
        report('unknown-file-reference', element, `disk ${id}: unknown file ${fileRef}`);
      }
      const format = attribute(element, 'format');
      return { id, capacity: capacityOf(element, report), format, file };
    });
}

function capacityOf(disk: XmlElement, report: Report): number | null {
  const written = required(disk, 'capacity', report);
  // A property sets it at deployment.
  if (written === null || /^\$\{.*\}$/.test(written)) return null;
  const quantity = wholeNumber(disk, 'capacity', report);
  const unit = attribute(disk, 'capacityAllocationUnits');
  const bytes = bytesPerUnit(unit);
  if (bytes === null) report('unknown-unit', disk, `unknown capacity unit ${unit}`);
  if (quantity === null || bytes === null) return null;
  return Number.isSafeInteger(quantity * bytes) ? quantity * bytes : null;
}

export function readNetworks(root: XmlElement): Network[] {
  return childrenOf(root, 'NetworkSection')
    .flatMap((section) => childrenOf(section, 'Network'))
    .map((network) => {
      const description = childText(network, 'Description');
      return { name: attribute(network, 'name') ?? '', description };
    });
}

export function readOptions(root: XmlElement, report: Report): DeploymentOption[] {
  const configurations = childrenOf(root, 'DeploymentOptionSection').flatMap((section) =>
    childrenOf(section, 'Configuration'),
  );
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

export function readProducts(element: XmlElement): Product[] {
  return childrenOf(element, 'ProductSection', 'VirtualSystemCollection', 'VirtualSystem').flatMap(
    (child) => {
      if (elementKind(child) !== 'ProductSection') return readProducts(child);
      return {
        product: childText(child, 'Product'),
        vendor: childText(child, 'Vendor'),
        version: childText(child, 'Version'),
        fullVersion: childText(child, 'FullVersion'),
        properties: childrenOf(child, 'Property').length,
      };
    },
  );
}

function required(element: XmlElement, name: string, report: Report): string | null {
  const value = attribute(element, name);
  if (value === null) report('missing-attribute', element, `${element.name} without ${name}`);
  return value;
}

/** Returns a required identifier and reports one that was seen before. */
function identifier(
  element: XmlElement,
  name: string,
  seen: Set<string>,
  report: Report,
): string | null {
  const id = required(element, name, report);
  if (id !== null && seen.has(id)) {
    report('duplicate-id', element, `another ${element.name} has the identifier ${id}`);
  }
  if (id !== null) seen.add(id);
  return id;
}

function wholeNumber(element: XmlElement, name: string, report: Report): number | null {
  const written = attribute(element, name);
  if (written === null) return null;
  const value = /^\d{1,16}$/.test(written.trim()) ? Number(written) : Number.NaN;
  if (Number.isSafeInteger(value)) return value;
  report('bad-number', element, `${name} must be a whole number (got ${written})`);
  return null;
}
