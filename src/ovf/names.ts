// Names of files in a package: which are safe, what a reference may mean, which look the same.

import { oneLine } from '../words.ts';

/** More than a file system takes. Each of ten thousand chunks repeats it in its name. */
const MAX_HREF = 65_536;
const SCHEME = /^[a-z][a-z0-9+.-]*$/i;

/** Returns why a reference is refused, or null. */
export function flawOf(href: string): string | null {
  if (href.length > MAX_HREF) return `longer than ${MAX_HREF} characters`;
  const names = candidateNames(href);
  if (names.some((name) => name.startsWith('../'))) {
    return 'leads to the parent folder; put the file beside the descriptor';
  }
  // A URL of another scheme may name any file of the machine that reads the package.
  const [scheme = '', rest] = href.split(':', 2);
  const isUrl = rest !== undefined && spellingsOf(scheme).some((name) => SCHEME.test(name));
  if (!isUrl && names.every(isSafeName)) return null;
  return UNSAFE_NAME;
}

/** Returns the names that a reference may mean. */
export function candidateNames(href: string): string[] {
  return spellingsOf(href).map(stripDotSlash);
}

/** Returns a text as it is written, and also what it says if it is percent-encoded. */
function spellingsOf(text: string): string[] {
  try {
    return [...new Set([text, decodeURIComponent(text)])];
  } catch {
    return [text];
  }
}

export const UNSAFE_NAME = 'must be relative and stay inside the folder';

/** True if a name is relative and stays inside its folder, on any system. */
export function isSafeName(name: string): boolean {
  if (name === '' || /^\/|^[a-z]:|[\\\0]/i.test(name)) return false;
  return !name.split('/').includes('..');
}

/** Returns a name that looks like this one but differs, or null. */
export type FindSimilar = (name: string) => string | null;

export function similarTo(names: Iterable<string>): FindSimilar {
  const look = (name: string) => oneLine(normalized(name)).toLowerCase();
  const byLook = new Map([...names].map((name) => [look(name), name]));
  return (name) => {
    const other = byLook.get(look(name)) ?? name;
    return other === name ? null : other;
  };
}

/** Returns the name, with a note if it looks the same as the other one. */
export function tellApart(name: string, other: string): string {
  if (name === other) return name;
  if (normalized(name) === normalized(other)) return `${name}, in another Unicode form`;
  // Nobody sees a blank at the end, or a no-break space.
  return oneLine(name) === oneLine(other) ? `${name}, with other blanks` : name;
}

/** Characters. Longer names are compared as they are: normalization takes quadratic time. */
const MAX_NORMALIZED = 255;

function normalized(name: string): string {
  return name.length > MAX_NORMALIZED ? name : name.normalize();
}

export function stripDotSlash(name: string): string {
  return name.replace(/^(?:\.\/+)+/, '') || name;
}

/** True for the names of the files that a sync reads. */
export function isPackageName(name: string): boolean {
  return /\.(ova|ovf)$/i.test(name);
}
