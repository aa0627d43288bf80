// What every run must show, whatever a response or a package holds.

import type { Parameters } from 'fast-check';
import { expect } from 'vitest';
import { parse } from 'yaml';
import { EXIT_CODES } from '../../src/errors.ts';
import type { Format } from '../../src/output/formats.ts';
import { type CliResult, type fakeIo, runCli } from '../support/io.ts';

const { FUZZ_RUNS, FUZZ_SECONDS, FUZZ_SEED = '1', FUZZ_PATH } = process.env;

/** Returns the parameters of a property that makes that many runs by default. */
export function parametersFor(runs: number): Parameters<unknown> {
  return {
    numRuns: Number(FUZZ_SECONDS === undefined ? (FUZZ_RUNS ?? runs) : 1e9),
    seed: Number(FUZZ_SEED),
    ...(FUZZ_PATH === undefined ? {} : { path: FUZZ_PATH }),
    ...(FUZZ_SECONDS === undefined ? {} : { interruptAfterTimeLimit: Number(FUZZ_SECONDS) * 1e3 }),
  };
}

/** Secrets that no output may show. */
export const CANARIES = {
  username: 'demo',
  password: 'canary-of-a-password',
  token: 'canary-of-a-token-0123456789-ABCDEFGHIJKLMN',
};
const { username, password, token } = CANARIES;
const base64 = (text: string) => Buffer.from(text).toString('base64').replace(/=+$/, '');
const SECRETS = [password, token, base64(`${username}:${password}`), base64(`${token}:`)];

/** Controls, lone surrogates, separators and bidi marks by Unicode properties, not by our own list. */
const HARMFUL = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;
const NONSENSE = /unexpected error|UND_ERR|undefined|\bNaN\b|Infinity|\[object |Invalid Date/;

interface Run {
  readonly argv: readonly string[];
  readonly format: Format;
  /** The width of the terminal, or undefined for a pipe. */
  readonly columns: number | undefined;
}

/** Only a defect takes so long, since no response stalls and waits take no time. */
const TIME_LIMIT = 120_000;

/** Runs a command and expects of it what every run must show. */
export async function runSoundly(run: Run, io: ReturnType<typeof fakeIo>): Promise<CliResult> {
  const timer = setTimeout(io.interrupt, TIME_LIMIT);
  const result = await runCli(run.argv, io);
  clearTimeout(timer);
  expectSound(run, result);
  return result;
}

function expectSound({ argv, format, columns }: Run, result: CliResult): void {
  const { exitCode, stdout, stderr } = result;
  const { usage, interrupted, terminated } = EXIT_CODES;
  const debug = argv.includes('--debug');
  const isList = argv[0] !== 'api' && argv[0] !== 'login';
  expect([usage, interrupted, terminated]).not.toContain(exitCode);
  expect(exitCode === 0 || stderr !== '', 'fails without a message').toBe(true);
  expect(stderr).not.toMatch(NONSENSE);
  expect(stderr).not.toMatch(/no complete response within/);
  if (!debug) expect(stdout + stderr).not.toMatch(/^ +at .+:\d+/m);
  for (const secret of SECRETS) expect(stdout + stderr).not.toContain(secret);
  expect(stderr.replaceAll('\n', '')).not.toMatch(HARMFUL);
  // A pipe gets the raw data.
  const isRaw = columns === undefined && (argv[0] === 'api' || /^[ct]sv$/.test(format));
  const layout = format === 'tsv' ? /[\n\t]/g : /\r?\n/g;
  if (!isRaw) expect(stdout.replaceAll(layout, '')).not.toMatch(HARMFUL);
  const linesOf = (text: string) => text.split('\n').filter((line) => line !== '');
  if (exitCode === 0 && isList) {
    if (format === 'json') JSON.parse(stdout);
    if (format === 'ndjson') for (const row of linesOf(stdout)) JSON.parse(row);
    // Parsing long YAML takes too long.
    const isShort = columns === undefined && stdout.length < 5_000;
    if (format === 'yaml' && isShort) parse(stdout, { logLevel: 'error' });
  }
  if (!/json$/.test(format)) return;
  for (const line of linesOf(stderr)) JSON.parse(line);
}
