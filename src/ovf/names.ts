// Which names of files a package may use, and how the names of its parts relate.

/** Whether a name is relative and stays in its folder, on any system. */
export function isSafeName(name: string): boolean {
  if (name === '' || /^\/|^[a-z]:|[\\\0]/i.test(name)) return false;
  return !name.split('/').includes('..');
}

/** A name without a leading `./`, which is no part of it. */
export function stripDotSlash(name: string): string {
  return name.replace(/^(?:\.\/+)+/, '') || name;
}

/** Whether a reference is an address with a scheme rather than a name. */
export function isRemote(href: string): boolean {
  return /^[a-z][a-z0-9+.-]+:/i.test(href);
}

/** The names under which the file of a reference may be stored: as it stands, and percent-decoded. */
export function candidateNames(href: string): string[] {
  try {
    return [...new Set([stripDotSlash(href), stripDotSlash(decodeURIComponent(href))])];
  } catch {
    return [stripDotSlash(href)];
  }
}

/** A file's name without its extension. */
export function withoutExtension(name: string): string {
  return name.replace(/\.[^./]*$/, '');
}
