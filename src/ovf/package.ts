// Reads a whole package, OVA or OVF with its files: its content and everything that is wrong with it.

import { basename } from 'node:path';
import { readDescriptor } from './descriptor.ts';
import { checkDisks } from './disks.ts';
import { type Finding, FindingList } from './findings.ts';
import {
  compareDigests,
  computeDigests,
  type DigestOptions,
  type ExpectedDigest,
  matchManifest,
  readManifest,
} from './manifest.ts';
import { openSource } from './package-source.ts';
import { resolveReferences } from './references.ts';
import type { PackageFile } from './region.ts';
import type { PackagedFile, PackageSummary } from './summary.ts';

export type { Finding } from './findings.ts';
export type { ExpectedDigest } from './manifest.ts';
export type * from './summary.ts';

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
  const findings = new FindingList();
  const { summary, expected } = await checkPackage(file, options, findings);
  if (options.digests ?? true)
    compareDigests(expected, await computeDigests(expected, options), findings);
  return { ...summary, findings: findings.list(file) };
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
  { signal, maxHardware }: Pick<ReadOptions, 'signal' | 'maxHardware'> = {},
  findings = new FindingList(),
): Promise<CheckedPackage> {
  signal?.throwIfAborted();
  const source = await openSource(file, findings, signal);
  const { kind, descriptor, members } = source;
  const envelope = await readDescriptor(descriptor, findings, maxHardware);
  const { references: declared, ...content } = envelope;
  const references = await resolveReferences(declared, source, findings);
  const referenced = references.flatMap(({ files }) => files);
  const manifestFile = await source.findSibling('.mf');
  const certificate = await source.findSibling('.cert');
  const layout = { descriptor, manifest: manifestFile, certificate, referenced, members };
  checkManifestFiles(layout, findings);
  if (kind === 'ova' && descriptor && content.ovfVersion !== null) checkOrder(layout, findings);
  await checkDisks(content.disks, references, findings, signal);
  const manifest = manifestFile && (await readManifest(manifestFile, findings));
  const expected =
    manifest && descriptor
      ? await matchManifest(manifest, [descriptor, ...referenced], source, findings)
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

/** Returns the findings for digests, in the order of `expected`, that were computed elsewhere. */
export function digestFindings(
  file: string,
  expected: readonly ExpectedDigest[],
  digests: readonly string[],
): Finding[] {
  const findings = new FindingList();
  compareDigests(expected, digests, findings);
  return findings.list(file);
}

interface PackageLayout {
  readonly descriptor: PackageFile | null;
  readonly manifest: PackageFile | null;
  readonly certificate: PackageFile | null;
  /** In the order of the references. */
  readonly referenced: readonly PackageFile[];
  /** Of an archive, in order. */
  readonly members: readonly PackageFile[];
}

function listFiles(layout: PackageLayout): PackagedFile[] {
  const files = new Map<string, PackagedFile>();
  const add = (role: PackagedFile['role'], ...added: readonly (PackageFile | null)[]) => {
    for (const file of added)
      if (file && !files.has(file.name))
        files.set(file.name, { name: file.name, size: file.size, role });
  };
  add('descriptor', layout.descriptor);
  add('manifest', layout.manifest);
  add('certificate', layout.certificate);
  add('referenced', ...layout.referenced);
  add('other', ...layout.members);
  return [...files.values()];
}

function checkManifestFiles(
  { descriptor, manifest, certificate }: PackageLayout,
  findings: FindingList,
): void {
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
function checkOrder(
  { descriptor, manifest, certificate, members, ...layout }: PackageLayout,
  findings: FindingList,
): void {
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
