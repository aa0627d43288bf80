// Parses the XML of a storage's response into a tree; knows no entities of its own.

import { SaxesParser } from 'saxes';

export interface Element {
  /** Without prefix. */
  readonly name: string;
  readonly children: readonly Element[];
  /** Without the text of its children. */
  readonly text: string;
}

type OpenElement = { -readonly [Name in keyof Element]: Element[Name] } & { children: Element[] };

const MAX_ELEMENTS = 1_000_000;
const MAX_DEPTH = 50;

/** Returns the root, or undefined if the body is not XML. */
export function parseXml(body: Buffer): Element | undefined {
  const parser = new SaxesParser({ xmlns: true });
  const open: OpenElement[] = [{ name: '', children: [], text: '' }];
  let elements = 0;
  const fail = (error: Error): never => {
    throw error;
  };
  parser.on('error', fail);
  parser.on('doctype', () => fail(new Error('a document type')));
  parser.on('opentag', ({ local }) => {
    elements += 1;
    if (elements > MAX_ELEMENTS || open.length > MAX_DEPTH) fail(new Error('too large'));
    const element = { name: local, children: [], text: '' };
    open.at(-1)?.children.push(element);
    open.push(element);
  });
  parser.on('closetag', () => open.pop());
  const addText = (text: string) => {
    const element = open.at(-1);
    if (element) element.text += text;
  };
  parser.on('text', addText);
  parser.on('cdata', addText);
  const root = open[0];
  try {
    parser.write(body.toString('utf8')).close();
  } catch {
    return undefined;
  }
  return root?.children[0];
}

/** Returns every element below with that name. */
export function findAll({ children }: Element, name: string): Element[] {
  return children.flatMap((child) => [
    ...(child.name === name ? [child] : []),
    ...findAll(child, name),
  ]);
}

/** Returns the text of the first element below with that name. */
export function textOf(element: Element | undefined, name: string): string | undefined {
  return element && findAll(element, name)[0]?.text.trim();
}
