// imgctl doctor: what a login and a listing need, checked one by one, with a remedy where something is wrong.

import type { Command } from 'commander';
import { baseUrlText, isLoopback } from '../api/base-url.ts';
import { tokenSecrets } from '../api/http.ts';
import { probe } from '../api/probe.ts';
import { chooseProxy, proxySecrets } from '../api/proxy.ts';
import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import { createListWriter, isFormat } from '../output/index.ts';
import { readCertificates, requireBaseUrl } from '../session/session.ts';
import type { Settings } from '../session/settings.ts';
import { TokenCache } from '../session/token-cache.ts';
import { checkConfiguration, checkEnvironment, checkProgram } from './doctor/configuration.ts';
import { checkFiles } from './doctor/files.ts';
import {
  type Finding,
  failed,
  notChecked,
  ok,
  valueOr,
  valueOrError,
  warning,
} from './doctor/finding.ts';
import { findToken, limitFinding, passwordFinding } from './doctor/login.ts';
import { NETWORK_CHECKS, networkFindings, proxyFinding, tokenRefusal } from './doctor/network.ts';

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
3 network, 4 token, 1 a service that fails. With -q only the names of failed checks and warnings show.

Examples:
  $ imgctl doctor
  $ imgctl doctor --profile staging --timeout 5s
  $ imgctl doctor --json | jq -r '.[] | select(.remedy) | .remedy'
`;

const FALLBACK_TIMEOUT = 30_000;
const LARGEST_ANSWER = 2 ** 20;

async function doctor(context: Context): Promise<void> {
  const findings = [...checkProgram(context), ...checkFiles(context.paths, context.io)];
  const { findings: configured, settings } = checkConfiguration(context);
  findings.push(...configured, ...checkEnvironment(context.io));
  if (settings) findings.push(...(await checkService(context, settings)));
  await show(context, findings);
  const failures = findings.filter(({ state }) => state === 'failed');
  const [first] = failures;
  if (first === undefined) return;
  const names = [...new Set(failures.map(({ check }) => check))].join(', ');
  throw new ImgctlError(first.code ?? 'failed', `something is wrong with: ${names}`, {
    hint: first.remedy ?? undefined,
  });
}

async function checkService(context: Context, settings: Settings): Promise<Finding[]> {
  const { io, paths, redaction } = context;
  const keepSecret = (secret: string) => redaction.add(secret);
  const password = passwordFinding(settings, io);
  const url = valueOrError(() => requireBaseUrl(settings));
  if ('error' in url) {
    const rest = ['proxy', ...NETWORK_CHECKS, 'token', 'token requests'];
    return [
      failed('base URL', url.error),
      ...rest.map((check) => notChecked(check, 'base URL failed')),
      password,
    ];
  }
  const baseUrl = url.value;
  const lost: Finding[] = [];
  const cache = new TokenCache(
    paths.config,
    {
      profile: settings.profile,
      baseUrl: baseUrlText(baseUrl),
      username: valueOr(() => settings.text('username'), undefined) ?? '',
    },
    (message) => lost.push(warning('token', message, 'imgctl logout, then imgctl login')),
  );
  const token = findToken(settings, cache, io);
  if (token.token !== undefined) tokenSecrets(token.token).forEach(keepSecret);
  const proxy = valueOrError(() => chooseProxy(baseUrl, io.env));
  const ca = valueOrError(() => readCertificates(settings, io));
  const findings = [
    baseUrlFinding(baseUrl),
    'error' in proxy ? failed('proxy', proxy.error) : proxyFinding(proxy.value),
    ...('error' in ca ? [failed('ca-file', ca.error)] : []),
  ];
  const ending = () => [...lost, password, limitFinding(cache, io)];
  if ('error' in proxy || 'error' in ca) {
    const unchecked = NETWORK_CHECKS.map((check) => notChecked(check, 'another setting is wrong'));
    return [...findings, ...unchecked, token.finding(undefined, false), ...ending()];
  }
  const through = proxy.value.proxy;
  if (through) proxySecrets(through).forEach(keepSecret);
  const progress = context.startProgress({ lines: false });
  progress.update(`asking ${baseUrl.host}`);
  const looked = await probe({
    baseUrl,
    userAgent: context.userAgent,
    authScheme: valueOr(() => settings.text('auth-scheme'), '') === 'basic' ? 'basic' : 'bearer',
    timeout: valueOr(() => settings.duration('timeout'), FALLBACK_TIMEOUT),
    maxBytes: LARGEST_ANSWER,
    token: token.token,
    ca: ca.value,
    proxy: through,
    signal: io.signal,
    now: io.now,
  });
  await progress.stop();
  const way = {
    baseUrl,
    proxy: through,
    caFile: settings.text('ca-file'),
    withToken: token.token !== undefined,
  };
  return [
    ...findings,
    ...networkFindings(looked, way, io),
    token.finding(tokenRefusal(looked.outcome), !(looked.outcome instanceof ImgctlError)),
    ...ending(),
  ];
}

function baseUrlFinding(baseUrl: URL): Finding {
  const text = baseUrlText(baseUrl);
  if (baseUrl.protocol === 'https:' || isLoopback(baseUrl.hostname)) return ok('base URL', text);
  const finding = `${text}: plain http sends the password and the token unprotected`;
  return warning('base URL', finding, `imgctl config set base-url https://${baseUrl.host}`);
}

async function show(context: Context, findings: readonly Finding[]): Promise<void> {
  const { io, terminal, quiet, options, redaction } = context;
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
  const writer = createListWriter({
    sink: io.stdout,
    // A remedy that is cut is none.
    terminal: { ...terminal, width: undefined },
    format,
    quiet,
    columns,
    idField: 'check',
  });
  await writer.write(rows);
  await writer.end();
}
