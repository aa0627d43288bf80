// Reads a whole package, OVA or OVF with its files: its content and what is wrong with it.

import { basename } from 'node:path';
import {
  checkFindings,
  type FileCheck,
  type RunChecksOptions,
  readCheck,
  runChecks,
} from './checks.ts';
import { type Envelope, readDescriptor } from './descriptor.ts';
import { openDisks } from './disks.ts';
import { type Finding, FindingList } from './findings.ts';
import { type Manifest, matchManifest, parseManifest, readManifest } from './manifest.ts';
import type { OpenedDisk } from './other-disk.ts';
import { type PackageFile, placeOf } from './package-file.ts';
import { openPackage, type PackageSource } from './package-source.ts';
import { checkEnds, resolveReferences } from './references.ts';
import { type Signature, verifySignature } from './signature.ts';
import { unpackCheck } from './unpack.ts';

interface CheckOptions extends RunChecksOptions {
  /** Warns about newer virtual hardware and rarely supported devices: 13 for vmx-13. */
  readonly maxHardware?: number | undefined;
  /** Milliseconds; without it, a certificate never expires. */
  readonly now?: number | undefined;
}

export interface CheckedPackage {
  readonly summary: PackageSummary;
  /** The files to upload, each once: an archive, or all of a descriptor, which is the last. */
  readonly files: readonly Pick<PackageFile, 'name' | 'path'>[];
  /** For each file but those that were parsed. */
  readonly checks: readonly FileCheck[];
}

export interface PackageSummary extends Omit<Envelope, 'ovfVersion' | 'references'> {
  /** Null if the descriptor is missing or unreadable; then no system is known, nor a disk. */
  readonly ovfVersion: string | null;
  readonly kind: 'ova' | 'ovf';
  readonly file: string;
  /** The existing files, the descriptor first, also those that only the manifest lists. */
  readonly files: readonly (Pick<PackageFile, 'name' | 'size'> & { readonly role: Role })[];
  readonly manifest: Manifest | null;
  readonly certificate: string | null;
  /** Null if there is none, or it is wrong, which is a finding. */
  readonly signature: Signature | null;
  readonly findings: readonly Finding[];
}

type Role = 'descriptor' | 'manifest' | 'certificate' | 'referenced' | 'other';

/** A package of which every byte was read. */
export interface ReadPackage extends PackageSummary {
  /** Files without a digest that were unpacked to their end. */
  readonly unpacked: readonly string[];
  /** Files whose content nothing proves. */
  readonly onlyRead: readonly string[];
}

/**
 * Reads every byte. A broken package has findings.
 * @throws the error of the file system, or the reason of the signal
 */
export async function readPackage(file: string, options: CheckOptions = {}): Promise<ReadPackage> {
  const { summary, checks } = await checkPackage(file, options);
  const found = checkFindings(file, checks, await runChecks(checks, options));
  const namesOf = (kind: FileCheck['kind']) =>
    checks.flatMap((check) => (check.kind === kind ? check.file.name : []));
  return {
    ...summary,
    findings: [...summary.findings, ...found],
    unpacked: namesOf('unpacked'),
    onlyRead: namesOf('read'),
  };
}

/**
 * Reads all but the bytes that only digests or unpacking prove. Each step adds findings:
 *
 * 1. Open the archive (tar.ts), or the folder of the descriptor.
 * 2. Read the descriptor (descriptor.ts, which reads its systems with hardware.ts).
 * 3. Find the files that it references (references.ts), the manifest and the certificate.
 * 4. Compare the members of an archive with these files, and their order.
 * 5. Look into the disks (disks.ts), to know how to unpack them.
 * 6. Read the manifest and verify its signature: its files are checked by their digests.
 * 7. Choose how all other files are checked: unpacked (unpack.ts), or only read.
 *
 * The checks of 6 and 7 run later: by runChecks, or while push uploads the files.
 * @throws as readPackage does
 */
export async function checkPackage(file: string, options: CheckOptions): Promise<CheckedPackage> {
  const { signal, maxHardware } = options;
  signal?.throwIfAborted();
  const findings = new FindingList();
  const source = await openPackage(file, findings, signal);
  const { kind } = source;
  const envelope = await readDescriptor(source.descriptor, findings, maxHardware);
  const { references, ...content } = envelope ?? NO_ENVELOPE;
  const resolved = await resolveReferences(references, source);
  const layout: PackageLayout = {
    ...source,
    manifest: await source.findSibling('.mf'),
    certificate: await source.findSibling('.cert'),
    referenced: resolved.flatMap(({ files }) => files),
  };
  reportMissingManifest(layout);
  if (kind === 'ova' && envelope !== null) {
    checkOrder(layout);
    reportUnreferenced(layout);
  }
  const disks = await openDisks(content.disks, resolved, findings, signal);
  const { manifest, signature, digestChecks } = await checkManifest(layout, options);
  checkEnds(resolved, digestChecks, findings);
  const found = listFiles(layout, digestChecks);
  const otherChecks = checkOthers(found, digestChecks, disks, signal);
  return {
    summary: {
      kind,
      file,
      ...content,
      files: found.map(({ role, file: { name, size } }) => ({ name, size, role })),
      manifest,
      certificate: layout.certificate?.name ?? null,
      signature,
      findings: findings.list(file),
    },
    files: kind === 'ovf' ? uploadOrder(found) : [{ name: basename(file), path: file }],
    checks: [...digestChecks, ...otherChecks],
  };
}

