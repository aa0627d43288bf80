// Texts of 200,000 characters without the character that a pattern looks for. Each takes minutes if
// the pattern starts again at each character.

import { expect, it } from 'vitest';
import { basicCredentials } from '../src/emulator/access-tokens.ts';
import { chooseProxy } from '../src/http/proxy-route.ts';
import { Redaction } from '../src/output/redaction.ts';
import { elementKind } from '../src/ovf/elements.ts';
import { parseXml } from '../src/xml.ts';

const LONG = 'a'.repeat(200_000);
const SCHEMA_INSTANCE = 'http://www.w3.org/2001/XMLSchema-instance';

function kindOf(type: string) {
  const xml = `<Section xmlns:i="${SCHEMA_INSTANCE}" i:type="${type}"/>`;
  return elementKind(parseXml(Buffer.from(xml), { bytes: 1_000_000, nodes: 9, depth: 9 }));
}

function redactTyped(word: string) {
  const redaction = new Redaction();
  redaction.addTyped([word]);
  return redaction.apply(word);
}

function bypassReason(NO_PROXY: string) {
  return chooseProxy(new URL('https://10.0.0.1'), { HTTPS_PROXY: 'p', NO_PROXY }).bypassReason;
}

function basic(text: string) {
  return basicCredentials(`Basic ${Buffer.from(text).toString('base64')}`);
}

it.each<[string, () => unknown, unknown]>([
  ['type of an element', () => kindOf(LONG), LONG],
  ['type of an element with a prefix', () => kindOf(`ovf:${LONG}_Type_Type`), `${LONG}_Type`],
  ['word like a URL with a password', () => redactTyped(`http://x:${LONG}`), `http://x:${LONG}`],
  ['range in NO_PROXY', () => bypassReason(`/${LONG}`), undefined],
  ['user name without a password', () => basic(LONG), undefined],
])('a long %s is read at once', (_, read, expected) => {
  expect(read() === expected).toBe(true);
});
