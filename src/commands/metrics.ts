// Writes how a command ended to a file for Prometheus, as the textfile collector of node_exporter reads it.

import fs from 'node:fs';
import path from 'node:path';
import type { Context } from '../context.ts';
import { asImgctlError } from '../errors.ts';
import { cannotWrite, followLinks, replaceUserFile } from '../files/atomic-file.ts';
import { withLockIfPossible } from '../files/lock.ts';
import { BrokenPipeError } from '../io.ts';

export interface MetricsOptions {
  metricsFile?: string;
  dryRun?: boolean;
}

const RUNS = { sync: 'imgctl sync', push: 'imgctl push', changes: 'imgctl images changes' };

type Run = keyof typeof RUNS;

/** The help of each metric; RUN stands for the command. All are gauges of the last run. */
const METRICS = {
  last_run_timestamp_seconds: 'When RUN last ended.',
  last_success_timestamp_seconds: 'When RUN last succeeded.',
  last_exit_code: 'Exit code of the last RUN; 0 is success.',
  last_duration_seconds: 'How long the last RUN took.',
  last_added: 'Images that the last RUN reported as added.',
  last_deleted: 'Images that the last RUN reported as deleted.',
  last_updated: 'Images that the last RUN reported as updated or moved.',
  last_errors: 'Errors that the last RUN reported.',
  last_warnings: 'Warnings that the last RUN reported.',
  last_uploaded_bytes: 'Bytes that the last RUN uploaded.',
};

type Values = { [Metric in keyof typeof METRICS]?: number | undefined };

/** What a command tells about itself; `succeeded` sets the time of the last success. */
export type Measures = Values & { readonly succeeded?: boolean };

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
  const { io } = context;
  const file = context.settingsWith({ 'metrics-file': options.metricsFile }).get('metrics-file');
  if (file === undefined || options.dryRun) return action(() => {});
  const started = io.now();
  let measures: Measures = {};
  let failure: unknown;
  try {
    await action((more) => {
      measures = { ...measures, ...more };
    });
  } catch (thrown) {
    failure = thrown;
    throw thrown;
  } finally {
    const { succeeded = false, ...values } = measures;
    const failed = failure !== undefined && !(failure instanceof BrokenPipeError);
    const now = io.now() / 1_000;
    await write(context, path.resolve(io.cwd, file), run, {
      ...values,
      last_run_timestamp_seconds: now,
      last_success_timestamp_seconds: succeeded && !failed ? now : undefined,
      // The command may have set an exit code without failing.
      last_exit_code: failed ? asImgctlError(failure).exitCode : context.exitCode,
      last_duration_seconds: now - started / 1_000,
    });
  }
}

/** A file that cannot be written is a warning: the work is done. */
async function write(context: Context, file: string, run: Run, values: Values): Promise<void> {
  const { io, profileName, console } = context;
  const what = `the metrics file ${file}`;
  try {
    const target = followLinks(file);
    // The lock would create the folder.
    fs.accessSync(path.dirname(target));
    const stat = fs.statSync(target, { throwIfNoEntry: false });
    // Reading a pipe or a terminal, such as /dev/stdout, may never end.
    if (stat && !stat.isFile()) throw new Error('it is not a regular file');
    await withLockIfPossible(target, 5_000, io, async (confirm) => {
      const old = fs.existsSync(target) ? fs.readFileSync(target, 'utf8') : '';
      await replaceUserFile(target, withValues(old, run, profileName, values), what, confirm);
    });
  } catch (error) {
    const { message, hint } = cannotWrite(what, error);
    console.warn(message, hint);
  }
}

/** Replaces the values of this run and profile in a text; other samples and the last success stay. */
function withValues(text: string, run: Run, profile: string, values: Values): string {
  const label = `{profile="${profile}"}`;
  const samples = new Map<string, string>();
  for (const [, name = '', labels = '', value = ''] of text.matchAll(SAMPLE)) {
    const isOwn = name.startsWith(`imgctl_${run}_`) && labels === label;
    if (!isOwn || name.endsWith('_success_timestamp_seconds')) samples.set(name + labels, value);
  }
  for (const [metric, value] of Object.entries(values)) {
    if (value !== undefined) samples.set(`imgctl_${run}_${metric}${label}`, `${value}`);
  }
  const lines: string[] = [];
  for (const [prefix, command] of Object.entries(RUNS)) {
    for (const [metric, help] of Object.entries(METRICS)) {
      const name = `imgctl_${prefix}_${metric}`;
      const own = [...samples].filter(([series]) => series.startsWith(`${name}{`));
      if (own.length === 0) continue;
      lines.push(`# HELP ${name} ${help.replace('RUN', command)}`, `# TYPE ${name} gauge`);
      for (const [series, value] of own) lines.push(`${series} ${value}`);
    }
  }
  return lines.map((line) => `${line}\n`).join('');
}

const SAMPLE = /^(imgctl_\w+)(\{profile="[\w-]+"\}) (\d[\d.e+]*)$/gm;
