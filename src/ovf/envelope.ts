// Reads the envelope of a descriptor: its version, and all its sections as a model.

import { attribute, type Report, versionOf } from './elements.ts';
import {
  type FileReference,
  readDisks,
  readNetworks,
  readOptions,
  readProducts,
  readReferences,
} from './sections.ts';
import type { DeploymentOption, Disk, Network, Product, VirtualSystem } from './summary.ts';
import { findMachines, readSystem } from './systems.ts';
import type { XmlElement } from './xml.ts';

export interface Envelope {
  readonly ovfVersion: string;
  readonly references: readonly FileReference[];
  readonly disks: readonly Disk[];
  readonly networks: readonly Network[];
  readonly deploymentOptions: readonly DeploymentOption[];
  readonly products: readonly Product[];
  readonly systems: readonly VirtualSystem[];
}

/** What an envelope says; null, with a finding, where the root element is none. */
export function readEnvelope(root: XmlElement, report: Report): Envelope | null {
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
  const machines = findMachines(root);
  if (machines.length === 0) report('missing-element', root, 'no virtual system');
  return {
    ovfVersion: attribute(root, 'version') ?? version,
    references,
    disks,
    networks,
    deploymentOptions,
    products: readProducts(root),
    systems: machines.map((machine) => readSystem(machine, deploymentOptions, context, report)),
  };
}
