// Writes packages for tests: tar archives, stream-optimised VMDK disks, and a small machine that says hello.

import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { deflateSync } from 'node:zlib';

export const BLOCK = 512;

export interface TarMember {
  /** At most 100 bytes. */
  readonly name: string;
  readonly content: Uint8Array;
  /** The type flag (`0`, a regular file). */
  readonly type?: string;
}

/** Writes ustar, the format that the standard demands of an OVA; equal files give equal bytes. */
export function packTar(members: readonly TarMember[]): Buffer {
  const blocks = members.flatMap((member) => {
    const padding = Buffer.alloc(-member.content.length & (BLOCK - 1));
    return [tarHeader(member), member.content, padding];
  });
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]);
}

function tarHeader({ name, content, type = '0' }: TarMember): Buffer {
  const header = Buffer.alloc(BLOCK);
  if (header.write(name, 0) > 100) throw new RangeError(`name too long for ustar: ${name}`);
  header.write('0000644\0', 100);
  header.write('0000000\0', 108);
  header.write('0000000\0', 116);
  header.write(`${octal(content.length, 11)}\0`, 124);
  header.write(`${octal(0, 11)}\0`, 136);
  header.write(type, 156);
  header.write('ustar\u000000', 257);
  return withChecksum(header);
}

export function withChecksum(header: Buffer): Buffer {
  header.fill(' ', 148, 156);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 6)}\0 `, 148);
  return header;
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0');
}

const SECTOR = 512;
const VALID_NEWLINES = 1 << 0;
const COMPRESSED_GRAINS = 1 << 16;
const MARKERS = 1 << 17;
/** Means that the footer names the sector of the grain directory. */
const DIRECTORY_AT_END = 0xffff_ffff_ffff_ffffn;
/** Sectors in a grain: 64 KiB. */
const GRAIN = 128;
const GRAIN_BYTES = GRAIN * SECTOR;
const TABLE_ENTRIES = 512;
/** Sectors before the first grain. */
const OVERHEAD = GRAIN;
const DESCRIPTOR_SECTORS = 20;
/** Types of markers; a grain's marker has the size of its data instead. */
const MARKER = { end: 0, table: 1, directory: 2, footer: 3 } as const;

/**
 * Returns a VMDK with the content of a disk: compressed grains with markers, tables, directory and footer.
 * Grains of zeros take no space.
 * @param disk whole grains of 64 KiB
 * @param extent the file name for the embedded descriptor
 */
export function streamOptimizedVmdk(disk: Buffer, extent: string): Buffer {
  const capacity = disk.length / SECTOR;
  const output = new SectorWriter();
  output.write(header(capacity, DIRECTORY_AT_END));
  output.write(descriptor(capacity, extent), DESCRIPTOR_SECTORS);
  output.write(Buffer.alloc(0), OVERHEAD - output.sectors);
  const directory = Buffer.alloc(Math.ceil(capacity / GRAIN / TABLE_ENTRIES) * 4);
  for (let table = 0; table * 4 < directory.length; table += 1) {
    directory.writeUInt32LE(writeTable(disk, table, output), table * 4);
  }
  output.write(marker(sectorsOf(directory), MARKER.directory));
  const directorySector = output.sectors;
  output.write(directory);
  output.write(marker(1, MARKER.footer));
  output.write(header(capacity, BigInt(directorySector)));
  output.write(marker(0, MARKER.end));
  return output.bytes();
}

/** Writes the grains of one table, then the table; returns its sector, or 0 for an empty table. */
function writeTable(disk: Buffer, index: number, output: SectorWriter): number {
  const table = Buffer.alloc(TABLE_ENTRIES * 4);
  const zeros = Buffer.alloc(GRAIN_BYTES);
  const first = index * TABLE_ENTRIES;
  const end = Math.min(first + TABLE_ENTRIES, disk.length / GRAIN_BYTES);
  for (let grain = first; grain < end; grain += 1) {
    const content = disk.subarray(grain * GRAIN_BYTES, (grain + 1) * GRAIN_BYTES);
    if (content.equals(zeros)) continue;
    table.writeUInt32LE(output.sectors, (grain - first) * 4);
    const compressed = deflateSync(content, { level: 9 });
    const start = Buffer.alloc(12);
    start.writeBigUInt64LE(BigInt(grain * GRAIN), 0);
    start.writeUInt32LE(compressed.length, 8);
    output.write(Buffer.concat([start, compressed]));
  }
  if (table.every((byte) => byte === 0)) return 0;
  output.write(marker(sectorsOf(table), MARKER.table));
  const sector = output.sectors;
  output.write(table);
  return sector;
}

/** Builds the header or the footer, which differ only in the sector of the grain directory. */
function header(capacity: number, directory: bigint): Buffer {
  const bytes = Buffer.alloc(SECTOR);
  bytes.write('KDMV', 0);
  bytes.writeUInt32LE(3, 4);
  bytes.writeUInt32LE(VALID_NEWLINES | COMPRESSED_GRAINS | MARKERS, 8);
  bytes.writeBigUInt64LE(BigInt(capacity), 12);
  bytes.writeBigUInt64LE(BigInt(GRAIN), 20);
  bytes.writeBigUInt64LE(1n, 28);
  bytes.writeBigUInt64LE(BigInt(DESCRIPTOR_SECTORS), 36);
  bytes.writeUInt32LE(TABLE_ENTRIES, 44);
  bytes.writeBigUInt64LE(directory, 56);
  bytes.writeBigUInt64LE(BigInt(OVERHEAD), 64);
  bytes.write('\n \r\n', 73);
  bytes.writeUInt16LE(1, 77);
  return bytes;
}

function descriptor(capacity: number, extent: string): Buffer {
  const cylinders = Math.max(1, Math.min(16_383, Math.floor(capacity / (16 * 63))));
  return Buffer.from(
    [
      '# Disk DescriptorFile',
      'version=1',
      'CID=1a2b3c4d',
      'parentCID=ffffffff',
      'createType="streamOptimized"',
      '',
      '# Extent description',
      `RDONLY ${capacity} SPARSE "${extent}"`,
      '',
      '# The Disk Data Base',
      'ddb.adapterType = "lsilogic"',
      `ddb.geometry.cylinders = "${cylinders}"`,
      'ddb.geometry.heads = "16"',
      'ddb.geometry.sectors = "63"',
      'ddb.virtualHWVersion = "7"',
      '',
    ].join('\n'),
  );
}

function marker(sectors: number, type: number): Buffer {
  const bytes = Buffer.alloc(SECTOR);
  bytes.writeBigUInt64LE(BigInt(sectors), 0);
  bytes.writeUInt32LE(type, 12);
  return bytes;
}

function sectorsOf(bytes: Buffer): number {
  return Math.ceil(bytes.length / SECTOR);
}

/** Collects pieces, each padded to whole sectors. */
class SectorWriter {
  readonly #pieces: Buffer[] = [];
  sectors = 0;

  write(bytes: Buffer, sectors = sectorsOf(bytes)): void {
    this.#pieces.push(bytes, Buffer.alloc(sectors * SECTOR - bytes.length));
    this.sectors += sectors;
  }

  bytes(): Buffer {
    return Buffer.concat(this.#pieces);
  }
}

const CAPACITY = 4 * 1024 * 1024;
const STREAM_OPTIMIZED =
  'http://www.vmware.com/interfaces/specifications/vmdk.html#streamOptimized';
const SETTING_DATA =
  'http://schemas.dmtf.org/wbem/wscim/1/cim-schema/2/CIM_ResourceAllocationSettingData';

/**
 * Writes an OVA of less than 100 kB: descriptor, SHA-256 manifest and a stream-optimised disk, in ustar format.
 * @param name of the machine and its files
 */
export async function writeSampleOva(file: string, name = 'sample'): Promise<void> {
  await writeFile(file, packTar(sampleMembers(name)));
}

export function sampleMembers(
  name: string,
): [descriptor: TarMember, manifest: TarMember, disk: TarMember] {
  const diskName = `${name}-disk1.vmdk`;
  const disk = { name: diskName, content: streamOptimizedVmdk(sampleDisk(), diskName) };
  const descriptor = {
    name: `${name}.ovf`,
    content: Buffer.from(descriptorOf(name, diskName, disk.content.length)),
  };
  const manifest = Buffer.from(manifestOf([descriptor, disk]));
  return [descriptor, { name: `${name}.mf`, content: manifest }, disk];
}

export function manifestOf(files: readonly TarMember[]): string {
  return files
    .map(({ name, content }) => {
      return `SHA256(${name})= ${createHash('sha256').update(content).digest('hex')}\n`;
    })
    .join('');
}

/** Returns a disk whose boot sector prints a line through the BIOS and stops. */
export function sampleDisk(): Buffer {
  const disk = Buffer.alloc(CAPACITY);
  const code = [
    ...[0x31, 0xc0, 0x8e, 0xd8], // xor ax, ax; mov ds, ax
    ...[0xbe, 0x18, 0x7c], // mov si, text
    ...[0xb4, 0x0e, 0xbb, 0x07, 0x00], // print: mov ah, 0x0e; mov bx, 7
    ...[0xac, 0x84, 0xc0], // next: lodsb; test al, al
    ...[0x74, 0x04, 0xcd, 0x10], // jz stop; int 0x10
    ...[0xeb, 0xf7], // jmp next
    ...[0xf4, 0xeb, 0xfd], // stop: hlt; jmp stop
  ];
  Buffer.from(code).copy(disk);
  disk.write('Hello from the sample image.\r\n\0', code.length);
  disk.writeUInt16LE(0xaa55, 510);
  disk.write('The end of the disk.\n', CAPACITY - 512);
  return disk;
}

function descriptorOf(name: string, diskName: string, diskSize: number): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<Envelope xmlns="http://schemas.dmtf.org/ovf/envelope/1" xmlns:ovf="http://schemas.dmtf.org/ovf/envelope/1" xmlns:rasd="${SETTING_DATA}" xmlns:vssd="http://schemas.dmtf.org/wbem/wscim/1/cim-schema/2/CIM_VirtualSystemSettingData">
  <References>
    <File ovf:id="file1" ovf:href="${diskName}" ovf:size="${diskSize}"/>
  </References>
  <DiskSection>
    <Info>Virtual disks</Info>
    <Disk ovf:diskId="vmdisk1" ovf:fileRef="file1" ovf:capacity="${CAPACITY}" ovf:capacityAllocationUnits="byte" ovf:format="${STREAM_OPTIMIZED}"/>
  </DiskSection>
  <NetworkSection>
    <Info>Logical networks</Info>
    <Network ovf:name="VM Network">
      <Description>The only network</Description>
    </Network>
  </NetworkSection>
  <VirtualSystem ovf:id="${name}">
    <Info>A virtual machine</Info>
    <Name>${name}</Name>
    <OperatingSystemSection ovf:id="1">
      <Info>Guest operating system</Info>
      <Description>None, it says hello and stops</Description>
    </OperatingSystemSection>
    <VirtualHardwareSection>
      <Info>Virtual hardware</Info>
      <System>
        <vssd:ElementName>Virtual Hardware Family</vssd:ElementName>
        <vssd:InstanceID>0</vssd:InstanceID>
        <vssd:VirtualSystemIdentifier>${name}</vssd:VirtualSystemIdentifier>
        <vssd:VirtualSystemType>vmx-07</vssd:VirtualSystemType>
      </System>
${item(1, '1 virtual CPU', 3, { AllocationUnits: 'hertz * 10^6', VirtualQuantity: '1' })}
${item(2, '512 MB of memory', 4, { AllocationUnits: 'byte * 2^20', VirtualQuantity: '512' })}
${item(3, 'SCSI controller', 6, { Address: '0', ResourceSubType: 'lsilogic' })}
${item(4, 'Hard disk 1', 17, { AddressOnParent: '0', HostResource: 'ovf:/disk/vmdisk1', Parent: '3' })}
${item(5, 'Ethernet adapter 1', 10, { AutomaticAllocation: 'true', Connection: 'VM Network', ResourceSubType: 'E1000' })}
    </VirtualHardwareSection>
  </VirtualSystem>
</Envelope>
`;
}

/** Builds a hardware item; the standard demands alphabetical order of its settings. */
function item(id: number, label: string, type: number, more: Record<string, string>): string {
  const settings = { ElementName: label, InstanceID: id, ResourceType: type, ...more };
  const lines = Object.entries(settings)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `        <rasd:${name}>${value}</rasd:${name}>`);
  return ['      <Item>', ...lines, '      </Item>'].join('\n');
}
