// Compares virtual hardware with the newest version that a platform runs, and finds devices that it cannot have.

import { childrenOf, type Report, setting } from './elements.ts';
import { findSystems } from './systems.ts';
import type { XmlElement } from './xml.ts';

/** CIM resource types; also that of VMware's sound cards, which is "other". */
const DEVICES: ReadonlyMap<string, string> = new Map([
  ['22', 'a parallel port'],
  ['23', 'a USB controller'],
  ['35', 'a sound card'],
]);

/** @param maxHardware the number of the newest version, such as 13 for vmx-13 */
export function checkHardware(root: XmlElement, maxHardware: number, report: Report): void {
  for (const { element } of findSystems(root)) {
    const [section] = childrenOf(element, 'VirtualHardwareSection');
    if (section === undefined) continue;
    const [system] = childrenOf(section, 'System');
    const types = (system && setting(system, 'VirtualSystemType'))?.split(/[\s,]+/) ?? [];
    const versions = types.map((type) => Number(/^vmx-0*(\d{1,4})$/i.exec(type)?.[1]));
    // A system that lists several runs on any of them.
    if (system && versions.length > 0 && versions.every((version) => version > maxHardware)) {
      report('newer-hardware', system, `${types.join(', ')}, newer than vmx-${maxHardware}`);
    }
    for (const item of childrenOf(section, 'Item')) {
      const subtype = setting(item, 'ResourceSubType') ?? '';
      const type = setting(item, 'ResourceType') ?? '';
      const device = /soundcard/i.test(subtype) ? 'a sound card' : DEVICES.get(type);
      if (device !== undefined)
        report('unsupported-device', item, `${device} (${subtype || type})`);
    }
  }
}
