// The parts of uploads to WebDAV that may still be there, in memory and in a file.

import fs from 'node:fs';
import { tryOr } from '../errors.ts';
import { readOwnFile } from '../files/atomic-file.ts';
import { isPart } from './part-names.ts';

/**
 * A part is added before its upload begins, and leaves the list once it has the name of its file,
 * or arrived as a whole and was removed. The others stay until the push ends, as the server may
 * still be writing a part whose upload failed: it is removed from the storage at once, and again at
 * the end. The file tells the next push what parts a killed one had, since nginx lists no hidden
 * files.
 */
export class UnfinishedParts {
  readonly #names = new Set<string>();
  readonly #file: string | undefined;
  #hasKilled = false;

  constructor(file: string | undefined) {
    this.#file = file;
  }

  get names(): readonly string[] {
    return [...this.#names];
  }

  add(part: string): void {
    this.#names.add(part);
    const file = this.#file;
    if (file) tryOr(() => fs.appendFileSync(file, `${part}\n`, { mode: 0o600 }), undefined);
  }

  delete(part: string): void {
    this.#names.delete(part);
  }

  /** Adds those of killed pushes, once. They have ended: one push runs at a time on a machine. */
  addKilled(): void {
    const file = this.#file;
    if (!file || this.#hasKilled) return;
    this.#hasKilled = true;
    const text = tryOr(() => readOwnFile(file), undefined) ?? '';
    // Only parts: anything else in a damaged file would be deleted from the storage.
    for (const line of text.split('\n')) if (isPart(line)) this.#names.add(line);
  }

  /** Leaves only these parts in the file. */
  keepInFile(parts: readonly string[]): void {
    const file = this.#file;
    if (!file) return;
    tryOr(() => {
      // Removes also a link or a pipe, since nothing must be added to one.
      fs.rmSync(file, { force: true });
      const text = parts.map((part) => `${part}\n`).join('');
      if (text !== '') fs.writeFileSync(file, text, { mode: 0o600, flag: 'wx' });
    }, undefined);
  }
}
