// What is told about a package: the shapes that readPackage fills and the commands show.

import type { Finding } from './findings.ts';

/** A package as far as it could be read. */
export interface PackageSummary {
  readonly kind: 'ova' | 'ovf';
  /** The path as it was given. */
  readonly file: string;
  /** The envelope's version attribute, else what its namespace tells: 0.9, 1.x, 2.x; null where there is no envelope. */
  readonly ovfVersion: string | null;
  readonly products: readonly Product[];
  readonly systems: readonly VirtualSystem[];
  readonly disks: readonly Disk[];
  readonly networks: readonly Network[];
  readonly deploymentOptions: readonly DeploymentOption[];
  /** The files that are there, the descriptor first where there is one. */
  readonly files: readonly PackagedFile[];
  readonly manifest: Manifest | null;
  /** Name of the certificate file; what it signs is not verified. */
  readonly certificate: string | null;
  readonly findings: readonly Finding[];
}

/** A ProductSection. */
export interface Product {
  readonly product: string | null;
  readonly vendor: string | null;
  readonly version: string | null;
  readonly fullVersion: string | null;
  /** How many properties it lets the deployer set or see. */
  readonly properties: number;
}

/** A virtual machine of the package, those inside collections included. */
export interface VirtualSystem {
  readonly id: string | null;
  /** Its name, else its identifier. */
  readonly name: string | null;
  /** Identifiers of the collections around it, outermost first. */
  readonly collections: readonly string[];
  readonly operatingSystem: string | null;
  /** Virtual hardware families such as `vmx-08`. */
  readonly hardwareFamilies: readonly string[];
  /** With the default deployment option, where the package has options. */
  readonly hardware: Hardware;
  /** With each deployment option, in the package's order; empty where it depends on none. */
  readonly options: readonly { readonly option: string; readonly hardware: Hardware }[];
}

export interface Hardware {
  readonly cpus: number | null;
  /** Bytes. */
  readonly memory: number | null;
  /** Identifiers of the disks that are attached. */
  readonly disks: readonly string[];
  /** The network of each adapter. */
  readonly networks: readonly string[];
}

/** A Disk of the DiskSection. */
export interface Disk {
  readonly id: string;
  /** Bytes; null where it is missing, unreadable or set by a property. */
  readonly capacity: number | null;
  /** The format's address as declared. */
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
  /** Of its first entry; null where it has none. */
  readonly algorithm: DigestAlgorithm | null;
  readonly entries: readonly ManifestEntry[];
}

export interface ManifestEntry {
  readonly name: string;
  readonly algorithm: DigestAlgorithm;
  /** Hexadecimal, in lower case. */
  readonly digest: string;
}
