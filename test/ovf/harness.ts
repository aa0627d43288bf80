// Builds packages for the running test, and reads them.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import type { FindingCode } from '../../src/ovf/findings.ts';
import { type PackageSummary, type ReadPackage, readPackage } from '../../src/ovf/package.ts';
import { openFilesBelow } from '../support/files.ts';
import { temporaryDirectory } from '../support/io.ts';
import { manifestOf, packTar, sampleMembers, type TarMember } from '../support/package-writer.ts';

export async function readBytes(bytes: Uint8Array, name = 'test.ova'): Promise<ReadPackage> {
  const file = join(temporaryDirectory(), name);
  writeFileSync(file, bytes);
  return readAndClose(file);
}

/** Reads a package, which leaves no file open. */
async function readAndClose(file: string): Promise<ReadPackage> {
  const read = await readPackage(file);
  expect(openFilesBelow(dirname(file))).toEqual([]);
  return read;
}

export function readMembers(members: readonly TarMember[]): Promise<ReadPackage> {
  return readBytes(packTar(members));
}

/** Reads a descriptor, the first of the files, with the others beside it. */
export async function readFolder(files: readonly TarMember[]): Promise<ReadPackage> {
  const folder = temporaryDirectory();
  for (const { name, content } of files) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return readAndClose(join(folder, files[0]?.name ?? ''));
}

/** What is odd in the short descriptors of tests. */
const ODD = [
  ...['no-manifest', 'missing-info', 'no-hardware', 'incomplete-item'],
  ...['disk-without-format', 'shared-file'],
];

/** Reads a descriptor alone, without the warnings about what is odd in it. */
export async function readDescriptor(xml: string): Promise<PackageSummary> {
  const summary = await readFolder([member('vm.ovf', xml)]);
  return { ...summary, findings: summary.findings.filter(({ code }) => !ODD.includes(code)) };
}

