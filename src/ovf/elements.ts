// Finds elements and attributes of the OVF vocabulary in any version, and parses its units.

import { isDigits } from '../words.ts';
import type { XmlElement } from '../xml.ts';
import type { FindingCode } from './findings.ts';

/** Adds a finding at a line of the descriptor. */
export type Report = (code: FindingCode, place: Pick<XmlElement, 'line'>, message: string) => void;

/** Differs from the standard's in the last slash. */
const OVIRT = 'http://schemas.dmtf.org/ovf/envelope/1/';
/** Namespaces of the envelope, with the version to assume if the envelope names none. */
const VERSIONS: ReadonlyMap<string, string> = new Map([
  [OVIRT, '1.x'],
  ['http://www.vmware.com/schema/ovf/1/envelope', '0.9'],
  ['http://schemas.dmtf.org/ovf/envelope/1', '1.x'],
  ['http://schemas.dmtf.org/ovf/envelope/2', '2.x'],
]);
const SCHEMA_INSTANCE = 'http://www.w3.org/2001/XMLSchema-instance';
/** Resource allocation, storage allocation and Ethernet port allocation settings. */
const SETTING_DATA = 'http://schemas.dmtf.org/wbem/wscim/1/cim-schema/2/CIM_';

export function ovfVersionOf(root: XmlElement): string | null {
  const assumed = VERSIONS.get(root.namespace);
  if (root.name !== 'Envelope' || assumed === undefined) return null;
  const written = attribute(root, 'version') ?? '';
  // oVirt writes its own version, such as 4.1.0.0.
  return /^[0-2](\.|$)/.test(written) ? written : assumed;
}

/** True for oVirt: a disk needs no capacity, and names its file by href, as items name disks. */
export function isOvirt(root: XmlElement): boolean {
  return root.namespace === OVIRT;
}

/**
 * Returns the OVF name of an element; null for others. OVF 0.9 has elements without a namespace,
 * and generic ones: `<Section xsi:type="ovf:DiskSection_Type">` is a `DiskSection`.
 */
export function elementKind(element: XmlElement): string | null {
  if (element.namespace !== '' && !VERSIONS.has(element.namespace)) return null;
  if (element.name !== 'Section' && element.name !== 'Content') return element.name;
  const type = element.attributes.find(
    ({ local, uri }) => local === 'type' && uri === SCHEMA_INSTANCE,
  );
  return type?.value.replace(/^.*:/, '').replace(/_Type$/, '') ?? element.name;
}

export function childrenOf(element: XmlElement, ...kinds: string[]): XmlElement[] {
  return element.children.filter((child) => kinds.includes(elementKind(child) ?? ''));
}

export function attribute(element: XmlElement, name: string): string | null {
  const found = element.attributes.find(
    ({ local, uri }) => local === name && (uri === '' || VERSIONS.has(uri)),
  );
  return found?.value ?? null;
}

export function childText(element: XmlElement, kind: string): string | null {
  return trimmed(childrenOf(element, kind)[0]);
}

export interface SystemElement {
  readonly element: XmlElement;
  /** Identifiers of the enclosing collections, outermost first. */
  readonly collections: readonly string[];
}

export function findSystems(
  element: XmlElement,
  collections: readonly string[] = [],
): SystemElement[] {
  return childrenOf(element, 'VirtualSystem', 'VirtualSystemCollection').flatMap((child) => {
    if (elementKind(child) === 'VirtualSystem') return { element: child, collections };
    return findSystems(child, [...collections, attribute(child, 'id') ?? '']);
  });
}

/** Returns what VirtualSystemType lists: `vmx-13 vmx-14`. */
export function familiesOf(section: XmlElement): string[] {
  const [system] = childrenOf(section, 'System');
  return (system && settingOf(system, 'VirtualSystemType'))?.split(/[\s,]/).filter(Boolean) ?? [];
}

/** Names of settings in OVF 0.9. */
const OLDER_NAMES = new Map([
  ['InstanceID', 'InstanceId'],
  ['ElementName', 'Caption'],
]);

