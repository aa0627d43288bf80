// The packages of one command: each is read by itself, and a count at the end says what failed.

import fs from 'node:fs';
import path from 'node:path';
import { argument } from '../../cli/declare.ts';
import type { Context } from '../../context.ts';
import { cannotRead, hasCode, ImgctlError, isMissing } from '../../errors.ts';
import { type Facts, hint, imgctl } from '../../facts.ts';
import type { Finding } from '../../ovf/findings.ts';
import type { PackageSummary } from '../../ovf/package.ts';
import { counted } from '../../words.ts';

export const FILES = argument('file', 'OVA files, or OVF files next to their disks', {
  required: true,
  variadic: true,
  from: 'packages',
});

const PROVIDE_FILE = 'provide an OVA file, or an OVF file with its disks in the same folder';

/** The packages of a command. What fails is reported at once, and the others go on. */
export class PackageBatch {
  readonly files: readonly string[];
  readonly #context: Context;
  readonly #nameOf: (file: string) => string;
  readonly #failures = new Map<string, ImgctlError>();
  #firstHint: Facts | undefined;

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

  /** The error of a single file is thrown at the end, and not reported before. */
  addFailure(file: string, error: ImgctlError): void {
    this.#failures.set(this.#nameOf(file), error);
    const { code, message, details, facts: hint } = error;
    this.#firstHint ??= hint;
    if (this.files.length === 1) return;
    this.#context.tell({ kind: 'failure', code, message, details, hint, isPart: true });
  }

  get hasFailed(): boolean {
    return this.#failures.size > 0;
  }

  /** Returns `7 uploaded, 2 failed: a.ova, b.ova`. @param counts files by what became of them */
  summary(counts: Readonly<Record<string, number>>): string {
    return `${this.#counted(counts)}: ${this.#failed().join(', ')}`;
  }

  #counted(counts: Readonly<Record<string, number>>): string {
    const all = Object.entries({ ...counts, failed: this.#failed().length });
    const words = all.filter(([, count]) => count > 0).map(([what, count]) => `${count} ${what}`);
    return words.join(', ');
  }

  /**
   * Returns the error of the single file; of several, their count with the code of the first in
   * the order of the arguments; undefined if no file failed.
   */
  error(counts: Readonly<Record<string, number>>): ImgctlError | undefined {
    const [first] = this.#failed();
    const error = first === undefined ? undefined : this.#failures.get(first);
    if (error === undefined || this.files.length === 1) return error;
    // On a terminal, a line with a mark has named each file.
    const hasNames = this.#context.console.marksParts;
    const message = hasNames ? this.#counted(counts) : this.summary(counts);
    return new ImgctlError(error.code, message, { cause: error, facts: this.hintForEnd });
  }

  /** The first hint, if stderr is a terminal, which shows it once at the end. */
  get hintForEnd(): Facts | undefined {
    return this.#context.console.marksParts ? this.#firstHint : undefined;
  }

  #failed(): string[] {
    return this.files.map(this.#nameOf).filter((name) => this.#failures.has(name));
  }

  /**
   * Yields what `read` returns for each file and its absolute path, and reports its error once the
   * caller has printed its rows. Nothing is yielded of a file that is missing, unreadable or a
   * folder, or if `read` throws invalid-package or usage: then only this error is reported.
   */
  async *each<Found extends { readonly error: ImgctlError | undefined }>(
    read: (file: string, resolved: string) => Promise<Found>,
  ): AsyncGenerator<Found, void, void> {
    for (const file of this.files) {
      let found: Found;
      try {
        const resolved = path.resolve(this.#context.io.cwd, file);
        requireNoFolder(file, resolved);
        found = await read(file, resolved);
      } catch (error) {
        this.addFailure(file, fileError(file, error));
        continue;
      }
      yield found;
      if (found.error) this.addFailure(file, found.error);
    }
  }
}

function requireNoFolder(file: string, resolved: string): void {
  if (!fs.statSync(resolved).isDirectory()) return;
  const advice = `name its files, such as ${path.join(file, '*.ova')}`;
  throw new ImgctlError('invalid-package', `${file} is not a file`, { facts: advice });
}

/** Returns the error of one file. @throws what concerns all of them, such as an interrupt */
function fileError(file: string, cause: unknown): ImgctlError {
  if (hasCode(cause, 'invalid-package', 'usage')) return cause;
  if (!(cause instanceof Error) || !('syscall' in cause)) throw cause;
  return isMissing(cause) ? fileMissing(file, cause) : cannotRead(file, cause);
}

export function fileMissing(file: string, cause?: unknown): ImgctlError {
  return new ImgctlError('not-found', `file ${file} does not exist`, {
    facts: /^\d+$/.test(file) ? hint`for an image: ${imgctl('images', 'get', file)}` : PROVIDE_FILE,
    cause,
  });
}

export function errorsOf({ findings }: PackageSummary): Finding[] {
  return findings.filter(({ severity }) => severity === 'error');
}

/** Returns the findings as lines below that of their package. */
export function detailsOf(findings: readonly Finding[]): string[] {
  return findings.map(({ severity, place, message, code }) => {
    const label = severity === 'error' ? '' : `${severity}: `;
    return `${label}${place}: ${message} (${code})`;
  });
}

/** @param listed findings that the error lists, as no row shows them */
export function invalidPackage(file: string, errors: readonly Finding[], listed = errors) {
  const message = `${file} is invalid: ${counted(errors.length, 'error')}`;
  const details = listed.length > 0 ? detailsOf(listed) : undefined;
  const advice = 'fix the findings, or export or download the package again';
  return new ImgctlError('invalid-package', message, { details, facts: advice });
}
