// What a test asks of files: their modes, and which there are.

import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';

/** Packages of real exporters; they lie beside the project, or nowhere. */
export const FIXTURES = path.resolve(import.meta.dirname, '../../../shared/fixtures/ovf');

/** `600` */
export function modeOf(file: string): string {
  return (statSync(file).mode & 0o777).toString(8);
}

/** The paths of the files below a folder, at any depth; links are none. */
export function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
}
