// Generates a small real package: a machine with one disk that prints a line when it boots.

import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { packTar, type TarMember } from './tar.ts';
import { streamOptimizedVmdk } from './vmdk.ts';

const CAPACITY = 4 * 1024 * 1024;
const STREAM_OPTIMIZED =
  'http://www.vmware.com/interfaces/specifications/vmdk.html#streamOptimized';
const SETTING_DATA =
  'http://schemas.dmtf.org/wbem/wscim/1/cim-schema/2/CIM_ResourceAllocationSettingData';

/**
 * Writes an OVA of less than 100 kB: descriptor, SHA-256 manifest and a stream-optimised disk, in ustar format.
 * @param name of the machine and its files: at most 60 letters, digits, `.`, `_` and `-`
 * @throws RangeError for an invalid name
 */
export async function writeSampleOva(file: string, name = 'sample'): Promise<void> {
  await writeFile(file, packTar(sampleMembers(name)));
}

export function sampleMembers(
  name: string,
): [descriptor: TarMember, manifest: TarMember, disk: TarMember] {
  if (!/^[\w][\w.-]{0,59}$/.test(name)) throw new RangeError(`invalid name: ${name}`);
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
