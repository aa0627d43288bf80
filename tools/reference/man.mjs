// Writes the man page imgctl(1): every command and topic on one page, in roff.

export function manPageOf({ summary, usage, overview, sections }, version) {
  const parts = [
    // A date would change with every build.
    `.TH "IMGCTL" 1 "" "imgctl ${version}" "User Commands"`,
    // Without hyphenation, names can be copied.
    '.nr HY 0',
    '.nh',
    '.ad l',
    `.SH NAME\nimgctl \\- ${escapeRoff(summary)}`,
    `.SH SYNOPSIS\n${block(usage)}`,
    '.SH DESCRIPTION',
    ...overview.map(block),
    ...sections.map(({ title, blocks }) =>
      [`.SH ${quoted(title.toUpperCase())}`, ...blocks.map(block)].join('\n'),
    ),
  ];
  return `${parts.join('\n')}\n`;
}

function block(each) {
  if (typeof each === 'string') return `.PP\n${textLine(each)}`;
  if ('see' in each) return `.PP\n${textLine(`See also: ${each.see.join(', ')}`)}`;
  if ('terms' in each) {
    const terms = each.terms.map(
      ([term, text]) => `.TP\n\\fB${escapeRoff(term)}\\fR\n${textLine(text)}`,
    );
    return [...(each.heading ? [`.SS ${each.heading}s`] : []), ...terms].join('\n');
  }
  const lines = 'shell' in each ? each.shell.map((line) => `$ ${line}`) : each.lines;
  return ['.PP', '.EX', ...lines.map(textLine), '.EE'].join('\n');
}

/** Characters that groff would read as commands or replace by typographic ones. */
const ESCAPES = {
  '\\': '\\(rs',
  '-': '\\-',
  "'": '\\(aq',
  '`': '\\(ga',
  '^': '\\(ha',
  '~': '\\(ti',
};

/** Escapes text for the middle of a line, so that it shows and copies unchanged. */
function escapeRoff(text) {
  return text.replace(/[\\\-'`^~]|[^\x20-\x7e]/gu, (character) => {
    const code = character.codePointAt(0).toString(16).toUpperCase().padStart(4, '0');
    return ESCAPES[character] ?? `\\[u${code}]`;
  });
}

/** Escapes a whole line: a dot at its start would be a request. */
function textLine(text) {
  return escapeRoff(text).replace(/^\./, '\\&.');
}

/** Returns text as an argument of a macro. */
function quoted(text) {
  return `"${escapeRoff(text).replaceAll('"', '\\(dq')}"`;
}
