// Reads the virtual systems of an envelope, those inside collections included.

import { attribute, childrenOf, childText, kindOf, type Report, setting } from './elements.ts';
import { type HardwareContext, hardwareWith, readItems } from './hardware.ts';
import type { DeploymentOption, VirtualSystem } from './summary.ts';
import type { XmlElement } from './xml.ts';

/** A VirtualSystem element and the identifiers of the collections around it, outermost first. */
export interface Machine {
  readonly element: XmlElement;
  readonly collections: readonly string[];
}

export function findMachines(element: XmlElement, collections: readonly string[] = []): Machine[] {
  return childrenOf(element, 'VirtualSystem', 'VirtualSystemCollection').flatMap((child) => {
    if (kindOf(child) === 'VirtualSystem') return { element: child, collections };
    return findMachines(child, [...collections, attribute(child, 'id') ?? '']);
  });
}

export function readSystem(
  { element, collections }: Machine,
  options: readonly DeploymentOption[],
  context: HardwareContext,
  report: Report,
): VirtualSystem {
  const id = attribute(element, 'id');
  // Further hardware sections are alternatives to the first.
  const section = childrenOf(element, 'VirtualHardwareSection')[0];
  const items = section === undefined ? [] : readItems(section, context, report);
  const family = section && childrenOf(section, 'System')[0];
  const system = childrenOf(element, 'OperatingSystemSection')[0];
  const dependent = items.some((item) => item.options.length > 0) ? options : [];
  const standard = options.find((option) => option.default)?.id ?? null;
  return {
    id,
    name: childText(element, 'Name') ?? id,
    collections,
    operatingSystem: (system && childText(system, 'Description')) ?? null,
    hardwareFamilies: (family && setting(family, 'VirtualSystemType'))?.split(/[\s,]+/) ?? [],
    hardware: hardwareWith(items, standard),
    options: dependent.map((option) => {
      return { option: option.id, hardware: hardwareWith(items, option.id) };
    }),
  };
}
