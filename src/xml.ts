// Parses XML from outside into a tree of elements; rejects entities, document types and huge input.

import { type SaxesAttributeNS, SaxesParser } from 'saxes';

export interface XmlElement {
  /** Without prefix. */
  name: string;
  namespace: string;
  /** The line it starts on, from 1. */
  line: number;
  attributes: readonly SaxesAttributeNS[];
  children: XmlElement[];
  /** Without the text of its children. */
  text: string;
}

/** Each is also the code of a finding of a descriptor. */
type XmlErrorCode =
  | 'xml-encoding'
  | 'xml-syntax'
  | 'xml-doctype'
  | 'xml-entity'
  | 'xml-too-complex';

export class XmlError extends Error {
  readonly code: XmlErrorCode;
  readonly line: number;

  constructor(code: XmlErrorCode, message: string, line: number) {
    super(message);
    this.code = code;
    this.line = line;
  }
}

export interface XmlLimits {
  readonly bytes: number;
  /** Elements and attributes together. */
  readonly nodes: number;
  readonly depth: number;
}

/** Characters per write to the parser; the root element must start in the first slice. */
const SLICE = 1024 * 1024;

/** Returns the root element. @throws XmlError */
export function parseXml(bytes: Uint8Array, limits: XmlLimits): XmlElement {
  const parser = new SaxesParser({ xmlns: true });
  const fail = (code: XmlErrorCode, message: string): never => {
    throw new XmlError(code, message, parser.line);
  };
  if (bytes.length > limits.bytes) fail('xml-too-complex', `more than ${limits.bytes} bytes`);
  const openAt = (line: number): XmlElement => {
    return { name: '', namespace: '', line, attributes: [], children: [], text: '' };
  };
  let current = openAt(0);
  const document = current;
  const parents: XmlElement[] = [];
  let nodes = 0;
  const countNode = () => {
    nodes += 1;
    if (nodes <= limits.nodes) return;
    fail('xml-too-complex', `more than ${limits.nodes} elements and attributes`);
  };
  const addText = (text: string) => {
    current.text += text;
  };
  parser.on('error', ({ message }) => {
    const reason = message.replace(/^\d+:\d+: /, '').replace(/\.$/, '');
    fail(reason === 'undefined entity' ? 'xml-entity' : 'xml-syntax', reason);
  });
  parser.on('doctype', () => fail('xml-doctype', 'document type declarations are not allowed'));
  parser.on('attribute', countNode);
  parser.on('opentagstart', () => {
    countNode();
    const element = openAt(parser.line);
    current.children.push(element);
    parents.push(current);
    current = element;
    if (parents.length <= limits.depth) return;
    fail('xml-too-complex', `nested more than ${limits.depth} levels deep`);
  });
  parser.on('opentag', ({ local, uri, attributes }) => {
    current.name = local;
    current.namespace = uri;
    current.attributes = Object.values(attributes);
  });
  parser.on('text', addText);
  parser.on('cdata', addText);
  parser.on('closetag', () => {
    current = parents.pop() ?? document;
  });
  const text = decode(bytes);
  for (let start = 0; start < text.length; start += SLICE) {
    parser.write(text.slice(start, start + SLICE));
    // The parser buffers a document type until its end and reports it only then.
    if (document.children.length === 0 && start + SLICE < text.length) {
      fail('xml-too-complex', 'no element in the first 1 MiB');
    }
  }
  parser.close();
  return document.children[0] ?? fail('xml-syntax', 'no root element');
}

/** Returns every element below with that name, in the order of the document. */
export function findAll(element: XmlElement, name: string, found: XmlElement[] = []): XmlElement[] {
  for (const child of element.children) {
    if (child.name === name) found.push(child);
    findAll(child, name, found);
  }
  return found;
}

/** Returns the trimmed text of the first element below with that name. */
export function textOf(element: XmlElement, name: string): string | undefined {
  return findAll(element, name)[0]?.text.trim();
}

const ENTITIES = { '<': '&lt;', '>': '&gt;', '&': '&amp;', '"': '&quot;', "'": '&apos;' };

/**
 * Returns a text as the content of an element. Named entities are those that every reader knows.
 */
export function escapeXml(text: string): string {
  return text.replace(/[<>&"']/g, (sign) => ENTITIES[sign as keyof typeof ENTITIES]);
}

/**
 * True if bytes start like XML in any encoding: a byte order mark or NULs may precede the bracket.
 */
export function mayBeXml(start: Buffer): boolean {
  return /^[\0\u0080-\u00ff]{0,3}\s*</.test(start.toString('latin1'));
}

function decode(bytes: Uint8Array): string {
  const encoding = encodingOf(Buffer.from(bytes.subarray(0, 200)).toString('latin1'));
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw new XmlError('xml-encoding', `cannot be decoded as ${encoding}`, 1);
  }
}

/**
 * Returns UTF-16 by its byte order mark or first character, else the declared encoding, else UTF-8.
 */
function encodingOf(start: string): string {
  if (/^(?:\u00ff\u00fe|<\0)/.test(start)) return 'utf-16le';
  if (/^(?:\u00fe\u00ff|\0<)/.test(start)) return 'utf-16be';
  const declaration = /^(?:\u00ef\u00bb\u00bf)?<\?xml[^>]*?\sencoding\s*=\s*["']([\w.:-]+)["']/;
  const declared = declaration.exec(start)?.[1] ?? 'utf-8';
  // A declaration that is readable byte by byte cannot be UTF-16, even if it says so.
  return /^utf-16/i.test(declared) ? 'utf-8' : declared;
}
