// Secrets for one test, and the places where they appear after a run of the program.

import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { User } from '../../src/emulator/service-options.ts';
import { type CliOptions, startCli } from '../support/cli.ts';
import { filesBelow } from '../support/files.ts';
import { type CliResult, temporaryDirectory } from '../support/io.ts';
import { filesHolding } from './home.ts';

/** Without the padding, which may differ. */
export const base64 = (text: string) => Buffer.from(text).toString('base64').replace(/=+$/, '');

export interface Secrets {
  readonly user: User;
  /** The token that scripted services issue. */
  readonly token: string;
  readonly proxy: User;
  /** Every secret, in clear text and in base64. */
  readonly forms: readonly string[];
}

export function newSecrets(): Secrets {
  const canary = (kind: string) => `${kind}${randomBytes(15).toString('hex')}`;
  const user = { name: 'alice', password: canary('pass') };
  const proxy = { name: 'peter', password: canary('prox') };
  const token = canary('toke');
  const pairs = [user, proxy].map(({ name, password }) => base64(`${name}:${password}`));
  const forms = [user.password, proxy.password, token, base64(`${token}:`), ...pairs];
  return { user, token, proxy, forms };
}

interface Recorder {
  /** A password command that prints the password and records what it can see. */
  readonly command: string;
  /** Returns the recorded environment and command lines, also of the parent. */
  readonly seen: () => string;
}

/** Creates a password command whose files are outside the searched folders. */
export function recordingCommand(password: string): Recorder {
  const folder = temporaryDirectory();
  const file = (name: string) => path.join(folder, name);
  writeFileSync(file('password'), `${password}\n`);
  const record = 'cat /proc/self/environ /proc/$$/cmdline /proc/$PPID/cmdline';
  writeFileSync(file('ask.sh'), `${record} >>${file('seen')}\ncat ${file('password')}\n`);
  return {
    command: `sh ${file('ask.sh')}`,
    seen: () => (existsSync(file('seen')) ? readFileSync(file('seen'), 'utf8') : ''),
  };
}

/** Returns the command lines of a process and its children, and the environments of the children. */
function peek(pid: number | undefined, child = false): string {
  const read = (name: string) => readFileSync(`/proc/${pid}/${name}`, 'utf8');
  try {
    const children = read(`task/${pid}/children`).split(' ').filter(Boolean).map(Number);
    const own = read('cmdline') + (child ? read('environ') : '');
    return own + children.map((below) => peek(below, true)).join('');
  } catch {
    // The process has ended, or the system has no /proc.
    return '';
  }
}

/** A result, and what /proc showed of the process meanwhile. */
export interface Run extends CliResult {
  readonly processes: string;
}

/** Runs the program until it exits. */
export async function watchedRun(argv: readonly string[], options: CliOptions): Promise<Run> {
  const running = startCli(argv, options);
  const views = new Set<string>();
  const timer = setInterval(() => views.add(peek(running.child.pid)), 5);
  const result = await running.ended;
  clearInterval(timer);
  return { ...result, processes: [...views].join('') };
}

/** Adds a folder for temporary files below the home. */
export function withTemporaryFolder<Env extends { readonly HOME: string }>(env: Env) {
  const TMPDIR = path.join(env.HOME, 'tmp');
  mkdirSync(path.join(env.HOME, '.cache'), { recursive: true });
  mkdirSync(TMPDIR, { recursive: true });
  return { ...env, TMPDIR };
}

const isTokenFile = (file: string) => /\/tokens\/_token\.[^/]*\.json$/.test(file);

/** Returns the cached access tokens below a folder, each in clear text and in base64. */
export function tokensBelow(folder: string): string[] {
  return filesBelow(folder)
    .filter(isTokenFile)
    .flatMap((file) => /"token":\s*"([^"]{16,})"/.exec(readFileSync(file, 'utf8'))?.[1] ?? [])
    .flatMap((token) => [token, base64(`${token}:`)]);
}

/** Returns the streams, with the text around a secret, and the files that contain one of the texts. */
export function placesOf(texts: readonly string[], run: Run, folders: readonly string[]): string[] {
  const streams = (['stdout', 'stderr', 'processes'] as const).flatMap((name) => {
    const form = texts.find((text) => run[name].includes(text));
    if (form === undefined) return [];
    const at = run[name].indexOf(form);
    return `${name}: ${run[name].slice(Math.max(0, at - 80), at)}<<SECRET>>`;
  });
  const files = folders.flatMap((folder) => filesHolding(folder, texts));
  return [...streams, ...files.filter((file) => !isTokenFile(file))];
}
