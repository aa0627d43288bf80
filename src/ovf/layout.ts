// What each file of a package is for, and whether a package has the files that it should, in the right order.

import type { FindingList } from './findings.ts';
import type { PackageFile } from './region.ts';
import type { PackagedFile } from './summary.ts';

/** The files of a package by what they are for. */
export interface PackageLayout {
  readonly descriptor: PackageFile | null;
  readonly manifest: PackageFile | null;
  readonly certificate: PackageFile | null;
  /** In the order of the references. */
  readonly referenced: readonly PackageFile[];
}

/** All files of a package, those of an archive without a purpose at the end. */
export function listFiles(
  parts: PackageLayout,
  members: readonly PackageFile[],
): readonly PackagedFile[] {
  const files = new Map<string, PackagedFile>();
  const add = (file: PackageFile | null, role: PackagedFile['role']) => {
    if (file === null || files.has(file.name)) return;
    files.set(file.name, { name: file.name, size: file.size, role });
  };
  add(parts.descriptor, 'descriptor');
  add(parts.manifest, 'manifest');
  add(parts.certificate, 'certificate');
  for (const file of parts.referenced) add(file, 'referenced');
  for (const file of members) add(file, 'other');
  return [...files.values()];
}

/** A manifest should be there; a certificate needs one, and is not verified here. */
export function checkManifestFiles(
  { descriptor, manifest, certificate }: PackageLayout,
  findings: FindingList,
): void {
  if (certificate !== null) {
    findings.add('certificate-not-verified', certificate.name, 'its signature is not looked at');
    if (manifest === null) {
      findings.add('certificate-without-manifest', certificate.name, 'no manifest that it signs');
    }
  } else if (manifest === null && descriptor !== null) {
    const message = 'no manifest, so nothing shows that the files are whole';
    findings.add('no-manifest', descriptor.name, message);
  }
}

/**
 * The descriptor comes first, the referenced files follow in the order of the references; manifest and certificate
 * stand together, right after the descriptor or at the end.
 */
export function checkOrder(
  parts: PackageLayout & { readonly descriptor: PackageFile },
  members: readonly PackageFile[],
  findings: FindingList,
): void {
  const [first] = members;
  if (first !== parts.descriptor) {
    const message = `the archive begins with ${first?.name}`;
    findings.add('descriptor-not-first', parts.descriptor.name, message);
  }
  const manifestFiles = [parts.manifest, parts.certificate].filter((file) => file !== null);
  const referenced = parts.referenced.filter((file) => file !== parts.descriptor);
  const known = new Set([...manifestFiles, ...referenced]);
  const actual = members.filter((member) => known.has(member));
  const firstMisplaced = (order: Set<PackageFile>) => {
    const expected = [...order];
    return actual.find((member, index) => member !== expected[index]);
  };
  const misplaced = firstMisplaced(known);
  if (
    misplaced !== undefined &&
    firstMisplaced(new Set([...referenced, ...manifestFiles])) !== undefined
  ) {
    const message = 'not in the order of the references, or manifest and certificate apart';
    findings.add('member-order', misplaced.name, message);
  }
  for (const member of members) {
    if (known.has(member) || member === parts.descriptor) continue;
    findings.add('unreferenced-file', member.name, 'the descriptor does not mention it');
  }
}
