// Warns about hardware that programs refuse: drives without a place, new versions, rare devices.

import type { XmlElement } from '../xml.ts';
import {
  childrenOf,
  familiesOf,
  findSystems,
  hasEmpty,
  type Report,
  settingOf,
} from './elements.ts';

/** Values of ResourceType in CIM: CD and DVD drives, floppies, hard disks. */
const DRIVES = ['14', '15', '16', '17'];
const CONTROLLERS = ['1', '5', '6', '7', '8', '9', '20', '23', '25'];

interface Device {
  readonly element: XmlElement;
  readonly type: string | null;
  readonly instance: string | null;
}

/**
 * Reports drives whose Parent is empty, unknown or not a controller, and drives that share a place:
 * vSphere and VirtualBox refuse them. The platform itself places a drive without a Parent.
 * @param choices the items of each deployment option
 */
export function checkPlaces(choices: readonly (readonly Device[])[], report: Report): void {
  const reported = new Set<XmlElement>();
  for (const items of choices) {
    const types = new Map(items.map(({ instance, type }) => [instance, type ?? '']));
    const taken = new Set<string>();
    for (const { element, type } of items) {
      if (!DRIVES.includes(type ?? '')) continue;
      const address = addressOf(element);
      const isTaken = address !== null && taken.has(address);
      if (address !== null) taken.add(address);
      const problem = isTaken ? `another drive has ${address}` : parentProblem(element, types);
      if (problem === null || reported.has(element)) continue;
      reported.add(element);
      const name = settingOf(element, 'ElementName') ?? 'drive';
      report('device-place', element, `${name}: ${problem}`);
    }
  }
}

/** In oVirt, the Parent of a disk is the image that it is based on. */
const IMAGE_OF_OVIRT = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** @param types of all items, by instance */
function parentProblem(
  drive: XmlElement,
  types: ReadonlyMap<string | null, string>,
): string | null {
  const parent = settingOf(drive, 'Parent');
  if (parent === null) return hasEmpty(drive, 'Parent') ? 'its Parent is empty' : null;
  if (IMAGE_OF_OVIRT.test(parent)) return null;
  const type = types.get(parent);
  if (type === undefined) return `unknown Parent ${parent}`;
  return CONTROLLERS.includes(type) ? null : `its Parent ${parent} is not a controller`;
}

/** Returns `address 0 of Parent 4`; null if the item does not say it. */
function addressOf(drive: XmlElement): string | null {
  const parent = settingOf(drive, 'Parent');
  const written = settingOf(drive, 'AddressOnParent');
  if (parent === null || written === null || IMAGE_OF_OVIRT.test(parent)) return null;
  return `address ${/^\d{1,9}$/.test(written) ? Number(written) : written} of Parent ${parent}`;
}

/** Values of ResourceType in CIM. Sound cards of VMware are 1, "other". */
const RARE_DEVICES: ReadonlyMap<string, string> = new Map([
  ['22', 'a parallel port'],
  ['23', 'a USB controller'],
  ['35', 'a sound card'],
]);

/** Reports systems for versions of vmx above the maximum, and devices that are rarely supported. */
export function checkHardware(root: XmlElement, maxHardware: number, report: Report): void {
  for (const { element } of findSystems(root)) {
    const [section] = childrenOf(element, 'VirtualHardwareSection');
    if (section === undefined) continue;
    checkVersion(section, maxHardware, report);
    for (const item of childrenOf(section, 'Item')) {
      const subtype = settingOf(item, 'ResourceSubType') ?? '';
      const type = settingOf(item, 'ResourceType') ?? '';
      const device = /soundcard/i.test(subtype) ? 'a sound card' : RARE_DEVICES.get(type);
      if (device === undefined) continue;
      report('unsupported-device', item, `${device} (${subtype || type})`);
    }
  }
}

function checkVersion(section: XmlElement, maxHardware: number, report: Report): void {
  const families = familiesOf(section);
  if (families.length === 0) return;
  const [system = section] = childrenOf(section, 'System');
  const versions = families.flatMap((family) => /^vmx-0*(\d{1,4})$/i.exec(family)?.[1] ?? []);
  const names = families.join(', ');
  if (versions.length === 0) {
    const message = `${names}, no vmx version to compare with vmx-${maxHardware}`;
    report('other-hardware', system, message);
    return;
  }
  // A system that lists several runs on any of them.
  if (versions.some((version) => Number(version) <= maxHardware)) return;
  report('newer-hardware', system, `${names}, newer than vmx-${maxHardware}`);
}
