// Checks the packages that push is given, and turns them into files to upload.

import { realpathSync } from 'node:fs';
import path from 'node:path';
import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import type { CheckedPackage, Finding } from '../ovf/package.ts';
import type { UploadFile, UploadPackage } from '../upload/transfer.ts';
import { eachFile, notAFile } from './packages.ts';
import { invalidPackage } from './validate.ts';

/**
 * Reads every package except for its digests, which the upload verifies.
 * @throws ImgctlError invalid-package, after printing the findings; usage: unsuitable names
 */
export async function checkPackages(
  context: Context,
  files: readonly string[],
): Promise<UploadPackage[]> {
  const { checkPackage } = await import('../ovf/package.ts');
  const packages: UploadPackage[] = [];
  const invalid: InvalidFile[] = [];
  const distinct = new Map(files.map((file) => [path.resolve(context.io.cwd, file), file]));
  await eachFile(context, [...distinct.values()], async (file, resolved) => {
    const checked = await checkPackage(resolved, { signal: context.io.signal });
    const errors = checked.summary.findings.filter(({ severity }) => severity === 'error');
    if (errors.length > 0) invalid.push([file, errors]);
    else packages.push(await uploadOf(file, checked));
  });
  if (invalid.length > 0) {
    await printFindings(context, invalid);
    throw invalidError(invalid);
  }
  requireDistinctNames(packages);
  return packages;
}

type InvalidFile = readonly [file: string, errors: readonly Finding[]];

/** A folder or a part of a package gets the file to name instead as a hint. */
function invalidError(invalid: readonly InvalidFile[]): ImgctlError {
  const error = invalidPackage(invalid.map(([file, { length }]) => ({ file, errors: length })));
  const [[file, findings] = ['', []]] = invalid;
  if (invalid.length > 1) return error;
  if (findings.some(({ code }) => code === 'not-a-file')) return notAFile(file, 'push');
  if (!/\.(mf|cert|vmdk)$/i.test(file)) return error;
  const whole = path.join(path.dirname(file), 'NAME.ovf');
  return error.with({ hint: `name the OVA or OVF file of the package: imgctl push ${whole}` });
}

async function uploadOf(file: string, checked: CheckedPackage): Promise<UploadPackage> {
  const { digestFindings } = await import('../ovf/package.ts');
  const { expected } = checked;
  const files = new Map<string, UploadFile>();
  for (const each of checked.files) {
    requireFlatName(each.name, file);
    const regions = expected
      .filter((digest) => digest.file.path === each.path)
      .map(({ file: { offset, size }, entry }) => {
        return { offset, size, algorithm: entry.algorithm.toLowerCase() };
      });
    files.set(each.path, { name: each.name, path: each.path, regions });
  }
  return {
    name: path.basename(file),
    files: [...files.values()],
    verify(digests) {
      const next = new Map([...digests].map(([each, list]) => [each, [...list]]));
      const computed = expected.map((each) => next.get(each.file.path)?.shift() ?? '');
      const findings = digestFindings(file, expected, computed);
      if (findings.length > 0) throw new DigestError(file, findings);
    },
  };
}

/** The package is broken: the uploaded bytes do not match its manifest. */
export class DigestError extends ImgctlError {
  readonly findings: readonly Finding[];
  readonly file: string;

  constructor(file: string, findings: readonly Finding[]) {
    const { message, hint } = invalidPackage([{ file, errors: findings.length }]);
    super('invalid-package', message, { hint });
    this.file = file;
    this.findings = findings;
  }
}

export async function printFindings(
  context: Context,
  packages: readonly InvalidFile[],
): Promise<void> {
  const rows = packages.flatMap(([file, findings]) =>
    findings.map((finding) => ({ file, ...finding })),
  );
  const columns = ['severity', 'code', 'place', 'message'];
  const shown = packages.length > 1 ? ['file', ...columns] : columns;
  await context.printList(rows, shown, { idField: 'code', trunc: false });
}

/** The storage is one folder, and hidden names are those of incomplete files. */
function requireFlatName(name: string, file: string): void {
  if (!name.includes('/') && !name.startsWith('.') && !/[\u0000-\u001f\\]/.test(name)) return;
  const message = `${file} has a file with an unsuitable name: ${name}`;
  throw new ImgctlError('usage', message, {
    hint: 'put its files in one folder, with names that do not begin with a dot',
  });
}

function requireDistinctNames(packages: readonly UploadPackage[]): void {
  const paths = new Map<string, string>();
  for (const { name, path: file } of packages.flatMap(({ files }) => files)) {
    const other = paths.get(name);
    if (other !== undefined && realpathSync(other) !== realpathSync(file)) {
      throw new ImgctlError('usage', `two files are named ${name}: ${other}, ${file}`, {
        hint: 'push them one by one under different names',
      });
    }
    paths.set(name, file);
  }
}
