// Parses the XML of a descriptor into a tree of elements; rejects entities, document types and huge input.

import { SaxesParser } from 'saxes';
import type { FindingCode } from './findings.ts';

export interface XmlElement {
  /** Without prefix. */
  readonly name: string;
  readonly namespace: string;
  /** The line it starts on, from 1. */
  readonly line: number;
  readonly attributes: readonly XmlAttribute[];
  readonly children: readonly XmlElement[];
  /** Without the text of its children. */
  readonly text: string;
}

interface XmlAttribute {
  /** Without prefix. */
  readonly name: string;
  /** Empty without a prefix. */
  readonly namespace: string;
  readonly value: string;
}

export class XmlError extends Error {
  readonly code: FindingCode;
  readonly line: number;

  constructor(code: FindingCode, message: string, line: number) {
    super(message);
    this.code = code;
    this.line = line;
  }
}

/** Elements and attributes; a large real descriptor has a tenth of them. */
const MAX_NODES = 100_000;
const MAX_DEPTH = 100;
/** Characters per write to the parser; the root element must start in the first slice. */
const SLICE = 1024 * 1024;

/** An element whose end is still to come. */
type OpenElement = { -readonly [Name in keyof XmlElement]: XmlElement[Name] } & {
  readonly children: XmlElement[];
};

function openElement(line: number): OpenElement {
  return { name: '', namespace: '', line, attributes: [], children: [], text: '' };
}

/** Returns the root element. @throws XmlError */
export function parseXml(bytes: Uint8Array): XmlElement {
  const parser = new SaxesParser({ xmlns: true });
  const fail = (code: FindingCode, message: string): never => {
    throw new XmlError(code, message, parser.line);
  };
  const document = openElement(0);
  const open: OpenElement[] = [];
  const current = () => open.at(-1) ?? document;
  let nodes = 0;
  const countNode = () => {
    nodes += 1;
    if (nodes > MAX_NODES)
      fail('xml-too-complex', `more than ${MAX_NODES} elements and attributes`);
  };
  const addText = (text: string) => {
    current().text += text;
  };
  parser.on('error', ({ message }) => {
    const reason = message.replace(/^\d+:\d+: /, '').replace(/\.$/, '');
    fail(reason === 'undefined entity' ? 'xml-entity' : 'xml-syntax', reason);
  });
  parser.on('doctype', () => fail('xml-doctype', 'document type declarations are not allowed'));
  parser.on('attribute', countNode);
  parser.on('opentagstart', () => {
    countNode();
    const element = openElement(parser.line);
    current().children.push(element);
    open.push(element);
    if (open.length > MAX_DEPTH)
      fail('xml-too-complex', `nested more than ${MAX_DEPTH} levels deep`);
  });
  parser.on('opentag', ({ local, uri, attributes }) => {
    const element = current();
    element.name = local;
    element.namespace = uri;
    element.attributes = Object.values(attributes).map(({ local, uri, value }) => {
      return { name: local, namespace: uri, value };
    });
  });
  parser.on('text', addText);
  parser.on('cdata', addText);
  parser.on('closetag', () => open.pop());
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

const LESS_THAN = 0x3c;

/** True if bytes start like XML in any encoding: a byte order mark or NULs may precede the bracket. */
export function mayBeXml(start: Buffer): boolean {
  return /^[\0\u0080-\u00ff]{0,3}\s*</.test(start.toString('latin1'));
}

/** Decodes UTF-16 by its byte order mark or first character, else the declared encoding, else UTF-8. */
function decode(bytes: Uint8Array): string {
  const [first, second] = bytes;
  let encoding = 'utf-8';
  if ((first === 0xff && second === 0xfe) || (first === LESS_THAN && second === 0)) {
    encoding = 'utf-16le';
  } else if ((first === 0xfe && second === 0xff) || (first === 0 && second === LESS_THAN)) {
    encoding = 'utf-16be';
  } else {
    const start = Buffer.from(bytes.subarray(0, 200)).toString('latin1');
    const declared = /^(?:\u00ef\u00bb\u00bf)?<\?xml[^>]*?\sencoding\s*=\s*["']([\w.:-]+)["']/.exec(
      start,
    );
    // A declaration that is readable byte by byte cannot be UTF-16, even if it says so.
    if (declared?.[1] !== undefined && !/^utf-16/i.test(declared[1])) encoding = declared[1];
  }
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw new XmlError('xml-encoding', `cannot be decoded as ${encoding}`, 1);
  }
}
