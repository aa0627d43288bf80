// Reads a whole package, OVA or OVF with its files: its content and everything that is wrong with it.

import { basename } from 'node:path';
import { counted } from '../words.ts';
import {
  type CheckOptions,
  checkFindings,
  type FileCheck,
  readCheck,
  runChecks,
} from './checks.ts';
import { type FileReference, readDescriptor } from './descriptor.ts';
import { checkDisks, type FilesOfReference, hasGzipMagic } from './disks.ts';
import type { FindingCode, FindingList } from './findings.ts';
import { matchManifest, parseManifest, placeOf, readManifest } from './manifest.ts';
import {
  isSafeName,
  openPackage,
  type PackageFile,
  type PackageSource,
  similarTo,
  stripDotSlash,
} from './package-source.ts';
import { verifySignature } from './signature.ts';
import { type Packed, unpackCheck } from './unpack.ts';

export type PackageSummary = CheckedPackage['summary'];
/** A package of which every byte was read. */
export type ReadPackage = PackageSummary & {
  /** Files without a digest that were unpacked to their end. */
  readonly unpacked: readonly string[];
  /** Files whose content nothing proves. */
  readonly onlyRead: readonly string[];
};
export type CheckedPackage = Awaited<ReturnType<typeof checkPackage>>;

/** What a package has if its descriptor is missing or unreadable. */
const NOTHING = {
  ovfVersion: null,
  products: [],
  systems: [],
  disks: [],
  networks: [],
  deploymentOptions: [],
  references: [],
};

/** A broken package has findings and throws nothing. @throws the file system's error, or the reason of the signal */
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

/** @throws as readPackage does */
export async function checkPackage(file: string, options: CheckOptions) {
  const { signal, maxHardware } = options;
  signal?.throwIfAborted();
  const source = await openPackage(file, signal);
  const { kind, findings, descriptor } = source;
  const envelope = (await readDescriptor(source, maxHardware)) ?? NOTHING;
  const { references: declared, ...content } = envelope;
  const references = await resolveReferences(declared, source);
  const referenced = references.flatMap(({ files }) => files);
  const manifestFile = await source.findSibling('.mf');
  const certificate = await source.findSibling('.cert');
  const hrefs = declared.flatMap(({ href }) => candidateNames(href));
  const layout = { ...source, manifest: manifestFile, certificate, referenced, hrefs };
  checkManifestFiles(layout);
  if (kind === 'ova' && descriptor && content.ovfVersion !== null) checkOrder(layout);
  const packed = await checkDisks(content.disks, references, findings, signal);
  const manifestBytes = manifestFile && (await readManifest(manifestFile, findings));
  const manifest =
    manifestBytes && parseManifest(manifestBytes.toString('utf8'), manifestFile.name, findings);
  const signature =
    manifestBytes && certificate
      ? await verifySignature(certificate, manifestFile, manifestBytes, findings, options)
      : null;
  const digests =
    manifest && descriptor
      ? await matchManifest(manifest, [descriptor, ...referenced], source)
      : [];
  checkEnds(references, digests, findings);
  // A manifest may list files that nothing references; they belong to the package all the same.
  const listed = digests.map((each) => each.file).filter((each) => each.path !== descriptor?.path);
  const checks = [...digests, ...checkOthers(layout, digests, packed, signal)];
  const own = [...referenced, ...listed, manifestFile, certificate, descriptor];
  return {
    summary: {
      kind,
      file,
      ...content,
      /** The existing files, the descriptor first. */
      files: listFiles(layout),
      manifest,
      certificate: certificate?.name ?? null,
      /** Null if there is none, or it is wrong, which is a finding. */
      signature,
      findings: findings.list(file),
    },
    /** The files on the disk, the descriptor last: an archive itself, else all that belongs to a descriptor. */
    files:
      kind === 'ovf' ? own.filter((each) => each !== null) : [{ name: basename(file), path: file }],
    checks,
  };
}

