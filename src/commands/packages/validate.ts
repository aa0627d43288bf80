// imgctl validate: lists everything that is wrong with local OVA and OVF packages.

import { command, GET_OPTION, option, type Parsed } from '../../cli/declare.ts';
import type { Result, Rows } from '../../cli/result.ts';
import type { Value } from '../../config/values.ts';
import type { Context } from '../../context.ts';
import { ImgctlError } from '../../errors.ts';
import { BrokenPipeError } from '../../io.ts';
import { column, namesOf } from '../../output/columns.ts';
import type { ReadPackage } from '../../ovf/package.ts';
import { counted, describeRate } from '../../words.ts';
import { describeSignature } from './inspect.ts';
import { FILES, PackageBatch } from './package-batch.ts';
import { detailsOf, errorsOf, invalidPackage } from './package-errors.ts';

const COLUMNS = [
  column('file', 'string', 'path as given'),
  column('severity', 'string', 'error or warning; an error makes the package invalid', {
    isState: true,
  }),
  column('code', 'string', 'stable code of the finding', { isId: true }),
  column('place', 'string', 'where in the package it was found'),
  column('message', 'string', 'what is wrong'),
];

const MAX_HARDWARE: Value<number> = {
  parse(text, name) {
    const [, number] = /^vmx-0*(\d{1,3})$/i.exec(text) ?? [];
    if (number !== undefined) return Number(number);
    throw new ImgctlError('usage', `${name} must be a version such as vmx-13 (got ${text})`, {
      facts: 'use the newest version that your platform supports, such as: --max-hardware vmx-13',
    });
  },
};

const OPTIONS = [
  option(
    '--max-hardware <version>',
    'warn about hardware newer than this, such as vmx-13, and about sound cards, USB and parallel ports',
    { value: MAX_HARDWARE },
  ),
  GET_OPTION,
] as const;

type Options = Parsed<typeof OPTIONS>;

export const validate = command({
  name: 'validate',
  summary: 'check a local OVA or OVF package before an upload',
  description: [
    'Checks structure, references, sizes, disks, manifest digests and the signature. Reads every byte and sends nothing. Without a digest, gzip files and stream-optimised disks are unpacked to find damage; other files, and disks in chunks, are only read. Exits with 1 if there are errors. With -q, prints only the codes; for several packages, only the packages with findings.',
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
  needsNoSettings: true,
  exitCodes: [5],
  run,
});

async function run(context: Context, options: Options, files: readonly string[]): Promise<Result> {
  const isOne = files.length === 1;
  const shown = namesOf(COLUMNS).slice(isOne ? 1 : 0);
  // Which of several packages has a code says more than the code.
  const id = isOne ? 'code' : 'file';
  const columns = COLUMNS.map((each) => ({ ...each, isId: each.name === id }));
  const output = context.output(columns, { ...options, shown, hasSentences: true });
  const layout = layoutOf(context, options, isOne, output.isTable);
  const batch = new PackageBatch(context, files);
  context.console.progress.start({ onlyIfRedrawn: true });
  return { output, rows: checkEach(context, batch, layout, options.maxHardware) };
}

/** Where the findings of a package are shown. */
interface Layout {
  readonly maxRows: number;
  /** True if all are lines below the line of the package on stderr. */
  readonly hasLines: boolean;
}

/**
 *     one package                    | rows
 *     several, a table on a terminal | lines
 *     several, with -q, not --get    | the first row: -q prints the name of its package
 *     several, otherwise             | rows
 */
function layoutOf(
  { io, quiet }: Context,
  { get }: Options,
  isOne: boolean,
  isTable: boolean,
): Layout {
  const rows = { maxRows: Infinity, hasLines: false };
  if (isOne) return rows;
  if (isTable && io.stdout.isTTY && io.stderr.isTTY) return { maxRows: 0, hasLines: true };
  return quiet && get === undefined ? { ...rows, maxRows: 1 } : rows;
}

/**
 * Checks the packages one by one, and yields the rows of each. Reports those that are valid; the
 * batch reports the errors of the others.
 */
async function* checkEach(
  context: Context,
  batch: PackageBatch,
  layout: Layout,
  maxHardware: number | undefined,
): Rows {
  const check = async (file: string, resolved: string) => {
    const summary = await readWithProgress(context, file, resolved, maxHardware);
    const { findings } = summary;
    const rows = findings.slice(0, layout.maxRows).map((finding) => ({ file, ...finding }));
    const inLines = layout.hasLines ? findings : [];
    const errors = errorsOf(summary);
    if (errors.length > 0) return { rows, error: invalidPackage(file, errors, inLines) };
    const message = `${file}: valid, ${describeProof(summary)}`;
    const hasWarnings = findings.length > 0;
    const details = detailsOf(inLines);
    context.console.success(message, { withoutMark: message, hasWarnings, details });
    return { rows, error: undefined };
  };
  let valid = 0;
  for await (const { rows, error } of batch.each(check)) {
    if (error === undefined) valid += 1;
    try {
      yield rows;
    } catch (thrown) {
      // Once a package is invalid, the others are checked even if stdout was closed.
      const hasInvalid = error !== undefined || batch.hasFailed;
      if (!hasInvalid || !(thrown instanceof BrokenPipeError)) throw thrown;
    }
  }
  return { error: batch.error({ valid }) };
}

async function readWithProgress(
  { io, console }: Context,
  file: string,
  resolved: string,
  maxHardware: number | undefined,
): Promise<ReadPackage> {
  const { readPackage } = await import('../../ovf/package.ts');
  const text = `${file}: reading`;
  console.progress.show(text);
  const started = io.elapsed();
  const onProgress = (done: number, total: number) => {
    const describe = () => `${text} ${describeRate(done, total, io.elapsed() - started)}`;
    console.progress.show(text, describe);
  };
  const { signal, now } = io;
  return readPackage(resolved, { onProgress, maxHardware, signal, now: now() });
}

/** Returns `1 warning; unpacked: a.vmdk; only read: b.iso`. */
function describeProof({ findings, signature, ...summary }: ReadPackage): string {
  const warnings = findings.length === 0 ? 'no findings' : counted(findings.length, 'warning');
  const signed = signature && `signed by ${describeSignature(signature)}`;
  const named = (how: string, [first, ...others]: readonly string[]) => {
    const more = others.length > 0 ? ` and ${others.length} more` : '';
    return first && `${how}: ${first}${more}`;
  };
  const unpacked = named('unpacked', summary.unpacked);
  const onlyRead = named('only read', summary.onlyRead);
  return [warnings, signed, unpacked, onlyRead].filter(Boolean).join('; ');
}
