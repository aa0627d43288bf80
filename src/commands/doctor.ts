// imgctl doctor: what a login and a listing need, checked one by one, with a remedy where something is wrong.

import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { ImgctlError, valueOr } from '../errors.ts';
import { isFormat } from '../output/index.ts';
import { checkConfiguration, checkEnvironment, checkProgram } from './doctor/configuration.ts';
import { checkFiles } from './doctor/files.ts';
import type { Finding } from './doctor/finding.ts';
import { checkService } from './doctor/service.ts';

export function define(command: Command, context: Context): void {
  command.addHelpText('after', EXAMPLES).action(() => doctor(context));
}

const EXAMPLES = `
Checks the program, files and their modes, configuration, settings, environment, base URL, proxy, DNS,
connection, TLS, the service, the clock, the token, the password's source and the limit of token requests.
Each is ok, warning, failed or not checked (because another one failed), with a remedy where it is not ok.

The service gets one GET /v2, within --timeout and with the token if there is a valid one. No token is
requested, no password is sent, and a password command is not run.

Exits with 0 when nothing failed, else with the code that the first failure stands for: 2 configuration,
3 network, 4 token, 6 rate limit, 1 a service that fails. With -q only the names of failed checks and
warnings show.

Examples:
  $ imgctl doctor
  $ imgctl doctor --profile staging --timeout 5s
  $ imgctl doctor --json | jq -r '.[] | select(.remedy) | .remedy'
`;

async function doctor(context: Context): Promise<void> {
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
