// imgctl validate: lists everything that is wrong with local OVA and OVF packages.

import type { Context } from '../context.ts';
import { describeDuration } from '../duration.ts';
import { ImgctlError } from '../errors.ts';
import { counted } from '../output/messages.ts';
import type { PackageSummary } from '../ovf/package.ts';
import { countErrors, describeBytes, eachPackage } from './packages.ts';

export async function run(
  context: Context,
  _options: object,
  files: readonly string[],
): Promise<void> {
  const { io } = context;
  const columns = ['severity', 'code', 'place', 'message'];
  const shown = files.length > 1 ? ['file', ...columns] : columns;
  // A truncated finding does not say what is wrong.
  const list = context.openList(shown, { idField: 'code', whole: true });
  // ndjson findings reach the terminal continuously; a progress line would flicker between them.
  const quiet = context.format === 'ndjson' && io.stdout.isTTY;
  const progress = context.console.startProgress({ lines: false, quiet });
  const invalid: PackageSummary[] = [];
  try {
    await eachPackage(
      context,
      files,
      (file) => {
        progress.update(`${file}: reading`);
        const started = io.now();
        const onProgress = (done: number, total: number) =>
          progress.update(`${file}: checking digests`, () =>
            describeRate(done, total, io.now() - started),
          );
        return { onProgress };
      },
      async (summary) => {
        const errors = countErrors(summary);
        const warnings = summary.findings.length - errors;
        if (errors > 0) invalid.push(summary);
        else {
          const found = warnings === 0 ? 'no findings' : counted(warnings, 'warning');
          const result = `${summary.file}: valid, ${found}`;
          context.console.success(result, result);
        }
        await list.write(summary.findings.map((finding) => ({ file: summary.file, ...finding })));
      },
    );
  } finally {
    await progress.stop();
    await list.end();
  }
  if (invalid.length > 0) throw invalidPackage(invalid);
}

/** Formats the share done, the bytes per second and the time left. @param elapsed milliseconds */
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
