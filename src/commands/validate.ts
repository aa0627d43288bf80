// imgctl validate: everything that is wrong with a local OVA, or OVF with its files.

import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import { counted, createListWriter } from '../output/index.ts';
import type { PackageSummary } from '../ovf/package.ts';
import { describeDuration } from '../session/settings.ts';
import { countErrors, describeBytes, eachPackage } from './packages.ts';

export function define(command: Command, context: Context): void {
  command
    .argument('<file...>', 'OVA files, or OVF files with their disks beside them')
    .addHelpText('after', EXAMPLES)
    .action((files: string[]) => validate(context, files));
}

const EXAMPLES = `
Checks structure, references, sizes, disks and the digests of the manifest, which reads every byte; nothing is
sent. Each finding has a stable code, error or warning, and its place. Exits with 1 where there are errors.
-q prints the codes alone.

Examples:
  $ imgctl validate appliance.ova
  $ imgctl validate *.ova --json | jq -r '.[] | select(.severity == "error") | .code'
  $ imgctl validate appliance.ova && cp appliance.ova /mnt/uploads/ && imgctl sync --wait
`;

async function validate(context: Context, files: readonly string[]): Promise<void> {
  const columns = ['severity', 'code', 'place', 'message'];
  const { sinkOptions } = context;
  const writer = createListWriter({
    ...sinkOptions,
    // A finding that is cut does not say what is wrong.
    terminal: { ...sinkOptions.terminal, width: undefined },
    columns: files.length > 1 ? ['file', ...columns] : columns,
    idField: 'code',
  });
  // A line that moves would stand between the findings that ndjson shows as they come.
  const quiet = context.format === 'ndjson' && context.io.stdout.isTTY;
  const progress = context.startProgress({ lines: false, quiet });
  const invalid: PackageSummary[] = [];
  try {
    await eachPackage(
      context,
      files,
      (file) => {
        progress.update(`${file}: looking into it`);
        return {
          onProgress: reporter(context, file, (text, detail) => progress.update(text, detail)),
        };
      },
      async (summary) => {
        const errors = countErrors(summary);
        const warnings = summary.findings.length - errors;
        if (errors > 0) invalid.push(summary);
        else
          context.note(
            `${summary.file}: valid, ${warnings === 0 ? 'no findings' : counted(warnings, 'warning')}`,
          );
        await writer.write(summary.findings.map((finding) => ({ file: summary.file, ...finding })));
      },
    );
  } finally {
    await progress.stop();
    await context.flush();
    await writer.end();
  }
  if (invalid.length > 0) throw invalidPackage(invalid);
}

/** Tells how far the digests of a file are. */
function reporter(
  { io }: Context,
  file: string,
  update: (text: string, detail: () => string) => void,
): (done: number, total: number) => void {
  const started = io.now();
  return (done, total) =>
    update(`${file}: checking digests`, () => describeRate(done, total, io.now() - started));
}

/** Part done, bytes a second and time left, after so many milliseconds. */
export function describeRate(done: number, total: number, elapsed: number): string {
  const rate = describeBytes((1000 * done) / Math.max(1, elapsed));
  const left = describeDuration(((total - done) / done) * elapsed);
  return `${Math.floor((100 * done) / total)} %, ${rate}/s, ${left} left`;
}

function invalidPackage(invalid: readonly PackageSummary[]): ImgctlError {
  const [first] = invalid;
  const message =
    invalid.length === 1 && first
      ? `${first.file} is invalid: ${counted(countErrors(first), 'error')}`
      : `${invalid.length} packages are invalid: ${invalid.map(({ file }) => file).join(', ')}`;
  return new ImgctlError('invalid-package', message, {
    hint: 'the findings tell code and place; export or pack it again, then validate it once more',
  });
}
