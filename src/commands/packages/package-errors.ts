// Why a package on this disk cannot be used: its file, or the findings in it.

import fs from 'node:fs';
import path from 'node:path';
import { cannotRead, hasCode, ImgctlError, isMissing } from '../../errors.ts';
import { type Facts, hint, imgctl } from '../../facts.ts';
import type { Finding } from '../../ovf/findings.ts';
import type { PackageSummary } from '../../ovf/package.ts';
import { counted, isDigits } from '../../words.ts';

export const PROVIDE_FILE = 'provide an OVA file, or an OVF file with its disks in the same folder';

/** @throws ImgctlError invalid-package; the file system's error */
export function requireNoFolder(file: string, resolved: string): void {
  if (!fs.statSync(resolved).isDirectory()) return;
  const advice = `name its files, such as ${path.join(file, '*.ova')}`;
  throw new ImgctlError('invalid-package', `${file} is not a file`, { facts: advice });
}

/**
 * Returns the error of a package.
 * @param resolved the path of the package; the cause may name a disk that was removed meanwhile
 * @throws what concerns all packages, such as an interrupt
 */
export function packageError(file: string, resolved: string, cause: unknown): ImgctlError {
  if (hasCode(cause, 'invalid-package', 'usage')) return cause;
  if (!(cause instanceof Error) || !('syscall' in cause)) throw cause;
  const isOther = 'path' in cause && cause.path !== resolved;
  const named = isOther ? String(cause.path) : file;
  return isMissing(cause) ? fileMissing(named, cause) : cannotRead(named, cause);
}

export function fileMissing(file: string, cause?: unknown): ImgctlError {
  const message = `file ${file} does not exist`;
  return new ImgctlError('not-found', message, { facts: meantByFile(file), cause });
}

function meantByFile(file: string): Facts | string {
  if (isDigits(file)) return hint`for an image: ${imgctl('images', 'get', file)}`;
  return file.includes('://')
    ? 'download it first; the URL of an upload storage goes behind --to'
    : PROVIDE_FILE;
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
