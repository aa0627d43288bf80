// The types of what readPackage returns.

import type { Finding } from './findings.ts';

/** A package, as far as it could be read. */
export interface PackageSummary {
  readonly kind: 'ova' | 'ovf';
  /** The path as given. */
  readonly file: string;
  /** The version attribute, else 0.9, 1.x or 2.x by namespace; null without an envelope. */
  readonly ovfVersion: string | null;
  readonly products: readonly Product[];
  readonly systems: readonly VirtualSystem[];
  readonly disks: readonly Disk[];
  readonly networks: readonly Network[];
  readonly deploymentOptions: readonly DeploymentOption[];
  /** The existing files, the descriptor first. */
  readonly files: readonly PackagedFile[];
  readonly manifest: Manifest | null;
  /** File name; the signature is not verified. */
  readonly certificate: string | null;
  readonly findings: readonly Finding[];
}

export interface Product {
  readonly product: string | null;
  readonly vendor: string | null;
  readonly version: string | null;
  readonly fullVersion: string | null;
  /** Number of properties. */
  readonly properties: number;
}

export interface VirtualSystem {
  readonly id: string | null;
  /** The name, else the identifier. */
  readonly name: string | null;
  /** Identifiers of the enclosing collections, outermost first. */
  readonly collections: readonly string[];
  readonly operatingSystem: string | null;
  /** Virtual hardware families such as `vmx-08`. */
  readonly hardwareFamilies: readonly string[];
  /** With the default deployment option, if there are options. */
  readonly hardware: Hardware;
  /** With each deployment option; empty if none makes a difference. */
  readonly options: readonly { readonly option: string; readonly hardware: Hardware }[];
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

export interface Disk {
  readonly id: string;
  /** Bytes; null if it is missing, invalid or set by a property. */
  readonly capacity: number | null;
  /** The declared URI. */
  readonly format: string | null;
  /** The href of its file; null for an empty disk. */
  readonly file: string | null;
}

export interface Network {
  readonly name: string;
  readonly description: string | null;
}

export interface DeploymentOption {
  readonly id: string;
  readonly label: string | null;
  readonly description: string | null;
  readonly default: boolean;
}

export interface PackagedFile {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  readonly role: 'descriptor' | 'manifest' | 'certificate' | 'referenced' | 'other';
}

export type DigestAlgorithm = 'SHA1' | 'SHA256' | 'SHA512';

export interface Manifest {
  /** Of the first entry. */
  readonly algorithm: DigestAlgorithm | null;
  readonly entries: readonly ManifestEntry[];
}

export interface ManifestEntry {
  readonly name: string;
  readonly algorithm: DigestAlgorithm;
  /** Lower-case hexadecimal. */
  readonly digest: string;
}
