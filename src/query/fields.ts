// The fields of an image: their kinds, the values they hold, and how values compare.

export type FieldKind = 'number' | 'text' | 'boolean' | 'time';

/** The fields of an image in the order of section 2.2: their kinds, JSON types and meanings. */
const DEFINITIONS = {
  id: ['number', 'number', 'image id'],
  name: ['text', 'string', 'file name'],
  path: ['text', 'string', '[data store] folder/file name'],
  label: ['text', 'string', 'folder/file name'],
  folder: ['text', 'string or null', 'folder in the data store'],
  data_store: ['text', 'string', 'data store of the file'],
  public: ['boolean', 'boolean', 'false for your own images'],
  created_on: ['time', 'string', 'when added, in UTC (ISO 8601)'],
  updated_on: ['time', 'string', 'when last updated, in UTC (ISO 8601)'],
} as const satisfies Record<string, readonly [FieldKind, type: string, meaning: string]>;

export type Field = keyof typeof DEFINITIONS;

export const FIELDS: readonly Field[] = Object.keys(DEFINITIONS) as Field[];

export function kindOf(field: Field): FieldKind {
  return DEFINITIONS[field][0];
}

/** Returns the JSON type, such as `string or null`, and the meaning. */
export function describeField(field: Field): readonly [type: string, meaning: string] {
  const [, type, meaning] = DEFINITIONS[field];
  return [type, meaning];
}

/** An image as the service sent it: any field may be missing or have any type. */
export type ImageRecord = Readonly<Record<string, unknown>>;

export type FieldValue = number | boolean | string | null;

/** Returns the value as its field's kind ("12" as 12, 1 as true) or as text; null for objects. */
export function readValue(image: ImageRecord, field: Field): FieldValue {
  const raw = Object.hasOwn(image, field) ? image[field] : null;
  const kind = kindOf(field);
  if (typeof raw === 'string') return parseValue(raw, kind);
  if (kind === 'boolean' && (raw === 0 || raw === 1)) return raw === 1;
  if (typeof raw === 'number' && !Number.isNaN(raw)) return kind === 'number' ? raw : `${raw}`;
  if (typeof raw === 'boolean') return kind === 'boolean' ? raw : `${raw}`;
  return null;
}

export function nameOf(image: ImageRecord): string {
  return `${readValue(image, 'name') ?? ''}`;
}

export function parseValue(text: string, kind: FieldKind): number | boolean | string {
  const word = text.toLowerCase();
  if (kind === 'boolean' && ['true', 'false'].includes(word)) return word === 'true';
  const isInteger = kind === 'number' && /^-?\d{1,16}$/.test(text);
  return isInteger && Number.isSafeInteger(Number(text)) ? Number(text) : text;
}

/** Compares null, the first, numbers (false as 0, true as 1), and text by code point, the last. */
export function compareValues(left: FieldValue, right: FieldValue): number {
  if (left === right) return 0;
  if (left === null || right === null) return left === null ? -1 : 1;
  if (typeof left === 'string') return typeof right === 'string' ? compareText(left, right) : 1;
  if (typeof right === 'string') return -1;
  return Number(left) - Number(right);
}

/** Compares by code point; `<` compares UTF-16 units, which puts emoji before U+E000. */
export function compareText(left: string, right: string): number {
  const shorter = Math.min(left.length, right.length);
  for (let index = 0; index < shorter; index += 1) {
    const leftUnit = left.charCodeAt(index);
    const rightUnit = right.charCodeAt(index);
    if (leftUnit !== rightUnit) return codePointRank(leftUnit) - codePointRank(rightUnit);
  }
  return left.length - right.length;
}

function codePointRank(unit: number): number {
  const isSurrogate = unit >= 0xd800 && unit <= 0xdfff;
  return isSurrogate ? unit + 0x10000 : unit;
}
