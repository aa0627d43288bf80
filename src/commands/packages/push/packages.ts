// Checks the packages of a push, and the names that their files get in the storage.

import { realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Context } from '../../../context.ts';
import { attempt, ImgctlError, isMissing } from '../../../errors.ts';
import type { CheckedPackage } from '../../../ovf/package.ts';
import type { UploadPackage } from '../../../upload/transfer.ts';
import type { LocalFile } from '../../../upload/upload-file.ts';
import { errorsOf, fileMissing, invalidPackage, type PackageBatch } from '../package-batch.ts';

/**
 * Reads every package, but not all bytes of its files, which the upload checks. Returns those that can be uploaded.
 * @throws ImgctlError not-found or usage: what is wrong with the arguments concerns all
 */
export async function checkPackages(context: Context, batch: PackageBatch) {
  const { checkPackage } = await import('../../../ovf/package.ts');
  const { cwd, signal } = context.io;
  requireDistinctNames(batch.files.map((file) => packageFile(file, cwd)));
  const packages: UploadPackage[] = [];
  const check = async (file: string, resolved: string) => {
    const checked = await checkPackage(resolved, { signal, now: context.io.now() });
    const findings = errorsOf(checked.summary);
    if (findings.length > 0) throw invalidPackage(file, findings);
    for (const { name } of checked.files) requireUsableName(name);
    return uploadOf(file, checked);
  };
  for await (const each of batch.each(check)) packages.push(each);
  requireDistinctNames(packages.flatMap(({ files }) => files));
  return packages;
}

type NamedFile = Pick<LocalFile, 'name' | 'path'>;

/** Returns the file of a package. A folder, or one without permission, fails later, as one of several. */
function packageFile(file: string, cwd: string): NamedFile {
  const resolved = path.resolve(cwd, file);
  const { value: stats, error } = attempt(() => statSync(resolved));
  if (error?.cause && isMissing(error.cause)) throw fileMissing(file, error.cause);
  const name = path.basename(resolved);
  if (stats?.isDirectory() || /\.(ova|ovf)$/i.test(name)) return { name, path: resolved };
  throw new ImgctlError('usage', `the name ${name} does not end in .ova or .ovf`, {
    facts: 'rename the file: the service syncs only files with these names',
  });
}

/** Returns what the upload needs to know of a package: each file once, with its regions that have a check. */
async function uploadOf(file: string, { files, checks }: CheckedPackage): Promise<UploadPackage> {
  const { checkFindings } = await import('../../../ovf/checks.ts');
  const { stateOf } = await import('../../../upload/upload-file.ts');
  const distinct = new Map(files.map((each) => [each.path, each]));
  return {
    name: path.basename(file),
    files: [...distinct.values()].map((each) => {
      const ofFile = checks.filter((check) => check.file.path === each.path);
      const regions = ofFile.map(({ file: { offset, size }, start }) => ({ offset, size, start }));
      const stats = statSync(each.path, { bigint: true, throwIfNoEntry: false });
      return { name: each.name, path: each.path, regions, checked: stats && stateOf(stats) };
    }),
    async verify(results) {
      // The results of each file are in the order of its checks: they get the order of all checks again.
      const remaining = new Map([...results].map(([each, list]) => [each, list.values()]));
      const inOrder = checks.map((check) => remaining.get(check.file.path)?.next().value);
      const findings = checkFindings(file, checks, inOrder);
      if (findings.length > 0) throw invalidPackage(file, findings);
    },
  };
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
  const paths = new Map<string, NamedFile>();
  for (const { name, path: file } of files) {
    // Some storages ignore case, and would replace one with the other.
    const folded = name.normalize().toLowerCase();
    const other = paths.get(folded);
    if (other && (other.name !== name || realpathSync(other.path) !== realpathSync(file))) {
      const what =
        other.name === name ? `are named ${name}` : 'have names that differ only in case';
      const message = `two files ${what}: ${other.path}, ${file}`;
      const advice = 'push them separately, under different names';
      throw new ImgctlError('usage', message, { facts: advice });
    }
    paths.set(folded, { name, path: file });
  }
}
