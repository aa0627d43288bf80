// Writes roff, the language of man pages, and escapes text so that it shows and copies unchanged.

/** Characters that groff would read as commands or replace by typographic ones. */
const ESCAPES = {
  '\\': '\\(rs',
  '-': '\\-',
  "'": '\\(aq',
  '`': '\\(ga',
  '^': '\\(ha',
  '~': '\\(ti',
};

/** Escapes text for the middle of a line. */
export function escapeRoff(text) {
  return text.replace(/[\\\-'`^~]|[^\x20-\x7e]/gu, (character) => {
    const code = character.codePointAt(0).toString(16).toUpperCase().padStart(4, '0');
    return ESCAPES[character] ?? `\\[u${code}]`;
  });
}

/** Escapes a whole line: a dot at its start would be a request. */
export function textLine(text) {
  return escapeRoff(text).replace(/^\./, '\\&.');
}

/** Returns text as an argument of a macro. */
export function quoted(text) {
  return `"${escapeRoff(text).replaceAll('"', '\\(dq')}"`;
}

/** Sets flags in bold, placeholders in italics: `-f, --filter <field,op,value>`, `[options] [text...]`. */
export function syntax(text) {
  return text.replace(/<([^<>]*)>|\[([^[\]]*)\]|-[\w-]+|[^<[-]+/g, (part, needed, optional) => {
    if (needed !== undefined) return `\\fI${escapeRoff(needed)}\\fR`;
    if (optional !== undefined) return `[\\fI${escapeRoff(optional)}\\fR]`;
    return part.startsWith('-') ? bold(part) : escapeRoff(part);
  });
}

export function terms(list, format) {
  return list.map(([term, text]) => `.TP\n${format(term)}\n${textLine(text)}`).join('\n');
}

function literal(lines) {
  return ['.PP', '.EX', ...lines.map(textLine), '.EE'].join('\n');
}

export function shell(lines) {
  return literal(lines.map((line) => `$ ${line}`));
}

export function bold(text) {
  return `\\fB${escapeRoff(text)}\\fR`;
}

export function block(each) {
  if (typeof each === 'string') {
    // Each sentence is a line of the source, as man pages have it.
    return ['.PP', ...each.split(/(?<=[.:]) (?=[A-Z])/).map(textLine)].join('\n');
  }
  if ('terms' in each) return terms(each.terms, bold);
  return 'shell' in each ? shell(each.shell) : literal(each.lines);
}
