// imgctl validate: everything that is wrong with a local OVA, or OVF with its files.

import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import { counted } from '../output/messages.ts';
import type { PackageSummary } from '../ovf/package.ts';
import { describeDuration } from '../session/settings.ts';
import { countErrors, describeBytes, eachPackage } from './packages.ts';

export async function run(
  context: Context,
  _options: object,
  files: readonly string[],
): Promise<void> {
  const columns = ['severity', 'code', 'place', 'message'];
  const shown = files.length > 1 ? ['file', ...columns] : columns;
  // A finding that is cut does not say what is wrong.
  const list = context.openList(shown, { idField: 'code', whole: true });
  // A line that moves would stand between the findings that ndjson shows as they come.
  const quiet = context.format === 'ndjson' && context.io.stdout.isTTY;
  const progress = context.console.startProgress({ lines: false, quiet });
  const invalid: PackageSummary[] = [];
  try {
    await eachPackage(
      context,
      files,
      (file) => {
        progress.update(`${file}: reading`);
        return {
          onProgress: reporter(context, file, (text, detail) => progress.update(text, detail)),
        };
      },
      async (summary) => {
        const errors = countErrors(summary);
        const warnings = summary.findings.length - errors;
        if (errors > 0) invalid.push(summary);
        else
          context.console.note(
            `${summary.file}: valid, ${warnings === 0 ? 'no findings' : counted(warnings, 'warning')}`,
          );
        await list.write(summary.findings.map((finding) => ({ file: summary.file, ...finding })));
      },
    );
  } finally {
    await progress.stop();
    await list.end();
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
    hint: 'fix the findings above, export the package again, then validate it',
  });
}
