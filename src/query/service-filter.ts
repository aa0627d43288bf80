// What the service may get of a filter: only what services agree about.

import { type Field, type FieldKind, kindOf } from './fields.ts';
import type { Filter, Operator } from './filter.ts';

/** A filter that the service can apply, so that fewer pages are read. */
export interface ServiceFilter {
  readonly field: Field;
  readonly operator: Operator;
  /** As sent: `name,like,%ubuntu%`. */
  readonly text: string;
  /** The text that a `like` searches for. The service may mind its case, or not know this form. */
  readonly part: string | undefined;
  /** Number of characters of the value, as sent. */
  readonly valueLength: number;
  /** False for `id,lt,1000`: a service that compares ids as texts finds 3 of 999 images. */
  readonly isLossless: boolean;
}

const COMPARISONS: readonly Operator[] = ['lt', 'le', 'gt', 'ge'];

/** What services agree about. They do not about times, booleans and the order of texts. */
const SENT: Readonly<Partial<Record<FieldKind, readonly Operator[]>>> = {
  text: ['eq', 'in', 'like', 'contains'],
  number: ['eq', 'in', ...COMPARISONS],
};

/** Returns undefined for a filter that is not sent. */
export function serviceFilter({ field, operator, operands }: Filter): ServiceFilter | undefined {
  if (!SENT[kindOf(field)]?.includes(operator)) return undefined;
  const texts = operands.map(({ text }) => text);
  const [first = ''] = texts;
  if (operator === 'contains') return likeFilter(field, first);
  if (operator === 'like') return likeFilter(field, /^%(.+)%$/s.exec(first)?.[1] ?? '');
  // To some services null is a text.
  if (texts.includes('null')) return undefined;
  if (first.includes(',')) return undefined;
  // Some services trim values.
  if (texts.some((text) => text !== text.trim())) return undefined;
  const value = texts.join(',');
  const text = `${field},${operator},${value}`;
  if (!isPlain(text)) return undefined;
  const isLossless = !COMPARISONS.includes(operator);
  return { field, operator, text, part: undefined, valueLength: value.length, isLossless };
}

/** Returns the only `like` that is sent; undefined for a text with special characters. */
export function likeFilter(field: Field, part: string): ServiceFilter | undefined {
  const text = `${field},like,%${part}%`;
  // Some databases take brackets and backslashes as part of a pattern.
  if (part === '' || /[%,[\\]/.test(part) || !isPlain(text)) return undefined;
  return { field, operator: 'like', text, part, valueLength: part.length + 2, isLossless: true };
}

/** Servers and proxies reject longer URLs; a list of ids may have thousands. */
const MAX_URL_BYTES = 4_000;

/** True for ASCII without `;`, where some services divide a filter, if the URL is short enough. */
function isPlain(filter: string): boolean {
  const length = new URLSearchParams({ filter }).toString().length;
  return /^[ -:<-~]*$/.test(filter) && length <= MAX_URL_BYTES;
}