/** What findings say, by code. */
const MESSAGES: Partial<Record<FindingCode, RegExp>> = {
  'not-a-file': /^not a regular file$/,
  'not-a-tar': /^(not a tar archive|the file is empty)$/,
  'bad-header': /^(damaged header; the rest of the archive is unreadable|invalid extended header)$/,
  'truncated-header': /^the archive ends inside a header$/,
  'truncated-member': /^the archive ends after \d+ of \d+ bytes$/,
  'no-end-of-archive': /^the two zero blocks at the end are missing$/,
  'trailing-data': /^\d+ bytes after the end of the archive$/,
  'too-many-members': /^more than 10000 headers$/,
  'unsafe-name': /^must be relative and stay inside the folder$/,
  'link-member': /^a link, not a regular file$/,
  'special-member':
    /^(type \d, not a regular file|sparse; pack it without -S \(bsdtar: with --no-read-sparse\))$/,
  'duplicate-member': /^another member has the same name$/,
  'descriptor-not-first': /^the archive starts with \S+$/,
  'member-order':
    /^the files are not in the order of the references, or manifest and certificate are not together$/,
  'several-descriptors': /^the package already has vm\.ovf$/,
  'no-descriptor': /^contains no \.ovf file$/,
  'descriptor-too-large': /^\d+ bytes, more than 16 MiB$/,
  'xml-syntax': /^text data outside of root node$/,
  'xml-doctype': /^document type declarations are not allowed$/,
  'not-an-envelope': /^the root element is \w+ \((http:\S+|without a namespace)\)$/,
  'missing-element': /^no (References section|virtual system)$/,
  'missing-attribute':
    /^((File|VirtualSystem|Configuration) without id|File without href|Disk without (diskId|capacity))$/,
  'bad-number': /^\w+ (must be a whole number|is too large) \(got .+$/,
  'duplicate-id': /^another (Disk has the identifier d|File has the identifier a\.txt)$/,
  'unknown-file-reference': /^(disk d: )?unknown file f$/,
  'unknown-disk': /^(disk d: unknown parent disk p|unknown disk (d|group1\/x))$/,
  'bad-host-resource': /^host resource must be ovf:\/disk\/ID \(got d\)$/,
  'unknown-configuration': /^unknown deployment option x$/,
  'duplicate-instance': /^another item has the InstanceID 1$/,
  'duplicate-reference': /^another reference names the same file$/,
  'missing-file': /^(missing or unreadable( chunk of a)?|and \d+ more of this kind)$/,
  'outside-folder': /^a link to a file outside the folder$/,
  'size-mismatch': /^(1 byte|\d+ bytes), the descriptor declares \d+$/,
  'not-gzip': /^declared as gzip, but not gzip data$/,
  'vmdk-magic':
    /^(gzip data: unpack it, or declare ovf:compression|neither a sparse header nor a VMDK descriptor)$/,
  'vmdk-header':
    /^(invalid (capacity|grain size) of \d+ sectors|invalid grain table of \d+ entries|compressed grains of 65536 sectors, more than 32768|no grain directory|the grain tables overlap|its footer differs from its header|no embedded descriptor|no valid CID and parentCID in its embedded descriptor|corrupted by a transfer in text mode|unknown version \d)$/,
  'vmdk-split': /^only a descriptor; the data is in other files$/,
  'vmdk-truncated':
    /^(does not end with a footer|ends before (its grain directory|its grain table at sector \d+|the end of its (header|embedded descriptor|grain at sector \d+)))$/,
  'vmdk-type':
    /^(an ESX server extent, not allowed in a package|declared as streamOptimized, but its grains are not compressed)$/,
  'manifest-too-large': /^2097153 bytes, more than 2 MiB$/,
  'manifest-syntax': /^not encoded in UTF-8; save it as UTF-8$/,
  'digest-without-file': /^listed in the manifest, but missing$/,
  'certificate-without-manifest': /^the manifest it signs is missing$/,
  'certificate-syntax':
    /^(no line such as SHA256\(vm\.mf\)= digits|no certificate in PEM format|an unreadable certificate|more than 100 certificates|\d+ bytes, more than 1 MiB|impossible dates, from .+ to .+)$/,
  'signature-mismatch':
    /^(no signature of vm\.mf by its certificate|imgctl test did not issue its certificate)$/,
  'short-end-of-archive': /^only one zero block at the end$/,
  'not-ustar': /^not in ustar format; only large files and long names need another format$/,
  'pax-header': /^pax extended header; use --format=ustar, or gnu for large files and long names$/,
  'dot-slash-name': /^read as x\.txt$/,
  'directory-member': /^a directory; a package may contain only files$/,
  'unreferenced-file': /^not referenced by the descriptor$/,
  'unknown-unit': /^unknown (capacity|memory) unit pages$/,
  'too-many-options': /^only the first 32 options are read$/,
  'unknown-network': /^unknown network n$/,
  'disk-without-format': /^disk vmdisk1: no format$/,
  'empty-collection': /^no virtual system in the collection$/,
  'remote-reference': /^remote file, not checked$/,
  'unknown-compression': /^unknown compression bzip2, not checked$/,
  'vmdk-create-type': /^createType is \w+, but its grains are (not )?compressed$/,
  'capacity-mismatch': /^capacity is \d+ bytes, the descriptor declares \d+$/,
  'no-manifest': /^no manifest, so the files cannot be verified$/,
  'manifest-name': /^(should be named vm\.mf|signed as x\.mf, the manifest is vm\.mf)$/,
  'manifest-algorithms': /^SHA256, SHA1$/,
  'not-in-manifest': /^not listed in the manifest$/,
  'certificate-not-verified':
    /^(a CMS signature, which imgctl cannot verify|unknown algorithm MD5)$/,
};

/** Returns the codes of the findings in order, and checks what they say; `?` marks a warning. */
export function codes({ findings }: PackageSummary): string[] {
  for (const { code, message } of findings) expect(message, code).toMatch(MESSAGES[code] ?? 'none');
  return findings.map(({ code, severity }) => (severity === 'error' ? code : `${code}?`));
}

/**
 * Expects these findings in order, each as its code, `?` if it is a warning, or whole:
 * `bad-header vm.ova, byte 512: damaged header`.
 */
export function expectFindings(summary: PackageSummary, expected: readonly string[]): void {
  const found = codes(summary).map((code, at) => {
    const { place, message } = summary.findings[at] ?? {};
    return expected[at]?.includes(' ') ? `${code} ${place}: ${message}` : code;
  });
  expect(found).toEqual(expected);
}

export function member(name: string, content: string | Uint8Array = ''): TarMember {
  return { name, content: Buffer.from(content) };
}

/** The members of the sample: `vm.ovf`, `vm.mf`, `vm-disk1.vmdk`. */
export const sample = () => sampleMembers('vm');

/** Returns the sample's disk with changed bytes. */
export function changed(change: (bytes: Buffer) => unknown): Buffer {
  const bytes = Buffer.from(sample()[2].content);
  change(bytes);
  return bytes;
}

/** The sample's disk as QEMU writes it: the directory and the table before the grains, and no footer. */
export function directoryFirst(change: (bytes: Buffer) => unknown = () => {}): Buffer {
  return changed((bytes) => {
    const directory = Number(bytes.readBigUInt64LE(bytes.length - 1024 + 56)) * 512;
    const table = bytes.readUInt32LE(directory) * 512;
    bytes.copy(bytes, 31 * 512, table, table + 2048);
    bytes.writeUInt32LE(31, 30 * 512);
    bytes.writeBigUInt64LE(30n, 56);
    change(bytes);
  });
}

/** Adds a manifest that matches the members, right after the descriptor. */
export function withManifest([descriptor, ...others]: readonly TarMember[]): TarMember[] {
  if (descriptor === undefined) return [];
  const manifest = member('vm.mf', manifestOf([descriptor, ...others]));
  return [descriptor, manifest, ...others];
}

/** A descriptor of OVF 1.x or 2.x with these sections, and with empty references and a system if they have none. */
export function envelope(sections: string, version = 1): string {
  const namespace = `http://schemas.dmtf.org/ovf/envelope/${version}`;
  const rasd =
    'http://schemas.dmtf.org/wbem/wscim/1/cim-schema/2/CIM_ResourceAllocationSettingData';
  const references = sections.includes('<References') ? '' : '<References/>';
  const hardware = '<VirtualHardwareSection><Info/></VirtualHardwareSection>';
  const system = sections.includes('<VirtualSystem')
    ? ''
    : `<VirtualSystem ovf:id="vm">${hardware}</VirtualSystem>`;
  return `<Envelope xmlns="${namespace}" xmlns:ovf="${namespace}" xmlns:rasd="${rasd}">${references}${sections}${system}</Envelope>`;
}

export function hardwareItem(settings: Record<string, string | number>, attributes = ''): string {
  const elements = Object.entries(settings).map(
    ([name, value]) => `<rasd:${name}>${value}</rasd:${name}>`,
  );
  return `<Item ${attributes}>${elements.join('')}</Item>`;
}

/** A descriptor whose only system has these hardware items. */
export function machine(items: string, sections = ''): string {
  const section = `<VirtualHardwareSection>${items}</VirtualHardwareSection>`;
  return envelope(`${sections}<VirtualSystem ovf:id="vm">${section}</VirtualSystem>`);
}

const VMDK = 'http://www.vmware.com/interfaces/specifications/vmdk.html#streamOptimized';

export interface DiskOptions {
  readonly name?: string;
  readonly gzip?: boolean;
  /** Bytes, or a property that sets them. */
  readonly capacity?: number | string;
  readonly format?: string;
}

/** The files of a package without a manifest, whose only disk has this content. */
export function packageOf(content: Uint8Array, options: DiskOptions = {}) {
  const { name = 'd.vmdk', gzip = false, capacity = 4 * 2 ** 20, format = VMDK } = options;
  const compression = gzip ? 'ovf:compression="gzip"' : '';
  const file = `<File ovf:id="f" ovf:href="${name}" ${compression}/>`;
  const attributes = `ovf:capacity="${capacity}" ovf:format="${format}"`;
  const sections = `<References>${file}</References><DiskSection><Info/><Disk ovf:diskId="d" ovf:fileRef="f" ${attributes}/></DiskSection>`;
  return [member('vm.ovf', envelope(sections)), member(name, content)] as const;
}
