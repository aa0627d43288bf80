// Modes, lists and contents of files, and the folder of real packages.

import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

/** Packages of real exporters, beside the project; may be missing. */
export const FIXTURES = path.resolve(import.meta.dirname, '../../../shared/fixtures/ovf');

/** Returns the mode in octal, such as 600. */
export function modeOf(file: string): string {
  return (statSync(file).mode & 0o777).toString(8);
}

/** Returns the paths of all files below a folder, without links. */
export function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
}

/** Returns the files below a folder that contain one of these texts. */
export function filesHolding(folder: string, texts: readonly string[]): string[] {
  return filesBelow(folder).filter((file) => {
    const content = readFileSync(file, 'utf8');
    return texts.some((text) => content.includes(text));
  });
}

/** Returns the folder of the access tokens below a home. */
export const tokensOf = (home: string) => path.join(home, '.config/imgctl/tokens');
