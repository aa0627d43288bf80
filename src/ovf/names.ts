// File names within a package: which are safe, and which files a reference may mean.

/** True if a name is relative and stays inside its folder, on any system. */
export function isSafeName(name: string): boolean {
  if (name === '' || /^\/|^[a-z]:|[\\\0]/i.test(name)) return false;
  return !name.split('/').includes('..');
}

export function stripDotSlash(name: string): string {
  return name.replace(/^(?:\.\/+)+/, '') || name;
}

export function isRemote(href: string): boolean {
  return /^[a-z][a-z0-9+.-]+:/i.test(href);
}

/** Returns the names that a reference may mean: as written and percent-decoded. */
export function candidateNames(href: string): string[] {
  try {
    return [...new Set([stripDotSlash(href), stripDotSlash(decodeURIComponent(href))])];
  } catch {
    return [stripDotSlash(href)];
  }
}

export function withoutExtension(name: string): string {
  return name.replace(/\.[^./]*$/, '');
}
