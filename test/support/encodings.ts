// The ways in which a service may encode a text that it sends back.

import { printable } from '../../src/output/text.ts';

const inUnits = (text: string, write: (code: number) => string) =>
  text
    .split('')
    .map((unit) => write(unit.charCodeAt(0)))
    .join('');
const inPoints = (text: string, write: (point: number) => string) =>
  Array.from(text, (character) => write(character.codePointAt(0) ?? 0)).join('');
const inBytes = (text: string, write: (hex: string) => string) =>
  Array.from(Buffer.from(text), (byte) => write(byte.toString(16).padStart(2, '0'))).join('');
const inJson = (text: string) => JSON.stringify(text).slice(1, -1);
const inHtml = (text: string) => {
  const names: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  };
  return text.replace(/[&<>"']/g, (character) => names[character] ?? '');
};

/** Encoders of the standard library or written here, which share nothing with the redaction. */
export const ENCODINGS: Readonly<Record<string, (text: string) => string>> = {
  unchanged: String,
  'in capitals': (text) => text.replace(/[a-z]/g, (letter) => letter.toUpperCase()),
  'JSON-escaped': inJson,
  'JSON-escaped twice': (text) => inJson(inJson(text)),
  'JSON-escaped with every character as \\u': (text) =>
    inUnits(text, (code) => `\\u${code.toString(16).padStart(4, '0')}`),
  'HTML-escaped': inHtml,
  'HTML-escaped in JSON': (text) => inJson(inHtml(text)),
  'in decimal references': (text) => inPoints(text, (point) => `&#${point};`),
  'in hexadecimal references': (text) => inPoints(text, (point) => `&#x${point.toString(16)};`),
  'percent-encoded': encodeURIComponent,
  'percent-encoded twice': (text) => encodeURIComponent(encodeURIComponent(text)),
  'percent-encoded in every byte': (text) => inBytes(text, (hex) => `%${hex}`),
  'form-encoded': (text) => new URLSearchParams({ '': text }).toString().slice(1),
  'in base64': (text) => Buffer.from(text).toString('base64'),
  'in base64url': (text) => Buffer.from(text).toString('base64url'),
  'in hexadecimal': (text) => Buffer.from(text).toString('hex'),
  'as messages escape it': printable,
};
