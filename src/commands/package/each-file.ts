// What commands share that read several packages: their arguments, going through them, and the error of invalid ones.

import fs from 'node:fs';
import path from 'node:path';
import { anyText } from '../../config/values.ts';
import type { Context } from '../../context.ts';
import { errorReason, ImgctlError, isMissing } from '../../errors.ts';
import type { Finding } from '../../ovf/findings.ts';
import type { PackageSummary } from '../../ovf/package.ts';
import { counted } from '../../words.ts';

export const FILES = {
  name: 'file',
  description: 'OVA files, or OVF files with their disks in the same folder',
  required: true,
  variadic: true,
  value: anyText({ from: 'packages' }),
} as const;

/**
 * Runs the action for each file, with its absolute path.
 * @throws ImgctlError usage: an empty name; invalid-package: a folder; not-found or failed for an unreadable file,
 *   after the others
 */
export async function eachFile(
  context: Context,
  files: readonly string[],
  action: (file: string, resolved: string) => Promise<void>,
): Promise<void> {
  if (files.includes('')) {
    const message = 'the name of a file must not be empty';
    throw new ImgctlError('usage', message, { hint: PROVIDE_FILE });
  }
  const unreadable: ImgctlError[] = [];
  for (const file of files) {
    try {
      const resolved = path.resolve(context.io.cwd, file);
      if (fs.statSync(resolved).isDirectory()) {
        throw new ImgctlError('invalid-package', `${file} is not a file`, {
          hint: `name its files, such as ${path.join(file, '*.ova')}`,
        });
      }
      await action(file, resolved);
    } catch (cause) {
      if (!(cause instanceof Error) || !('syscall' in cause)) throw cause;
      const error = isMissing(cause)
        ? new ImgctlError('not-found', `file ${file} does not exist`, {
            hint: /^\d+$/.test(file) ? `for an image: imgctl images get ${file}` : PROVIDE_FILE,
            cause,
          })
        : new ImgctlError('failed', `cannot read ${file}: ${errorReason(cause)}`, { cause });
      unreadable.push(error);
    }
  }
  const last = unreadable.pop();
  for (const { message, hint } of unreadable) context.console.warn(message, hint);
  if (last) throw last;
}

const PROVIDE_FILE = 'provide an OVA file, or an OVF file with its disks in the same folder';

export function errorsOf({ findings }: PackageSummary): Finding[] {
  return findings.filter(({ severity }) => severity === 'error');
}

export interface InvalidPackage {
  readonly file: string;
  /** Its errors. */
  readonly findings: readonly Finding[];
}

/**
 * Returns the error of a command whose packages are invalid.
 * @param isComplete includes the findings, which were not printed
 */
export function invalidPackage(invalid: readonly InvalidPackage[], isComplete = false) {
  const [first, second] = invalid;
  const message =
    first && !second
      ? `${first.file} is invalid: ${counted(first.findings.length, 'error')}`
      : `${invalid.length} packages are invalid: ${invalid.map(({ file }) => file).join(', ')}`;
  const lines = invalid.flatMap(({ file, findings }) =>
    findings.map(
      ({ place, message, code }) => `${second ? `${file}: ` : ''}${place}: ${message} (${code})`,
    ),
  );
  return new ImgctlError('invalid-package', message, {
    details: isComplete ? lines : undefined,
    hint: 'fix the findings above, export the package again, then validate it',
  });
}
