// What inspect, validate and push share: reading files, findings and the errors for invalid packages.

import fs from 'node:fs';
import path from 'node:path';
import type { ArgumentDeclaration } from '../cli/declarations.ts';
import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import { errorReason, isMissing } from '../files/atomic-file.ts';
import { counted } from '../output/messages.ts';
import type { Finding, PackageSummary } from '../ovf/package.ts';

export const FILES: ArgumentDeclaration = {
  name: 'file',
  description: 'OVA files, or OVF files with their disks in the same folder',
  required: true,
  variadic: true,
  value: { kind: 'text', from: 'packages' },
};

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
    const message = "the name of a file must not be empty (got '')";
    throw new ImgctlError('usage', message, { hint: PROVIDE_FILE });
  }
  const unreadable: ImgctlError[] = [];
  for (const file of files) {
    try {
      const resolved = path.resolve(context.io.cwd, file);
      if (fs.statSync(resolved).isDirectory()) {
        throw new ImgctlError('invalid-package', `${file} is not a file`, {
          hint: `name an OVA or OVF file, such as ${path.join(file, 'NAME.ova')}`,
        });
      }
      await action(file, resolved);
    } catch (cause) {
      if (!(cause instanceof Error) || !('syscall' in cause)) throw cause;
      const error = isMissing(cause)
        ? new ImgctlError('not-found', `file ${file} does not exist`, { hint: PROVIDE_FILE, cause })
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

export function openFindings(context: Context, severalFiles: boolean) {
  const columns = ['severity', 'code', 'place', 'message'];
  const shown = severalFiles ? ['file', ...columns] : columns;
  // A truncated finding does not say what is wrong.
  return context.openList(shown, { idField: 'code', trunc: false });
}

export interface InvalidPackage {
  readonly file: string;
  /** Its errors. */
  readonly findings: readonly Finding[];
}

/** Returns the error of a command whose packages are invalid. */
export function invalidPackage(invalid: readonly InvalidPackage[]): ImgctlError {
  const [first, second] = invalid;
  const message =
    first && !second
      ? `${first.file} is invalid: ${counted(first.findings.length, 'error')}`
      : `${invalid.length} packages are invalid: ${invalid.map(({ file }) => file).join(', ')}`;
  return new ImgctlError('invalid-package', message, {
    hint: 'fix the findings above, export the package again, then validate it',
  });
}

/** Formats as `1 byte`, `185 bytes`, `67 KiB` or `1.5 GiB`. */
export function describeBytes(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let value = bytes;
  let unit = units.shift();
  while (value >= 1023.5 && units.length > 0) {
    value /= 1024;
    unit = units.shift();
  }
  const text = `${value.toFixed(value < 10 ? 1 : 0).replace(/\.0$/, '')} ${unit}`;
  return text === '1 bytes' ? '1 byte' : text;
}
