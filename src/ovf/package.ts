// Reads a whole package, OVA or OVF with its files: its content and everything that is wrong with it.

import { readDescriptor } from './descriptor.ts';
import { checkDisks } from './disks.ts';
import { FindingList } from './findings.ts';
import { checkManifestFiles, checkOrder, listFiles } from './layout.ts';
import { type DigestOptions, matchManifest, readManifest, verifyDigests } from './manifest.ts';
import { resolveReferences } from './references.ts';
import { openSource } from './source.ts';
import type { PackageSummary } from './summary.ts';

export type { Finding, FindingCode, Severity } from './findings.ts';
export type * from './summary.ts';

export interface ReadOptions extends DigestOptions {
  /** Verifies the manifest's digests, which reads every byte (true). */
  readonly digests?: boolean | undefined;
}

/**
 * Reads a package. A broken one has findings and throws nothing.
 * @throws the file system's error, or the reason of the signal
 */
export async function readPackage(
  file: string,
  options: ReadOptions = {},
): Promise<PackageSummary> {
  options.signal?.throwIfAborted();
  const findings = new FindingList();
  const source = await openSource(file, findings, options.signal);
  const { kind, descriptor, members } = source;
  const envelope = descriptor && (await readDescriptor(descriptor, findings));
  const references = await resolveReferences(envelope?.references ?? [], source, findings);
  const referenced = references.flatMap(({ files }) => files);
  const manifestFile = await source.findSibling('.mf');
  const certificate = await source.findSibling('.cert');
  const layout = { descriptor, manifest: manifestFile, certificate, referenced };
  checkManifestFiles(layout, findings);
  if (kind === 'ova' && descriptor !== null && envelope !== null) {
    checkOrder({ ...layout, descriptor }, members, findings);
  }
  await checkDisks(envelope?.disks ?? [], references, findings);
  const manifest = manifestFile && (await readManifest(manifestFile, findings));
  if (manifest !== null && descriptor !== null) {
    const expected = await matchManifest(manifest, [descriptor, ...referenced], source, findings);
    if (options.digests ?? true) await verifyDigests(expected, findings, options);
  }
  return {
    kind,
    file,
    ovfVersion: envelope?.ovfVersion ?? null,
    products: envelope?.products ?? [],
    systems: envelope?.systems ?? [],
    disks: envelope?.disks ?? [],
    networks: envelope?.networks ?? [],
    deploymentOptions: envelope?.deploymentOptions ?? [],
    files: listFiles(layout, members),
    manifest,
    certificate: certificate?.name ?? null,
    findings: findings.list(file),
  };
}
