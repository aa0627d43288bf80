// Text in the language of man pages: escaped, so that what is shown and copied is what was written.

import type { Block, Term } from './blocks.ts';

/** Characters that groff would take for commands, or show as typographic ones. */
const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\(rs',
  '-': '\\-',
  "'": '\\(aq',
  '`': '\\(ga',
  '^': '\\(ha',
  '~': '\\(ti',
};

/** Text for the middle of a line. */
export function escapeRoff(text: string): string {
  return text.replace(/[\\\-'`^~]|[^\x20-\x7e]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return ESCAPES[character] ?? `\\[u${code.toString(16).toUpperCase().padStart(4, '0')}]`;
  });
}

/** Text that is a line of its own: a dot at its start would be a request. */
export function textLine(text: string): string {
  return escapeRoff(text).replace(/^\./, '\\&.');
}

/** An argument of a macro. */
export function quoted(text: string): string {
  return `"${escapeRoff(text).replaceAll('"', '\\(dq')}"`;
}

/** Flags in bold, what a user puts in in italics: `-f, --filter <field,op,value>`, `[options] [text...]`. */
export function syntax(text: string): string {
  return text.replace(/<([^<>]*)>|\[([^[\]]*)\]|-[\w-]+|[^<[-]+/g, (part, needed, optional) => {
    if (needed !== undefined) return `\\fI${escapeRoff(needed)}\\fR`;
    if (optional !== undefined) return `[\\fI${escapeRoff(optional)}\\fR]`;
    return part.startsWith('-') ? bold(part) : escapeRoff(part);
  });
}

/** Each sentence is a line of the source; the macros fill them. */
function paragraph(text: string): string {
  return ['.PP', ...text.split(/(?<=[.:]) (?=[A-Z])/).map(textLine)].join('\n');
}

export function terms(list: readonly Term[], format: (term: string) => string): string {
  return list.map(({ term, text }) => `.TP\n${format(term)}\n${textLine(text)}`).join('\n');
}

export function literal(lines: readonly string[]): string {
  return ['.PP', '.EX', ...lines.map(textLine), '.EE'].join('\n');
}

export function bold(text: string): string {
  return `\\fB${escapeRoff(text)}\\fR`;
}

export function blocks(list: readonly Block[]): string[] {
  return list.map((block) => {
    if (block.kind === 'paragraph') return paragraph(block.text);
    return block.kind === 'terms' ? terms(block.terms, bold) : literal(block.lines);
  });
}