interface PackageLayout extends PackageSource {
  readonly manifest: PackageFile | null;
  readonly certificate: PackageFile | null;
  readonly referenced: readonly PackageFile[];
  /** The names of all references, decoded. */
  readonly hrefs: readonly string[];
}

function checkOthers(
  { members, referenced, descriptor, manifest, certificate }: PackageLayout,
  digests: readonly FileCheck[],
  packed: ReadonlyMap<PackageFile, Packed>,
  signal: AbortSignal | undefined,
): FileCheck[] {
  const parsed = [descriptor, manifest, certificate].filter((file) => file !== null);
  const known = new Set([...digests.map(({ file }) => file), ...parsed].map(placeOf));
  const others = [...referenced, ...members].filter((file) => {
    const isKnown = known.has(placeOf(file));
    known.add(placeOf(file));
    return file.complete && !isKnown;
  });
  return others.map((file) => {
    const how = packed.get(file);
    return how ? unpackCheck(file, how, signal) : readCheck(file);
  });
}

type Role = 'descriptor' | 'manifest' | 'certificate' | 'referenced' | 'other';

function listFiles(layout: PackageLayout) {
  const files = new Map<string, { name: string; size: number; role: Role }>();
  const add = (role: Role, file: PackageFile | null) => {
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
  if (certificate && !manifest) {
    const message = 'the manifest it signs is missing';
    findings.add('certificate-without-manifest', certificate.name, message);
  } else if (!manifest && descriptor) {
    findings.add('no-manifest', descriptor.name, 'no manifest, so the files cannot be verified');
  }
}

/** The order of the references; manifest and certificate stay together, after the descriptor or at the end. */
function checkOrder({ descriptor, manifest, certificate, ...layout }: PackageLayout): void {
  const { findings, members } = layout;
  const [first] = members;
  if (descriptor && first !== descriptor) {
    findings.add('descriptor-not-first', descriptor.name, `the archive starts with ${first?.name}`);
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
  const similar = similarTo(layout.hrefs);
  for (const member of members) {
    if (known.has(member) || member === descriptor) continue;
    const how = similar(member.name);
    const message = `not referenced by the descriptor${how ? `, except ${how}` : ''}`;
    findings.add('unreferenced-file', member.name, message);
  }
}

/** Finds the files of each reference, or its chunks in order, and compares them with what the descriptor declares. */
async function resolveReferences(references: readonly FileReference[], source: PackageSource) {
  const { findings } = source;
  const resolved: FilesOfReference[] = [];
  const hrefs = new Set<string>();
  const places = new Set<string>();
  for (const reference of references) {
    const { href, compression } = reference;
    const files = hrefs.has(href) ? null : await takeFiles(reference, source, places);
    hrefs.add(href);
    if (files === null) {
      findings.add('duplicate-reference', href, 'another reference names the same file');
      continue;
    }
    resolved.push({ reference, files });
    if (compression === null || compression === '' || compression === 'identity') continue;
    const [file] = files;
    if (compression !== 'gzip') {
      findings.add('unknown-compression', href, `unknown compression ${compression}, not checked`);
    } else if (file && !(await hasGzipMagic(file))) {
      findings.add('not-gzip', file.name, 'declared as gzip, but not gzip data');
    }
  }
  return resolved;
}

/** Returns the files of a reference and adds their places; null as soon as one belongs to another reference. */
async function takeFiles(reference: FileReference, source: PackageSource, places: Set<string>) {
  const files: PackageFile[] = [];
  for await (const file of findFiles(reference, source)) {
    const place = placeOf(file);
    if (places.has(place)) return null;
    places.add(place);
    files.push(file);
  }
  return files;
}

/** More than any file system takes, also percent-encoded. */
const MAX_HREF = 65_536;
const SCHEME = /^[a-z][a-z0-9+.-]*$/i;

async function* findFiles(
  reference: FileReference,
  source: PackageSource,
): AsyncGenerator<PackageFile, void> {
  const { href, size, chunkSize } = reference;
  const report = (code: FindingCode, message: string) => source.findings.add(code, href, message);
  if (/^https?:\/\//i.test(href)) return report('remote-reference', 'remote file, not checked');
  const flaw = flawOf(href);
  if (flaw !== undefined) return report('unsafe-name', flaw);
  const file = await findFile(href, source);
  // A file that fits into one chunk need not be named as one.
  const isWhole = file !== null && chunkSize !== null && file.size <= chunkSize;
  if (chunkSize !== null && chunkSize > 0 && !isWhole)
    return yield* findChunks(reference, chunkSize, source);
  if (file === null) {
    const [how] = (await Promise.all(candidateNames(href).map(source.findSimilar))).filter(Boolean);
    const hint = how ? `; the package has this name ${how}` : '';
    return report('missing-file', `missing or unreadable${hint}`);
  }
  checkSize(file, size, source);
  yield file;
}

function flawOf(href: string): string | undefined {
  if (href.length > MAX_HREF) return `longer than ${MAX_HREF} characters`;
  const names = candidateNames(href);
  if (names.some((name) => name.startsWith('../'))) {
    return 'leads to the parent folder; put the file beside the descriptor';
  }
  // A URL of another scheme may name any file of the machine that reads the package.
  const [scheme = '', rest] = href.split(':', 2);
  const isUrl = rest !== undefined && spellingsOf(scheme).some((name) => SCHEME.test(name));
  if (!isUrl && names.every(isSafeName)) return undefined;
  return 'must be relative and stay inside the folder';
}

/** Finds the chunks of a file: `<href>.000000000` and so on, all full but the last; at least one, also of 0 bytes. */
async function* findChunks(
  { href, size }: FileReference,
  chunkSize: number,
  source: PackageSource,
): AsyncGenerator<PackageFile, void> {
  const nameOf = (index: number) => `${href}.${String(index).padStart(9, '0')}`;
  for (let index = 0, start = 0; ; index += 1, start += chunkSize) {
    if (size !== null && index > 0 && start >= size) return;
    const chunk = await findFile(nameOf(index), source);
    if (chunk === null) {
      const mayEndHere =
        size === null && index > 0 && (await findFile(nameOf(index + 1), source)) === null;
      const message = `missing or unreadable chunk of ${href}`;
      if (!mayEndHere) source.findings.add('missing-file', nameOf(index), message);
      return;
    }
    checkSize(chunk, Math.min(chunkSize, size === null ? chunk.size : size - start), source);
    yield chunk;
    if (size === null && chunk.size < chunkSize) return;
  }
}

/** Only a chunk that is not full, a declared size or a manifest shows that no chunk is missing at the end. */
function checkEnds(
  references: readonly FilesOfReference[],
  digests: readonly FileCheck[],
  findings: FindingList,
): void {
  const listed = new Set(digests.map(({ file }) => placeOf(file)));
  for (const { reference, files } of references) {
    const { href, size, chunkSize } = reference;
    const last = files.at(-1);
    if (!last || size !== null || !chunkSize || listed.has(placeOf(last))) continue;
    const isWhole = !/\.\d{9}$/.test(last.name);
    if (last.size < chunkSize || isWhole) continue;
    const message = `no size, so chunks after ${last.name} may be missing`;
    findings.add('unknown-end', href, message);
  }
}

async function findFile(href: string, { find }: PackageSource): Promise<PackageFile | null> {
  for (const name of candidateNames(href)) {
    const file = await find(name);
    if (file !== null) return file;
  }
  return null;
}

function checkSize(file: PackageFile, declared: number | null, source: PackageSource): void {
  if (declared === null || declared === file.size || !file.complete) return;
  const message = `${counted(file.size, 'byte')}, the descriptor declares ${declared}`;
  source.findings.add('size-mismatch', file.name, message);
}

function candidateNames(href: string): string[] {
  return spellingsOf(href).map(stripDotSlash);
}

/** Returns a text as it is written, and also what it says if it is percent-encoded. */
function spellingsOf(text: string): string[] {
  try {
    return [...new Set([text, decodeURIComponent(text)])];
  } catch {
    return [text];
  }
}
