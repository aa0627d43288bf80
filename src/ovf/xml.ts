// Parses the XML of a descriptor into a tree of elements; rejects entities, document types and huge input.

import { SaxesParser, type SaxesTagNS } from 'saxes';
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

export interface XmlAttribute {
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

/**
 * Returns the root element.
 * @throws XmlError
 */
export function parseXml(bytes: Uint8Array): XmlElement {
  const builder = new TreeBuilder();
  const parser = new SaxesParser({ xmlns: true });
  const fail = (code: FindingCode, message: string): never => {
    throw new XmlError(code, message, parser.line);
  };
  let nodes = 0;
  const countNode = () => {
    nodes += 1;
    if (nodes > MAX_NODES)
      fail('xml-too-complex', `more than ${MAX_NODES} elements and attributes`);
  };
  parser.on('error', ({ message }) => {
    const reason = message.replace(/^\d+:\d+: /, '').replace(/\.$/, '');
    fail(reason === 'undefined entity' ? 'xml-entity' : 'xml-syntax', reason);
  });
  parser.on('doctype', () => fail('xml-doctype', 'document type declarations are not allowed'));
  parser.on('attribute', countNode);
  parser.on('opentagstart', () => {
    countNode();
    builder.begin(parser.line);
    if (builder.depth > MAX_DEPTH)
      fail('xml-too-complex', `nested more than ${MAX_DEPTH} levels deep`);
  });
  parser.on('opentag', (tag) => builder.describe(tag));
  parser.on('text', (text) => builder.text(text));
  parser.on('cdata', (text) => builder.text(text));
  parser.on('closetag', () => builder.end());
  const text = decode(bytes);
  for (let start = 0; start < text.length; start += SLICE) {
    parser.write(text.slice(start, start + SLICE));
    // The parser buffers a document type until its end and reports it only then.
    if (builder.root === undefined && start + SLICE < text.length) {
      fail('xml-too-complex', 'no element in the first 1 MiB');
    }
  }
  parser.close();
  return builder.root ?? fail('xml-syntax', 'no root element');
}

interface OpenElement {
  name: string;
  namespace: string;
  readonly line: number;
  attributes: XmlAttribute[];
  readonly children: XmlElement[];
  text: string;
}

class TreeBuilder {
  root: XmlElement | undefined;
  readonly #open: OpenElement[] = [];

  get depth(): number {
    return this.#open.length;
  }

  begin(line: number): void {
    const element = { name: '', namespace: '', line, attributes: [], children: [], text: '' };
    this.#open.at(-1)?.children.push(element);
    this.root ??= element;
    this.#open.push(element);
  }

  describe(tag: SaxesTagNS): void {
    const element = this.#open.at(-1);
    if (element === undefined) return;
    element.name = tag.local;
    element.namespace = tag.uri;
    element.attributes = Object.values(tag.attributes).map(({ local, uri, value }) => {
      return { name: local, namespace: uri, value };
    });
  }

  text(text: string): void {
    const element = this.#open.at(-1);
    if (element !== undefined) element.text += text;
  }

  end(): void {
    this.#open.pop();
  }
}

/** True if bytes start like XML in any encoding: a byte order mark or NULs may precede the bracket. */
export function mayBeXml(start: Buffer): boolean {
  return /^[\0\u0080-\u00ff]{0,3}\s*</.test(start.toString('latin1'));
}

/** Decodes UTF-16 by its byte order mark, else the declared encoding, else UTF-8. */
function decode(bytes: Uint8Array): string {
  const [first, second] = bytes;
  let encoding = 'utf-8';
  if (first === 0xff && second === 0xfe) {
    encoding = 'utf-16le';
  } else if (first === 0xfe && second === 0xff) {
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
