// imgctl validate: lists everything that is wrong with local OVA and OVF packages. Inspect and push share its parts.

import fs from 'node:fs';
import path from 'node:path';
import { command, GET_OPTION, option } from '../../cli/command.ts';
import type { Parsed } from '../../cli/declarations.ts';
import { anyText } from '../../config/values.ts';
import type { Context } from '../../context.ts';
import { errorReason, ImgctlError, isMissing } from '../../errors.ts';
import { column, namesOf, printBefore } from '../../output/view.ts';
import type { Finding } from '../../ovf/findings.ts';
import type { PackageSummary } from '../../ovf/package.ts';
import { counted, describeRate } from '../../words.ts';

export const FILES = {
  name: 'file',
  description: 'OVA files, or OVF files with their disks in the same folder',
  required: true,
  variadic: true,
  value: anyText({ from: 'packages' }),
} as const;

const COLUMNS = [
  column('file', 'string', 'path as given'),
  column('severity', 'string', 'error or warning; an error makes the package invalid'),
  column('code', 'string', 'stable code of the finding', { isId: true }),
  column('place', 'string', 'where in the package it was found'),
  column('message', 'string', 'what is wrong'),
];

const OPTIONS = [
  option(
    '--max-hardware <version>',
    'warn about hardware newer than this, such as vmx-13, and about sound cards, USB and parallel ports',
  ),
  GET_OPTION,
] as const;

type Options = Parsed<typeof OPTIONS>;

export const validate = command({
  name: 'validate',
  summary: 'check a local OVA or OVF package before an upload',
  description: [
    'Checks structure, references, sizes, disks and manifest digests. Reads every byte and sends nothing. Exits with 1 if there are errors. With -q, prints only the codes.',
  ],
  examples: [
    'imgctl validate appliance.ova',
    "imgctl validate *.ova --json | jq -r '.[] | select(.code).message'",
    'imgctl validate appliance.ova --max-hardware vmx-13',
  ],
  seeAlso: ['inspect', 'push'],
  arguments: [FILES],
  options: OPTIONS,
  fields: COLUMNS,
  exitCodes: [5],
  run,
});

async function run(context: Context, options: Options, files: readonly string[]) {
  const { readPackage } = await import('../../ovf/package.ts');
  const { io, console } = context;
  context.allowNoConfig();
  const maxHardware = readMaxHardware(options.maxHardware);
  const shown = namesOf(COLUMNS).slice(files.length > 1 ? 0 : 1);
  const list = context.view(COLUMNS, options, { shown, wrap: true }).openList();
  const progress = console.startProgress({ lines: false });
  const invalid: InvalidPackage[] = [];
  const checked = eachFile(context, files, async (file, resolved) => {
    progress.update(`${file}: reading`);
    const started = io.now();
    const onProgress = (done: number, total: number) =>
      progress.update('', () => {
        return `${file}: checking digests ${describeRate(done, total, io.now() - started)}`;
      });
    const { signal } = io;
    const summary = await readPackage(resolved, { onProgress, maxHardware, signal });
    const { findings } = summary;
    const errors = errorsOf(summary);
    if (errors.length > 0) invalid.push({ file, findings: errors });
    else {
      const found = findings.length === 0 ? 'no findings' : counted(findings.length, 'warning');
      const result = `${file}: valid, ${found}`;
      console.success(result, result);
    }
    const written = list.write(findings.map((finding) => ({ file, ...finding })));
    await printBefore(invalid.length > 0, written);
  });
  await checked.finally(async () => {
    await progress.stop();
    await printBefore(invalid.length > 0, list.end());
  });
  if (invalid.length > 0) throw invalidPackage(invalid);
}

/** @throws ImgctlError usage */
function readMaxHardware(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const [, number] = /^vmx-0*(\d{1,3})$/i.exec(text) ?? [];
  if (number !== undefined) return Number(number);
  throw new ImgctlError('usage', `--max-hardware must be a version such as vmx-13 (got ${text})`, {
    hint: 'use the newest version that your platform supports, such as: --max-hardware vmx-13',
  });
}

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
