// Checks the packages of a push, and the names that their files get in the storage.

import { realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Context } from '../../../context.ts';
import { attempt, ImgctlError, isMissing, tryOr } from '../../../errors.ts';
import { isPackageName } from '../../../ovf/names.ts';
import type { CheckedPackage } from '../../../ovf/package.ts';
import type { UploadPackage } from '../../../upload/plan.ts';
import type { LocalFile } from '../../../upload/upload-file.ts';
import type { PackageBatch } from '../package-batch.ts';
import { errorsOf, fileMissing, invalidPackage } from '../package-errors.ts';

/** Returns each file once, whatever links lead there, unless it has several names. */
export function withoutRepeats(files: readonly string[], cwd: string): string[] {
  const distinct = new Map(files.map((file) => [identityOf(path.resolve(cwd, file)), file]));
  return [...distinct.values()];
}

/**
 * Reads every package, but not all of its bytes, which the upload checks. Returns the valid ones.
 * @throws ImgctlError not-found or usage: what is wrong with the arguments concerns all
 */
export async function checkPackages(context: Context, batch: PackageBatch) {
  const { checkPackage } = await import('../../../ovf/package.ts');
  const { cwd, signal, now } = context.io;
  requireDistinctNames(batch.files.map((file) => packageFile(file, cwd)));
  const packages: UploadPackage[] = [];
  const check = async (file: string, resolved: string) => {
    // Taken before the check, so that a change meanwhile shows.
    const fingerprints = new Map([[resolved, await fingerprintAt(resolved)]]);
    const checked = await checkPackage(resolved, { signal, now: now() });
    const findings = errorsOf(checked.summary);
    if (findings.length > 0) throw invalidPackage(file, findings);
    for (const each of checked.files) {
      requireUsableName(each.name);
      // The check has found the disks.
      if (each.path !== resolved) fingerprints.set(each.path, await fingerprintAt(each.path));
    }
    return { upload: await uploadPackageOf(file, checked, fingerprints), error: undefined };
  };
  for await (const { upload } of batch.each(check)) packages.push(upload);
  requireDistinctNames(packages.flatMap(({ files }) => files));
  return packages;
}

type NamedFile = Pick<LocalFile, 'name' | 'path'>;

/** Returns the file of a package. One that is a folder or unreadable fails later, by itself. */
function packageFile(file: string, cwd: string): NamedFile {
  const resolved = path.resolve(cwd, file);
  const { value: stats, error } = attempt(() => statSync(resolved));
  if (error?.cause && isMissing(error.cause)) throw fileMissing(file, error.cause);
  const name = path.basename(resolved);
  if (stats?.isDirectory() || isPackageName(name)) return { name, path: resolved };
  const isOfPackage = /\.(vmdk|vhdx?|qcow2|raw|img|iso|nvram|mf|cert)(\.gz)?$/i.test(name);
  throw new ImgctlError('usage', `the name ${name} does not end in .ova or .ovf`, {
    facts: isOfPackage
      ? 'name the OVF file that references it: push uploads all files of a package'
      : 'rename the file: the service syncs only files with these names',
  });
}

/**
 * Returns what the upload needs to know of a package: each file once, with its checks by region.
 * @param fingerprints of its files, by path
 */
async function uploadPackageOf(
  file: string,
  { files, checks }: CheckedPackage,
  fingerprints: ReadonlyMap<string, string | undefined>,
): Promise<UploadPackage> {
  const { checkFindings } = await import('../../../ovf/checks.ts');
  const regions = checks.map(({ file, start }) => {
    return { path: file.path, offset: file.offset, size: file.size, start };
  });
  return {
    name: path.basename(file),
    files: files.map((each) => ({
      name: each.name,
      path: each.path,
      regions: regions.filter((region) => region.path === each.path),
      checkedFingerprint: fingerprints.get(each.path),
    })),
    async verify(results) {
      const inOrder = regions.map((region) => results.get(region));
      const findings = checkFindings(file, checks, inOrder);
      if (findings.length > 0) throw invalidPackage(file, findings);
    },
  };
}

/** Returns what changes with the file; undefined if it is not there. */
async function fingerprintAt(file: string): Promise<string | undefined> {
  const { fingerprintOf } = await import('../../../upload/upload-file.ts');
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stats && fingerprintOf(stats);
}

/** Hidden names are those of incomplete files. @throws ImgctlError usage */
function requireUsableName(name: string): void {
  const fail = (advice: string) => {
    throw new ImgctlError('usage', `invalid name for an upload: ${name}`, { facts: advice });
  };
  if (name.startsWith('.')) fail('rename it: a name must not begin with a dot');
  if (name.includes('/')) fail('put all files of the package in one folder');
  const isUnsafe = /[\u0000-\u001f\\]/.test(name);
  if (isUnsafe) fail('rename it without backslashes and control characters');
}

/** The storage is one folder. @throws ImgctlError usage */
function requireDistinctNames(files: readonly NamedFile[]): void {
  const byName = new Map<string, NamedFile>();
  for (const file of files) {
    // Some storages ignore case, and would replace one with the other.
    const folded = file.name.normalize().toLowerCase();
    const other = byName.get(folded);
    byName.set(folded, file);
    if (!other || identityOf(other.path) === identityOf(file.path)) continue;
    const what =
      other.name === file.name ? `are named ${file.name}` : 'have names that differ only in case';
    const message = `two files ${what}: ${other.path}, ${file.path}`;
    const advice = 'push them separately, under different names';
    throw new ImgctlError('usage', message, { facts: advice });
  }
}

/** Returns a text that is the same for the same file and name, whatever links lead there. */
function identityOf(file: string): string {
  const followed = tryOr(() => realpathSync(file), file);
  return [followed, path.basename(file)].join('\0');
}
