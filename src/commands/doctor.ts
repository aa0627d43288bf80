// imgctl doctor: checks everything that a login, a listing and a push need, and says how to fix it.

import type { Context } from '../context.ts';
import { ImgctlError, valueOr } from '../errors.ts';
import { loadStyle, mark } from '../output/terminal.ts';
import { printable } from '../output/text.ts';
import { isFormat } from '../output/writers.ts';
import { formatTimestamp } from '../query/timestamp.ts';
import { checkConfiguration, checkEnvironment, checkProgram } from './doctor/configuration.ts';
import { checkFiles } from './doctor/files.ts';
import type { Finding } from './doctor/finding.ts';
import { checkService } from './doctor/service.ts';
import { checkStorage } from './doctor/storage.ts';

export async function run(context: Context): Promise<void> {
  const findings = [...checkProgram(context), ...checkFiles(context.paths, context.io)];
  const { findings: configured, settings } = checkConfiguration(context);
  findings.push(...configured, ...checkEnvironment(context.io));
  const isConfigBroken = configured.some(
    ({ check, state }) => check === 'configuration' && state === 'failed',
  );
  if (settings) {
    findings.push(...(await checkService(context, settings, isConfigBroken)));
    findings.push(...(await checkStorage(context)));
  }
  await printFindings(context, findings);
  const failures = findings.filter(({ state }) => state === 'failed');
  const [first] = failures;
  if (first === undefined) return;
  const names = [...new Set(failures.map(({ check }) => check))].join(', ');
  throw new ImgctlError(first.code ?? 'failed', `failed checks: ${names}`, {
    hint: first.remedy ?? undefined,
  });
}

async function printFindings(context: Context, findings: readonly Finding[]): Promise<void> {
  const { quiet, options } = context;
  const { redaction } = context.console;
  const { json, output = 'table' } = options;
  const requested = json ? 'json' : output;
  const format = valueOr(() => context.format, isFormat(requested) ? requested : 'table');
  const problems = findings.filter(({ state }) => state === 'failed' || state === 'warning');
  const clean = (text: string) => {
    const shown = redaction.apply(text);
    if (format !== 'table') return shown;
    return shown.replace(UTC_TIME, (time) => formatTimestamp(time, 'local', context.io.now()));
  };
  const rows = (quiet ? problems : findings).map(({ check, state, finding, remedy }) => ({
    check,
    state,
    finding: clean(finding),
    remedy: remedy === null ? null : clean(remedy),
  }));
  if (format !== 'table' || quiet) {
    const columns = ['check', 'state', 'finding', 'remedy'];
    return context.printList(rows, columns, { format, idField: 'check', trunc: false });
  }
  if (context.io.stdout.isTTY) return context.console.print(await screenOf(context, rows));
  // A column for remedies would start far to the right of most findings.
  const joined = rows.map(({ finding, remedy, ...row }) => {
    return { ...row, finding: remedy === null ? finding : `${finding} -> ${remedy}` };
  });
  await context.printList(joined, ['check', 'state', 'finding'], { format, trunc: false });
}

const UTC_TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g;

type Row = Pick<Finding, 'check' | 'state' | 'finding' | 'remedy'>;

const KINDS = { ok: 'good', warning: 'waiting', failed: 'bad', 'not checked': 'faint' } as const;

/** Returns a line per check with a mark for its state. Remedies have lines of their own, to be copied. */
async function screenOf({ terminal }: Context, rows: readonly Row[]): Promise<string> {
  const style = await loadStyle(terminal);
  const width = Math.max(...rows.map(({ check }) => check.length));
  const lines = rows.flatMap(({ check, state, finding, remedy }) => {
    const kind = KINDS[state];
    const sign = style[kind](mark(kind, terminal.unicode).padEnd(terminal.unicode ? 1 : 2));
    const margin = ' '.repeat(width + (terminal.unicode ? 4 : 5));
    return [
      `${sign} ${check.padEnd(width)}  ${printable(finding)}`,
      ...(remedy === null ? [] : [`${margin}${style.hint('hint:')} ${printable(remedy)}`]),
    ];
  });
  return `${lines.join('\n')}\n`;
}
