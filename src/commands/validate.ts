// imgctl validate: lists everything that is wrong with local OVA and OVF packages.

import { type CommandSpec, option } from '../cli/spec.ts';
import type { Context } from '../context.ts';
import { describeDuration } from '../duration.ts';
import { ImgctlError } from '../errors.ts';
import { counted } from '../output/messages.ts';
import {
  describeBytes,
  eachFile,
  errorsOf,
  FILES,
  type InvalidPackage,
  invalidPackage,
  openFindings,
} from './packages.ts';

export const validate: CommandSpec = {
  name: 'validate',
  summary: 'check a local OVA or OVF package before an upload',
  description: [
    'Checks structure, references, sizes, disks and manifest digests. Reads every byte and sends nothing. Each finding has a severity (error or warning), a stable code and a place. Exits with 1 if there are errors. With -q, prints only the codes.',
  ],
  examples: [
    'imgctl validate appliance.ova',
    'imgctl validate *.ova --json | jq -r \'.[] | select(.severity == "error") | .code\'',
    'imgctl validate appliance.ova --max-hardware vmx-13',
  ],
  seeAlso: ['inspect', 'push'],
  arguments: [FILES],
  options: [
    option(
      '--max-hardware <version>',
      'warn about newer virtual hardware (such as vmx-13), sound cards, USB and parallel ports',
    ),
  ],
  fields: [
    ['file', 'string', 'path as given'],
    ['severity', 'string', 'error or warning; an error makes the package invalid'],
    ['code', 'string', 'stable code of the finding'],
    ['place', 'string', 'where in the package it was found'],
    ['message', 'string', 'what is wrong'],
  ],
  exitCodes: [5],
  run,
};

async function run(
  context: Context,
  options: { maxHardware?: string },
  files: readonly string[],
): Promise<void> {
  const { readPackage } = await import('../ovf/package.ts');
  const { io, console } = context;
  const maxHardware = readMaxHardware(options.maxHardware);
  const list = openFindings(context, files.length > 1);
  const progress = console.startProgress({ lines: false });
  const invalid: InvalidPackage[] = [];
  const checked = eachFile(context, files, async (file, resolved) => {
    progress.update(`${file}: reading`);
    const started = io.now();
    const onProgress = (done: number, total: number) =>
      progress.update(`${file}: checking digests`, () =>
        describeRate(done, total, io.now() - started),
      );
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
    await list.write(findings.map((finding) => ({ file, ...finding })));
  });
  await checked.finally(async () => {
    await progress.stop();
    await list.end();
  });
  if (invalid.length > 0) throw invalidPackage(invalid);
}

/**
 * Formats the share done, the bytes per second and the time left.
 * @param elapsed milliseconds, for what was done after the first `known` bytes
 */
export function describeRate(done: number, total: number, elapsed: number, known = 0): string {
  const share = `${Math.floor((100 * done) / total)} %`;
  if (done <= known) return share;
  const perMillisecond = (done - known) / Math.max(1, elapsed);
  const rate = describeBytes(1000 * perMillisecond);
  const left = describeDuration((total - done) / Math.max(perMillisecond, 1e-3));
  return `${share}, ${rate}/s, ${left} left`;
}

/** @throws ImgctlError usage */
function readMaxHardware(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const [, number] = /^vmx-0*(\d{1,3})$/i.exec(text) ?? [];
  if (number !== undefined) return Number(number);
  throw new ImgctlError('usage', `--max-hardware must be like vmx-13 (got ${text})`, {
    hint: 'use the newest version that your platform runs, such as: --max-hardware vmx-13',
  });
}