/** What is known of a package whose descriptor is missing or unreadable. */
const NO_ENVELOPE = {
  ovfVersion: null,
  products: [],
  systems: [],
  disks: [],
  networks: [],
  deploymentOptions: [],
  references: [],
};

/** What a package consists of: its source, and the files that steps 1 to 3 find in it. */
interface PackageLayout extends PackageSource {
  readonly manifest: PackageFile | null;
  readonly certificate: PackageFile | null;
  /** The files that the descriptor references, in its order. */
  readonly referenced: readonly PackageFile[];
}

function reportMissingManifest({ descriptor, manifest, certificate, findings }: PackageLayout) {
  if (certificate && !manifest) {
    const message = 'the manifest it signs is missing';
    findings.add('certificate-without-manifest', certificate.name, message);
  } else if (!manifest && descriptor) {
    findings.add('no-manifest', descriptor.name, 'no manifest, so the files cannot be verified');
  }
}

/**
 * Reports an archive in another order. Two are allowed, with disks in that of the references:
 *
 *     vm.ovf, vm.mf, vm.cert, disk1, disk2
 *     vm.ovf, disk1, disk2, vm.mf, vm.cert
 */
function checkOrder(layout: PackageLayout) {
  const { descriptor, manifest, certificate, referenced, members, findings } = layout;
  const [first] = members;
  if (descriptor && first !== descriptor) {
    findings.add('descriptor-not-first', descriptor.name, `the archive starts with ${first?.name}`);
  }
  const proofs = [manifest, certificate].filter((file) => file !== null);
  const contents = referenced.filter((file) => file !== descriptor);
  const misplaced = findMisplaced(members, [...proofs, ...contents]);
  if (!misplaced || !findMisplaced(members, [...contents, ...proofs])) return;
  const message =
    'the files are not in the order of the references, or manifest and certificate are not together';
  findings.add('member-order', misplaced.name, message);
}

/** Returns the first of the members in the order that is not where it belongs. */
function findMisplaced(members: readonly PackageFile[], order: readonly PackageFile[]) {
  const known = new Set(order);
  const expected = [...known];
  const actual = members.filter((member) => known.has(member));
  return actual.find((member, index) => member !== expected[index]);
}

function reportUnreferenced(layout: PackageLayout) {
  const { descriptor, manifest, certificate, referenced, members, findings } = layout;
  const known = new Set([descriptor, manifest, certificate, ...referenced]);
  for (const member of members) {
    if (known.has(member)) continue;
    findings.add('unreferenced-file', member.name, 'not referenced by the descriptor');
  }
}

/** Reads the manifest, with a check for each file that it lists, and verifies its signature. */
async function checkManifest(layout: PackageLayout, options: CheckOptions) {
  const { descriptor, manifest: file, certificate, referenced, findings } = layout;
  const bytes = file && (await readManifest(file, findings));
  if (!file || !bytes) return { manifest: null, signature: null, digestChecks: [] };
  const manifest = parseManifest(bytes.toString('utf8'), file.name, findings);
  const signature =
    certificate && (await verifySignature(certificate, file, bytes, layout, options));
  const contents = [descriptor, ...referenced].filter((each) => each !== null);
  const digestChecks = await matchManifest(manifest, contents, layout);
  return { manifest, signature, digestChecks };
}

/** A file of the package, under the name and the role that it has first. */
interface FoundFile {
  readonly role: Role;
  readonly file: PackageFile;
}

/** Returns all files, each once; a manifest may list others than the references. */
function listFiles(layout: PackageLayout, digestChecks: readonly FileCheck[]): FoundFile[] {
  const { descriptor, manifest, certificate, referenced, members } = layout;
  const found = new Map<string, FoundFile>();
  const add = (role: Role, file: PackageFile | null) => {
    if (file !== null && !found.has(placeOf(file))) found.set(placeOf(file), { role, file });
  };
  add('descriptor', descriptor);
  add('manifest', manifest);
  add('certificate', certificate);
  for (const file of referenced) add('referenced', file);
  for (const file of members) add('other', file);
  for (const { file } of digestChecks) add('other', file);
  return [...found.values()];
}

/** Returns a check for each file that no digest proves and that was not parsed. */
function checkOthers(
  found: readonly FoundFile[],
  digestChecks: readonly FileCheck[],
  disks: ReadonlyMap<PackageFile, OpenedDisk>,
  signal: AbortSignal | undefined,
): FileCheck[] {
  const digested = new Set(digestChecks.map(({ file }) => placeOf(file)));
  return found.flatMap(({ role, file }) => {
    const isRead = role === 'referenced' || role === 'other';
    if (!isRead || !file.complete || digested.has(placeOf(file))) return [];
    const how = disks.get(file)?.packed;
    return how ? unpackCheck(file, how, signal) : readCheck(file);
  });
}

/** A descriptor becomes visible last. */
const UPLOAD_ORDER: Role[] = ['referenced', 'other', 'manifest', 'certificate', 'descriptor'];

function uploadOrder(found: readonly FoundFile[]): PackageFile[] {
  const rank = ({ role }: FoundFile) => UPLOAD_ORDER.indexOf(role);
  return found.toSorted((a, b) => rank(a) - rank(b)).map(({ file }) => file);
}
