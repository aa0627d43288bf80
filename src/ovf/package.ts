// Reads a whole package, OVA or OVF with its files: its content and everything that is wrong with it.

import { basename } from 'node:path';
import { type Envelope, readDescriptor } from './descriptor.ts';
import { checkDisks } from './disks.ts';
import type { Finding } from './findings.ts';
import {
  computeDigests,
  type DigestOptions,
  digestFindings,
  type ExpectedDigest,
  type Manifest,
  matchManifest,
  readManifest,
} from './manifest.ts';
import { openSource, type PackageSource } from './package-source.ts';
import { resolveReferences } from './references.ts';
import type { PackageFile } from './region.ts';

export type { Product } from './descriptor.ts';
export type { Finding } from './findings.ts';
export type { DeploymentOption, Hardware, VirtualSystem } from './systems.ts';
export { digestFindings };

/** A package, as far as it could be read. */
export interface PackageSummary extends Omit<Envelope, 'references'> {
  readonly kind: 'ova' | 'ovf';
  /** The path as given. */
  readonly file: string;
  /** The existing files, the descriptor first. */
  readonly files: readonly PackagedFile[];
  readonly manifest: Manifest | null;
  /** File name; the signature is not verified. */
  readonly certificate: string | null;
  readonly findings: readonly Finding[];
}

interface PackagedFile {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  readonly role: 'descriptor' | 'manifest' | 'certificate' | 'referenced' | 'other';
}

export interface ReadOptions extends DigestOptions {
  /** Verifies the manifest's digests, which reads every byte (true). */
  readonly digests?: boolean | undefined;
  /** Warns about newer virtual hardware and rarely supported devices: 13 for vmx-13. */
  readonly maxHardware?: number | undefined;
}

/**
 * Reads a package. A broken one has findings and throws nothing.
 * @throws the file system's error, or the reason of the signal
 */
export async function readPackage(
  file: string,
  options: ReadOptions = {},
): Promise<PackageSummary> {
  const { summary, expected } = await checkPackage(file, options);
  if (options.digests === false) return summary;
  const found = digestFindings(file, expected, await computeDigests(expected, options));
  return { ...summary, findings: [...summary.findings, ...found] };
}

export interface CheckedPackage {
  readonly summary: PackageSummary;
  /** The files on the disk, the descriptor last: an archive itself, else all that belongs to a descriptor. */
  readonly files: readonly Pick<PackageFile, 'name' | 'path'>[];
  /** The digests to verify, in the order of the manifest. */
  readonly expected: readonly ExpectedDigest[];
}

/** Reads a package except for its digests. A broken one has findings. @throws as readPackage does */
export async function checkPackage(
  file: string,
  { signal, maxHardware }: Pick<ReadOptions, 'signal' | 'maxHardware'>,
): Promise<CheckedPackage> {
  signal?.throwIfAborted();
  const source = await openSource(file, signal);
  const { kind, findings, descriptor } = source;
  const { references: declared, ...content } = await readDescriptor(source, maxHardware);
  const references = await resolveReferences(declared, source);
  const referenced = references.flatMap(({ files }) => files);
  const manifestFile = await source.findSibling('.mf');
  const certificate = await source.findSibling('.cert');
  const layout = { ...source, manifest: manifestFile, certificate, referenced };
  checkManifestFiles(layout);
  if (kind === 'ova' && descriptor && content.ovfVersion !== null) checkOrder(layout);
  await checkDisks(content.disks, references, findings, signal);
  const manifest = manifestFile && (await readManifest(manifestFile, findings));
  const expected =
    manifest && descriptor
      ? await matchManifest(manifest, [descriptor, ...referenced], source)
      : [];
  // A manifest may list files that nothing references; they belong to the package all the same.
  const listed = expected.map((each) => each.file).filter((each) => each.path !== descriptor?.path);
  const own = [...referenced, ...listed, manifestFile, certificate, descriptor];
  return {
    summary: {
      kind,
      file,
      ...content,
      files: listFiles(layout),
      manifest,
      certificate: certificate?.name ?? null,
      findings: findings.list(file),
    },
    files:
      kind === 'ovf' ? own.filter((each) => each !== null) : [{ name: basename(file), path: file }],
    expected,
  };
}

interface PackageLayout extends PackageSource {
  readonly manifest: PackageFile | null;
  readonly certificate: PackageFile | null;
  /** In the order of the references. */
  readonly referenced: readonly PackageFile[];
}

function listFiles(layout: PackageLayout): PackagedFile[] {
  const files = new Map<string, PackagedFile>();
  const add = (role: PackagedFile['role'], file: PackageFile | null) => {
    if (file === null || files.has(file.name)) return;
    files.set(file.name, { name: file.name, size: file.size, role });
  };
  add('descriptor', layout.descriptor);
  add('manifest', layout.manifest);
  add('certificate', layout.certificate);
  for (const file of layout.referenced) add('referenced', file);
  for (const file of layout.members) add('other', file);
  return [...files.values()];
}

function checkManifestFiles({ descriptor, manifest, certificate, findings }: PackageLayout): void {
  if (certificate) {
    findings.add('certificate-not-verified', certificate.name, 'the signature is not verified');
    if (manifest) return;
    const message = 'the manifest it signs is missing';
    findings.add('certificate-without-manifest', certificate.name, message);
  } else if (!manifest && descriptor) {
    const message = 'no manifest, so the files cannot be verified';
    findings.add('no-manifest', descriptor.name, message);
  }
}

/**
 * Checks the order of members: the descriptor, then the files in the order of the references. Manifest and
 * certificate stay together, after the descriptor or at the end.
 */
function checkOrder({ descriptor, manifest, certificate, ...layout }: PackageLayout): void {
  const { findings, members } = layout;
  const [first] = members;
  if (descriptor && first !== descriptor) {
    const message = `the archive starts with ${first?.name}`;
    findings.add('descriptor-not-first', descriptor.name, message);
  }
  const manifestFiles = [manifest, certificate].filter((file) => file !== null);
  const referenced = layout.referenced.filter((file) => file !== descriptor);
  const known = new Set([...manifestFiles, ...referenced]);
  const actual = members.filter((member) => known.has(member));
  const findMisplaced = (order: Set<PackageFile>) => {
    const expected = [...order];
    return actual.find((member, index) => member !== expected[index]);
  };
  const misplaced = findMisplaced(known);
  if (misplaced && findMisplaced(new Set([...referenced, ...manifestFiles]))) {
    const message =
      'the files are not in the order of the references, or manifest and certificate are not together';
    findings.add('member-order', misplaced.name, message);
  }
  for (const member of members) {
    if (known.has(member) || member === descriptor) continue;
    findings.add('unreferenced-file', member.name, 'not referenced by the descriptor');
  }
}
