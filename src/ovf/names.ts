// Names of files in a package: which are safe, what a reference may mean, which look the same.

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

/** Characters. Longer names are compared as they are: normalization takes quadratic time. */
const MAX_SIMILAR_NAME = 255;

export type SimilarName = (name: string) => string | null;

/** Returns a function that says how a name differs from one of these that looks the same. */
export function similarTo(names: Iterable<string>): SimilarName {
  const look = (name: string) =>
    name.length > MAX_SIMILAR_NAME ? name : name.normalize().toLowerCase();
  const byLook = new Map([...names].map((name) => [look(name), name]));
  return (name) => {
    const other = byLook.get(look(name));
    if (other === undefined || other === name) return null;
    return other.normalize() === name.normalize() ? 'in another Unicode form' : `as ${other}`;
  };
}

export function stripDotSlash(name: string): string {
  return name.replace(/^(?:\.\/+)+/, '') || name;
}
