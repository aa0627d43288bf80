// Words within messages: a count with its noun, and what a shell reads as one word.

/** `1 error`, `3 errors`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** The text as one word of bash, zsh or sh, nothing in it expanded; plain where it needs no quotes. */
export function shellQuote(text: string): string {
  return /^[\w:.,/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
