// Writes packages into a temporary folder of the running test and reads them.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type PackageSummary, readPackage } from '../../src/ovf/package.ts';
import { manifestOf, sampleMembers } from '../../src/ovf/sample.ts';
import { BLOCK } from '../../src/ovf/tar-header.ts';
import { packTar, type TarMember, withChecksum } from '../../src/ovf/tar-writer.ts';
import { temporaryDirectory } from '../support/io.ts';

/** Bytes of the blocks that end an archive. */
export const END = 2 * BLOCK;

/** What is read from an archive of these bytes. */
export async function readBytes(bytes: Uint8Array, name = 'test.ova'): Promise<PackageSummary> {
  const file = join(temporaryDirectory(), name);
  writeFileSync(file, bytes);
  return readPackage(file);
}

/** What is read from an archive of these members. */
export function readMembers(members: readonly TarMember[]): Promise<PackageSummary> {
  return readBytes(packTar(members));
}

/** What is read from a descriptor and files beside it, the first of them being the descriptor. */
export async function readFolder(files: readonly TarMember[]): Promise<PackageSummary> {
  const folder = temporaryDirectory();
  for (const { name, content } of files) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return readPackage(join(folder, files[0]?.name ?? ''));
}

/** The findings' codes, in their order. */
export function codes({ findings }: PackageSummary): string[] {
  return findings.map(({ code }) => code);
}

export function member(name: string, content: string | Uint8Array): TarMember {
  return { name, content: Buffer.from(content) };
}

/** The sample's members: `vm.ovf`, `vm.mf`, `vm-disk1.vmdk`. */
export const sample = () => sampleMembers('vm');

/** An archive's members with a manifest that fits them, right after the descriptor. */
export function withManifest(members: readonly TarMember[]): TarMember[] {
  const [descriptor, ...others] = members;
  if (descriptor === undefined) return [];
  return [descriptor, member('vm.mf', manifestOf(members)), ...others];
}

/** A descriptor of OVF 1.x with these sections; a system is added where there is none among them. */
export function envelope(sections: string, version = 1): string {
  const namespace = `http://schemas.dmtf.org/ovf/envelope/${version}`;
  const rasd =
    'http://schemas.dmtf.org/wbem/wscim/1/cim-schema/2/CIM_ResourceAllocationSettingData';
  const references = sections.includes('<References') ? '' : '<References/>';
  const system = sections.includes('<VirtualSystem') ? '' : '<VirtualSystem ovf:id="vm"/>';
  return `<Envelope xmlns="${namespace}" xmlns:ovf="${namespace}" xmlns:rasd="${rasd}">${references}${sections}${system}</Envelope>`;
}

/** What is read from a descriptor alone, without the remark that there is no manifest. */
export async function readDescriptor(xml: string): Promise<PackageSummary> {
  const summary = await readFolder([member('vm.ovf', xml)]);
  return { ...summary, findings: summary.findings.filter(({ code }) => code !== 'no-manifest') };
}

/** A hardware item of OVF 1.x. */
export function hardwareItem(settings: Record<string, string | number>, attributes = ''): string {
  const elements = Object.entries(settings).map(
    ([name, value]) => `<rasd:${name}>${value}</rasd:${name}>`,
  );
  return `<Item ${attributes}>${elements.join('')}</Item>`;
}

/** A system of OVF 1.x with these hardware items. */
export function machine(items: string): string {
  return `<VirtualSystem ovf:id="vm"><VirtualHardwareSection>${items}</VirtualHardwareSection></VirtualSystem>`;
}

/** The sample's archive without the blocks at its end. */
export function endless(): Buffer {
  return packTar(sample()).subarray(0, -END);
}

/** The sample's archive with something done to its first header, whose checksum is put right. */
export function withHeader(change: (header: Buffer) => unknown): Buffer {
  const archive = packTar(sample());
  change(archive.subarray(0, BLOCK));
  withChecksum(archive.subarray(0, BLOCK));
  return archive;
}

/** The sample with more members at its end. */
export function followedBy(...members: TarMember[]): Buffer {
  return packTar([...sample(), ...members]);
}
