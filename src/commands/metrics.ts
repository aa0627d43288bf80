// Writes how a command ended to a file for Prometheus, as the textfile collector of node_exporter reads it.

import fs from 'node:fs';
import path from 'node:path';
import type { SyncRequest } from '../api/sync.ts';
import type { Context } from '../context.ts';
import { asImgctlError } from '../errors.ts';
import { errorReason, replaceFile } from '../files/atomic-file.ts';
import { withLockIfPossible } from '../files/lock.ts';
import { BrokenPipeError } from '../io.ts';

export interface MetricsOptions {
  metricsFile?: string;
}

const RUNS = { sync: 'imgctl sync', push: 'imgctl push', changes: 'imgctl images changes' };

type Run = keyof typeof RUNS;

/** The help of each metric; RUN stands for the command. All are gauges of the last run. */
const METRICS = {
  last_run_timestamp_seconds: 'When RUN last ended.',
  last_success_timestamp_seconds: 'When RUN last succeeded.',
  last_exit_code: 'Exit code of the last RUN; 0 is success.',
  last_duration_seconds: 'How long the last RUN took.',
  last_added: 'Images that the last RUN added, or found added.',
  last_deleted: 'Images that the last RUN deleted, or found removed.',
  last_updated: 'Images that the last RUN found updated or moved.',
  last_errors: 'Errors of the last RUN in single files.',
  last_warnings: 'Warnings of the last RUN.',
  last_uploaded_bytes: 'Bytes that the last RUN uploaded.',
};

type Metric = keyof typeof METRICS;

type Values = Partial<Record<Metric, number | undefined>>;

/** What a command tells about itself; the last success is the time of its end if `succeeded`. */
export interface Measures extends Values {
  readonly succeeded?: boolean;
}

/**
 * Runs the action, and then writes its metrics if a file is set, whether it failed or not.
 * @param action receives a function to call with what it measures
 */
export async function withMetrics(
  context: Context,
  options: MetricsOptions,
  run: Run,
  action: (measure: (measures: Measures) => void) => Promise<void>,
): Promise<void> {
  const file = context.settingsWith({ 'metrics-file': options.metricsFile }).text('metrics-file');
  if (file === undefined) return action(() => {});
  const started = context.io.now();
  let measures: Measures = {};
  let exitCode: number | undefined;
  try {
    await action((more) => {
      measures = { ...measures, ...more };
    });
  } catch (thrown) {
    exitCode = thrown instanceof BrokenPipeError ? 0 : asImgctlError(thrown).exitCode;
    throw thrown;
  } finally {
    const now = context.io.now();
    // The command may have set an exit code without failing.
    const { exitCode: set } = context;
    const { succeeded = false, ...values } = measures;
    await write(context, path.resolve(context.io.cwd, file), run, {
      last_run_timestamp_seconds: now / 1000,
      ...(succeeded && !exitCode && { last_success_timestamp_seconds: now / 1000 }),
      last_exit_code: exitCode ?? set,
      last_duration_seconds: (now - started) / 1000,
      ...values,
    });
  }
}

/** Milliseconds to wait for another process that writes the same file. */
const PATIENCE = 5_000;

/** A file that cannot be written is a warning: the work is done. */
async function write(context: Context, file: string, run: Run, values: Values): Promise<void> {
  try {
    if (!fs.existsSync(path.dirname(file)))
      throw new Error(`no such folder: ${path.dirname(file)}`);
    await withLockIfPossible(file, PATIENCE, context.io, async (confirm) => {
      const text = withValues(readText(file), run, context.profileName, values);
      confirm();
      await replaceFile(file, text, context.io.system, { create: createReadable });
    });
  } catch (error) {
    const hint = 'use a file in a folder that you can write: --metrics-file FILE';
    context.console.warn(`cannot write the metrics to ${file}: ${errorReason(error)}`, hint);
  }
}

/** The exporter runs as another user. */
function createReadable(file: string, text: string): void {
  fs.writeFileSync(file, text, { mode: 0o644, flag: 'wx' });
  fs.chmodSync(file, 0o644);
}

const MAX_FILE_SIZE = 2 ** 20;

/** Returns the file, or nothing if it cannot be read as a whole. */
function readText(file: string): string {
  try {
    return fs.statSync(file).size > MAX_FILE_SIZE ? '' : fs.readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** Replaces the values of this run and profile in a text; other samples and the last success stay. */
export function withValues(text: string, run: Run, profile: string, values: Values): string {
  const label = `{profile="${profile}"}`;
  const samples = new Map<string, string>();
  for (const [, name = '', labels = '', value = ''] of text.matchAll(SAMPLE)) {
    const isOwn = name.startsWith(`imgctl_${run}_`) && labels === label;
    if (!isOwn || name.endsWith('_last_success_timestamp_seconds')) {
      samples.set(`${name}${labels}`, value);
    }
  }
  for (const [metric, value] of Object.entries(values)) {
    if (value !== undefined) samples.set(`imgctl_${run}_${metric}${label}`, `${value}`);
  }
  return FAMILIES.map(([name, help]) => {
    const lines = [...samples]
      .filter(([series]) => series.startsWith(`${name}{`))
      .map(([series, value]) => `${series} ${value}\n`);
    return lines.length === 0
      ? ''
      : `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${lines.join('')}`;
  }).join('');
}

const SAMPLE = /^(imgctl_\w+)(\{profile="[\w-]+"\}) (\d[\d.e+]*)$/gm;

/** The full name and help of every metric. */
const FAMILIES = Object.entries(RUNS).flatMap(([run, command]) =>
  Object.entries(METRICS).map(
    ([metric, help]) => [`imgctl_${run}_${metric}`, help.replace('RUN', command)] as const,
  ),
);

/** Returns what a sync request says when it has ended. */
export function measuresOf(request: SyncRequest): Measures {
  const { state, added, deleted, errors, warnings } = request;
  return {
    succeeded: state === 'succeeded',
    last_added: countOf(added),
    last_deleted: countOf(deleted),
    last_errors: errors.length,
    last_warnings: warnings.length,
  };
}

function countOf(changed: SyncRequest['added']): number | undefined {
  if (changed === null || typeof changed === 'number') return changed ?? undefined;
  return changed.length;
}
