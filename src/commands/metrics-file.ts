// Writes how a command ended to a file for Prometheus, as the textfile collector of node_exporter reads it.

import fs from 'node:fs';
import path from 'node:path';
import type { Context } from '../context.ts';
import { asImgctlError, attempt, ImgctlError } from '../errors.ts';
import { changeUserFile } from '../files/user-file.ts';
import { BrokenPipeError } from '../io.ts';

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

type MetricValues = { [Metric in keyof typeof METRICS]?: number | undefined };

/** What a command tells about itself; `succeeded` sets the time of the last success. */
export type Metrics = MetricValues & { readonly succeeded?: boolean };

/**
 * Runs the action, and then writes its metrics if a file is set, whether it failed or not.
 * @throws ImgctlError config, before the action: the file is another program's
 */
export async function withMetrics(
  context: Context,
  options: { readonly dryRun?: boolean | undefined },
  run: Run,
  action: (addMetrics: (metrics: Metrics) => void) => Promise<void>,
): Promise<void> {
  const { io } = context;
  const name = context.settings.get('metrics-file');
  if (name === undefined || options.dryRun) return action(() => {});
  const file = path.resolve(io.cwd, name);
  const { error } = attempt(() => readMetrics(file));
  // Any other error is a warning at the end.
  if (error?.code === 'config') throw error;
  const started = io.now();
  let metrics: Metrics = {};
  let failure: unknown;
  try {
    await action((more) => {
      metrics = { ...metrics, ...more };
    });
  } catch (thrown) {
    failure = thrown;
    throw thrown;
  } finally {
    const { succeeded = false, ...values } = metrics;
    const failed = failure !== undefined && !(failure instanceof BrokenPipeError);
    const now = io.now() / 1_000;
    await write(context, file, run, {
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
async function write(context: Context, file: string, run: Run, values: MetricValues) {
  const { io, console } = context;
  const { profile: profileName } = context.settings;
  const what = `the metrics file ${file}`;
  try {
    await changeUserFile(file, what, 5_000, io, async () =>
      withValues(readMetrics(file), run, profileName, values),
    );
  } catch (error) {
    const { message, hint } = asImgctlError(error);
    console.warn(message, hint);
  }
}

function readMetrics(file: string): string {
  const stat = fs.statSync(file, { throwIfNoEntry: false });
  if (stat === undefined) return '';
  // Reading a pipe or a terminal, such as /dev/stdout, may never end.
  if (!stat.isFile()) throw new Error('it is not a regular file');
  const text = fs.readFileSync(file, 'utf8');
  const line = text.split('\n').findIndex((each) => !OWN_LINE.test(each));
  if (line < 0) return text;
  const message = `line ${line + 1} of the metrics file ${file} was not written by imgctl`;
  const hint = 'give imgctl a file of its own, such as imgctl.prom';
  throw new ImgctlError('config', message, { hint });
}

/** Replaces the values of this run and profile in a text; other samples and the last success stay. */
function withValues(text: string, run: Run, profile: string, values: MetricValues): string {
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

const NAME = `imgctl_(?:${Object.keys(RUNS).join('|')})_(?:${Object.keys(METRICS).join('|')})`;
const SAMPLE = new RegExp(`^(${NAME})(\\{profile="[\\w-]+"\\}) (\\S+)$`, 'gm');
const OWN_LINE = new RegExp(`^$|^# (?:HELP|TYPE) ${NAME} |${SAMPLE.source}`);
