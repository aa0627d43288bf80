// Faults that no response may cause.

import { parse } from 'yaml';
import { EXIT_CODES } from '../../src/errors.ts';
import type { CliResult } from '../support/io.ts';
import type { Case } from './cases.ts';
import { CANARIES } from './originals.ts';

/** Controls, lone surrogates, separators and bidi marks by Unicode properties, not by our own list. */
const HARMFUL = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

const IMPOSSIBLE: readonly number[] = [
  EXIT_CODES.usage,
  EXIT_CODES.interrupted,
  EXIT_CODES.terminated,
];
const POSSIBLE = new Set<number>([0, ...Object.values(EXIT_CODES)]);

const { username, password, token } = CANARIES;
const base64 = (text: string) => Buffer.from(text).toString('base64').replace(/=+$/, '');
const SECRETS = [password, token, base64(`${username}:${password}`), base64(`${token}:`)];

/** Returns the faults of a run. */
export function faultsOf(run: Case, result: CliResult): string[] {
  const { exitCode, stdout, stderr } = result;
  const debug = run.argv.includes('--debug');
  const faults: string[] = [];
  const check = (sound: boolean, fault: string) => {
    if (!sound) faults.push(fault);
  };
  check(POSSIBLE.has(exitCode), `exit code ${exitCode}`);
  check(!IMPOSSIBLE.includes(exitCode), `exit code ${exitCode} because of a response`);
  check(exitCode === 0 || stderr !== '', 'fails without a message');
  check(!/unexpected error/.test(stderr), 'unexpected error');
  check(debug || !/^ +at .+:\d+/m.test(stdout + stderr), 'stack trace');
  check(!/no complete response within/.test(stderr), 'waits for data that was not sent');
  check(!/UND_ERR/.test(stderr), 'code of a library on stderr');
  check(!/undefined|\bNaN\b|Infinity|\[object |Invalid Date/.test(stderr), 'nonsense on stderr');
  check(!HARMFUL.test(stderr.replaceAll('\n', '')), 'harmful character on stderr');
  check(!HARMFUL.test(withoutLayout(run, stdout)), 'harmful character on stdout');
  for (const secret of SECRETS) check(!(stdout + stderr).includes(secret), 'shows a secret');
  if (exitCode === 0 && run.argv[0] !== 'api') check(isReadable(run, stdout), `no ${run.format}`);
  if (!debug && ['json', 'ndjson'].includes(run.format)) {
    const lines = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('sync '));
    check(lines.every(isJson), 'stderr is not JSON');
  }
  return [...new Set(faults)];
}

/** Returns stdout without its own line breaks and tabs, and nothing if a pipe gets raw data. */
function withoutLayout({ argv, format, columns }: Case, stdout: string): string {
  const isPipe = columns === undefined;
  if (isPipe && (argv[0] === 'api' || format === 'csv' || format === 'tsv')) return '';
  return stdout.replaceAll(format === 'tsv' ? /[\n\t]/g : /\r?\n/g, '');
}

function isReadable({ argv, format, columns }: Case, stdout: string): boolean {
  if (argv[0] === 'login') return stdout === '';
  if (format === 'json') return isJson(stdout);
  if (format === 'ndjson') return stdout.split('\n').every((line) => line === '' || isJson(line));
  // Parsing long YAML takes too long.
  if (format === 'yaml' && columns === undefined && stdout.length < 5_000) return isYaml(stdout);
  return true;
}

function succeeds(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}

const isJson = (text: string) => succeeds(() => JSON.parse(text));
const isYaml = (text: string) => succeeds(() => parse(text, { logLevel: 'error' }));
