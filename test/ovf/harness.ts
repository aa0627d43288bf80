// Builds packages for the running test, and reads them.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { type PackageSummary, type ReadPackage, readPackage } from '../../src/ovf/package.ts';
import { temporaryDirectory } from '../support/io.ts';
import { manifestOf, packTar, sampleMembers, type TarMember } from '../support/package-writer.ts';

export async function readBytes(bytes: Uint8Array, name = 'test.ova'): Promise<ReadPackage> {
  const file = join(temporaryDirectory(), name);
  writeFileSync(file, bytes);
  return readPackage(file);
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
  return readPackage(join(folder, files[0]?.name ?? ''));
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

/** Returns the codes of the findings in order; `?` marks a warning. Every finding has a message. */
export function codes({ findings }: PackageSummary): string[] {
  for (const { code, message } of findings) expect(message, code).not.toBe('');
  return findings.map(({ code, severity }) => (severity === 'error' ? code : `${code}?`));
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
