// imgctl doctor: what a login and a listing need, checked one by one, with a remedy where something is wrong.

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
  await show(context, findings);
  const failures = findings.filter(({ state }) => state === 'failed');
  const [first] = failures;
  if (first === undefined) return;
  const names = [...new Set(failures.map(({ check }) => check))].join(', ');
  throw new ImgctlError(first.code ?? 'failed', `something is wrong with: ${names}`, {
    hint: first.remedy ?? undefined,
  });
}

async function show(context: Context, findings: readonly Finding[]): Promise<void> {
  const { quiet, options } = context;
  const { redaction } = context.console;
  const { json, output = 'table' } = options;
  const asked = json ? 'json' : output;
  const format = valueOr(() => context.format, isFormat(asked) ? asked : 'table');
  const bad = findings.filter(({ state }) => state === 'failed' || state === 'warning');
  const rows = (quiet ? bad : findings).map(({ check, state, ...told }) => {
    const finding = redaction.apply(told.finding);
    const remedy = told.remedy === null ? null : redaction.apply(told.remedy);
    if (format !== 'table') return { check, state, finding, remedy };
    // A column of its own would stand far to the right of most lines.
    return { check, state, finding: remedy === null ? finding : `${finding} -> ${remedy}` };
  });
  const columns = ['check', 'state', 'finding', ...(format === 'table' ? [] : ['remedy'])];
  // A remedy that is cut does not help.
  await context.printList(rows, columns, { format, idField: 'check', whole: true });
}
