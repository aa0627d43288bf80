// Help texts, laid out for a terminal, taken apart into what they consist of.

/** A word to look up and what it means. */
export interface Term {
  readonly term: string;
  readonly text: string;
}

export type Block =
  | { readonly kind: 'paragraph'; readonly text: string }
  | { readonly kind: 'terms'; readonly terms: readonly Term[] }
  | { readonly kind: 'literal'; readonly lines: readonly string[] };

/**
 * Lines at the margin are paragraphs. Indented ones are terms where each has its meaning after two spaces
 * or more, or on a deeper line; else they stay as they are, without the indent.
 */
export function blocksOf(text: string): Block[] {
  const runs = text.match(/^ .*(?:\n .*)*|^\S.*(?:\n\S.*)*/gm) ?? [];
  return runs.map((run): Block => {
    const lines = run.split('\n');
    if (!run.startsWith(' ')) return { kind: 'paragraph', text: lines.join(' ') };
    const terms = termsOf(lines);
    return terms
      ? { kind: 'terms', terms }
      : { kind: 'literal', lines: lines.map((line) => line.replace(/^ {1,2}/, '')) };
  });
}

/** What is typed into a shell, with a prompt; what it prints may stand in between. */
export function isShell(lines: readonly string[]): boolean {
  return lines.some((line) => /^ *\$ /.test(line));
}

function termsOf(lines: readonly string[]): Term[] | undefined {
  if (isShell(lines)) return undefined;
  const terms: Term[] = [];
  for (const line of lines) {
    const [, term, text = ''] = /^ {2,4}(\S.*?) {2,}(\S.*)$/.exec(line) ?? [];
    if (term !== undefined) {
      terms.push({ term, text });
      continue;
    }
    const last = terms.pop();
    if (!last || !/^ {5}/.test(line)) return undefined;
    terms.push({ term: last.term, text: `${last.text} ${line.trim()}` });
  }
  return terms;
}
