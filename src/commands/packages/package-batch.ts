// The packages of one command: each is read by itself, and a count at the end says what failed.

import path from 'node:path';
import { argument } from '../../cli/declare.ts';
import type { Context } from '../../context.ts';
import { ImgctlError } from '../../errors.ts';
import { PROVIDE_FILE, packageError, requireNoFolder } from './package-errors.ts';

export const FILES = argument('file', 'OVA files, or OVF files next to their disks', {
  required: true,
  variadic: true,
  from: 'packages',
});

/** How many packages became what, such as `{ uploaded: 7, skipped: 0 }`. */
type Counts = Readonly<Record<string, number>>;

export class PackageBatch {
  readonly files: readonly string[];
  readonly #context: Context;
  readonly #nameOf: (file: string) => string;
  readonly #failures = new Map<string, ImgctlError>();

  /** @param nameOf how a file is named in the count [as given] */
  constructor(context: Context, files: readonly string[], nameOf = (file: string) => file) {
    if (files.includes('')) {
      const message = 'the name of a file must not be empty';
      throw new ImgctlError('usage', message, { facts: PROVIDE_FILE });
    }
    this.files = files;
    this.#context = context;
    this.#nameOf = nameOf;
  }

  /**
   * Reads one file after the other, and yields what `read` returns. An error in it is reported
   * when the caller has printed its rows. If the file cannot be read, or `read` throws
   * invalid-package or usage, nothing is yielded, and that error is reported.
   */
  async *each<Found extends { readonly error: ImgctlError | undefined }>(
    read: (file: string, resolved: string) => Promise<Found>,
  ): AsyncGenerator<Found, void, void> {
    for (const file of this.files) {
      const resolved = path.resolve(this.#context.io.cwd, file);
      let found: Found;
      try {
        requireNoFolder(file, resolved);
        found = await read(file, resolved);
      } catch (error) {
        this.addFailure(file, packageError(file, resolved, error));
        continue;
      }
      yield found;
      if (found.error) this.addFailure(file, found.error);
    }
  }

  /** Reports a failure at once. That of a single file only ends the command. */
  addFailure(file: string, error: ImgctlError): void {
    this.#failures.set(this.#nameOf(file), error);
    const { code, message, details, facts: hint } = error;
    if (this.files.length === 1) return;
    this.#context.console.failureOfPart({ code, message, details, hint });
  }

  get hasFailed(): boolean {
    return this.#failures.size > 0;
  }

  /** Returns the names that failed, in the order of the arguments. */
  #failed(): string[] {
    const names = this.files.map((file) => this.#nameOf(file));
    return names.filter((name) => this.#failures.has(name));
  }

  /** Returns `7 uploaded, 2 failed`. */
  #counted(counts: Counts): string {
    const all = Object.entries({ ...counts, failed: this.#failed().length });
    const words = all.filter(([, count]) => count > 0).map(([what, count]) => `${count} ${what}`);
    return words.join(', ');
  }

  /** Returns `7 uploaded, 2 failed: a.ova, b.ova`. */
  summary(counts: Counts): string {
    return `${this.#counted(counts)}: ${this.#failed().join(', ')}`;
  }

  /**
   * Returns the error that ends the command: of a single file, its own; of several, their count
   * with the code of the first one. Undefined if none failed.
   */
  error(counts: Counts): ImgctlError | undefined {
    const [first] = this.#failed();
    const error = first === undefined ? undefined : this.#failures.get(first);
    if (error === undefined || this.files.length === 1) return error;
    // On a terminal, a line with a mark has named each file.
    const { usesMarks, hintForEnd } = this.#context.console;
    const message = usesMarks ? this.#counted(counts) : this.summary(counts);
    return new ImgctlError(error.code, message, { cause: error, facts: hintForEnd });
  }
}
