// Reads the descriptor of a package and all its sections.

import { attribute, type Report, versionOf } from './elements.ts';
import type { FindingList } from './findings.ts';
import { type PackageFile, readRegion } from './region.ts';
import {
  type FileReference,
  readDisks,
  readNetworks,
  readOptions,
  readProducts,
  readReferences,
} from './sections.ts';
import type { DeploymentOption, Disk, Network, Product, VirtualSystem } from './summary.ts';
import { findSystems, readSystem } from './systems.ts';
import { parseXml, type XmlElement, XmlError } from './xml.ts';

const MAX_DESCRIPTOR_BYTES = 16 * 1024 * 1024;

export async function readDescriptor(
  file: PackageFile,
  findings: FindingList,
): Promise<Envelope | null> {
  if (!file.complete) return null;
  if (file.size > MAX_DESCRIPTOR_BYTES) {
    findings.add('descriptor-too-large', file.name, `${file.size} bytes, more than 16 MiB`);
    return null;
  }
  const bytes = await readRegion(file, 0, file.size);
  try {
    return readEnvelope(parseXml(bytes), (code, element, message) => {
      findings.add(code, `${file.name}:${element.line}`, message);
    });
  } catch (thrown) {
    if (!(thrown instanceof XmlError)) throw thrown;
    findings.add(thrown.code, `${file.name}:${thrown.line}`, thrown.message);
    return null;
  }
}

interface Envelope {
  readonly ovfVersion: string;
  readonly references: readonly FileReference[];
  readonly disks: readonly Disk[];
  readonly networks: readonly Network[];
  readonly deploymentOptions: readonly DeploymentOption[];
  readonly products: readonly Product[];
  readonly systems: readonly VirtualSystem[];
}

function readEnvelope(root: XmlElement, report: Report): Envelope | null {
  const version = versionOf(root.namespace);
  if (version === null || root.name !== 'Envelope') {
    const namespace = root.namespace || 'without a namespace';
    report('not-an-envelope', root, `the root element is ${root.name} (${namespace})`);
    return null;
  }
  const references = readReferences(root, report);
  const disks = readDisks(root, references, report);
  const networks = readNetworks(root);
  const deploymentOptions = readOptions(root, report);
  const context = {
    disks: new Set(disks.map(({ id }) => id)),
    files: new Set(references.map(({ id }) => id)),
    networks: new Set(networks.map(({ name }) => name)),
  };
  const systems = findSystems(root);
  if (systems.length === 0) report('missing-element', root, 'no virtual system');
  return {
    ovfVersion: attribute(root, 'version') ?? version,
    references,
    disks,
    networks,
    deploymentOptions,
    products: readProducts(root),
    systems: systems.map((system) => readSystem(system, deploymentOptions, context, report)),
  };
}
