// imgctl doctor: checks everything that a login and a listing need, and says how to fix it.

import type { Context } from '../context.ts';
import { ImgctlError, valueOr } from '../errors.ts';
import { isFormat } from '../output/writers.ts';
import { checkConfiguration, checkEnvironment, checkProgram } from './doctor/configuration.ts';
import { checkFiles } from './doctor/files.ts';
import type { Finding } from './doctor/finding.ts';
import { checkService } from './doctor/service.ts';

export async function run(context: Context): Promise<void> {
  const findings = [...checkProgram(context), ...checkFiles(context.paths, context.io)];
  const { findings: configured, settings } = checkConfiguration(context);
  findings.push(...configured, ...checkEnvironment(context.io));
  const isConfigBroken = configured.some(
    ({ check, state }) => check === 'configuration' && state === 'failed',
  );
  if (settings) findings.push(...(await checkService(context, settings, isConfigBroken)));
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
  const rows = (quiet ? problems : findings).map(({ check, state, ...texts }) => {
    const finding = redaction.apply(texts.finding);
    const remedy = texts.remedy === null ? null : redaction.apply(texts.remedy);
    if (format !== 'table') return { check, state, finding, remedy };
    // A column for remedies would start far to the right of most findings.
    return { check, state, finding: remedy === null ? finding : `${finding} -> ${remedy}` };
  });
  const columns = ['check', 'state', 'finding', ...(format === 'table' ? [] : ['remedy'])];
  // A truncated remedy is useless.
  await context.printList(rows, columns, { format, idField: 'check', whole: true });
}