/** Returns a setting of a hardware item, such as `InstanceID`, if need be in another namespace. */
export function settingOf(item: XmlElement, name: string): string | null {
  const named = item.children.filter((child) => child.name === name);
  const value = trimmed(
    named.find(({ namespace }) => namespace.startsWith(SETTING_DATA)) ?? named[0],
  );
  const older = value === null ? OLDER_NAMES.get(name) : undefined;
  return older === undefined ? value : settingOf(item, older);
}

/** True if a setting is there without a value, and not marked as nil. */
export function hasEmpty(item: XmlElement, name: string): boolean {
  const isNil = ({ attributes }: XmlElement) => attributes.some(({ local }) => local === 'nil');
  return item.children.some(
    (child) => child.name === name && !isNil(child) && trimmed(child) === null,
  );
}

export function required(element: XmlElement, name: string, report: Report): string | null {
  const value = attribute(element, name);
  if (value === null) report('missing-attribute', element, `${element.name} without ${name}`);
  return value;
}

/** Returns an identifier and adds it to those seen; reports a missing or repeated one. */
export function takeId(element: XmlElement, name: string, seen: Set<string>, report: Report) {
  const id = required(element, name, report);
  if (id !== null && seen.has(id)) {
    report('duplicate-id', element, `another ${element.name} has the identifier ${id}`);
  }
  if (id !== null) seen.add(id);
  return id;
}

export function numberOf(element: XmlElement, name: string, report: Report): number | null {
  return parseWholeNumber(attribute(element, name), name, element, report);
}

/** Returns the number in a text; null if there is none, or it is invalid, which is reported. */
export function parseWholeNumber(
  written: string | null,
  name: string,
  element: XmlElement,
  report: Report,
): number | null {
  if (written === null) return null;
  const value = isDigits(written.trim()) ? Number(written) : Number.NaN;
  if (Number.isSafeInteger(value)) return value;
  report('bad-number', element, `${name} must be a whole number (got ${written})`);
  return null;
}

function trimmed(element: XmlElement | undefined): string | null {
  return element?.text.trim() || null;
}

/** Returns a quantity in bytes; null, and a finding, if its unit is unknown or it is too large. */
export function toBytes(
  quantity: number | null,
  unit: string | null,
  what: 'capacity' | 'memory',
  element: XmlElement,
  report: Report,
): number | null {
  const perUnit = bytesPerUnit(unit);
  if (perUnit === null) report('unknown-unit', element, `unknown ${what} unit ${unit}`);
  if (quantity === null || perUnit === null) return null;
  const bytes = quantity * perUnit;
  if (Number.isSafeInteger(bytes)) return bytes;
  report('bad-number', element, `${what} is too large (got ${quantity} ${unit})`);
  return null;
}

const PREFIXES = ['', 'k', 'm', 'g', 't', 'p'];
/** `B`, `GB`, `MiB` */
const SYMBOL = /^(|[kmgtp]i?)b$/;
/** `byte`, `MegaBytes` */
const WORD = /^(|kilo|mega|giga|tera|peta)bytes?$/;
/** `2^20`, `1024` */
const POWER = /^(\d{1,16})(?:\s*\^\s*(\d{1,2}))?$/;

/** Returns the bytes of a unit, such as `byte * 2^20`; null if it is unknown. No unit is a byte. */
export function bytesPerUnit(unit: string | null): number | null {
  const text = (unit ?? '').trim().toLowerCase();
  if (text === '') return 1;
  const [, prefix] = SYMBOL.exec(text) ?? WORD.exec(text) ?? [];
  if (prefix !== undefined) return 1024 ** PREFIXES.indexOf(prefix.charAt(0));
  const [base, ...factors] = text.split('*').map((part) => part.trim());
  if (base !== 'byte' && base !== 'bytes') return null;
  let bytes = 1;
  for (const factor of factors) {
    const [, number, exponent = 1] = POWER.exec(factor) ?? [];
    bytes *= Number(number) ** Number(exponent);
  }
  return Number.isSafeInteger(bytes) ? bytes : null;
}
