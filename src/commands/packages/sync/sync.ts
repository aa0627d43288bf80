// imgctl sync: submits an image sync request, and follows it with --wait.
//
//     submit                sends the request; rememberRequest stores it in the history
//     followedResult        waits, then shows the record
//       follow              reads the request again and again until it has ended (readRequest)
//       requestResult       the record, and what it means:
//         failureOf         errors that make the command fail
//         reportProblems    errors and warnings that the output does not show
//
// sync-status reads a request with readRequest or followedResult, and its --list reads the history.
// push has its own result: it follows with `follow`, and judges the errors of its own files.

import type { SubmittedSync, SyncId } from '../../../api/sync-requests.ts';
import { command, GET_OPTION, option, type Parsed, SERVICE_CODES } from '../../../cli/declare.ts';
import type { Result } from '../../../cli/result.ts';
import type { Context } from '../../../context.ts';
import { type Facts, hint, imgctl } from '../../../facts.ts';
import { column, namesOf } from '../../../output/columns.ts';
import type { Output, OutputOptions } from '../../../output/output.ts';
import { justSubmitted } from './follow.ts';
import { rememberRequest } from './history.ts';
import { describeImages } from './image-names.ts';
import {
  implyingWait,
  STATUS_COLUMNS,
  STATUS_LAYOUT,
  STRICT_OPTION,
  SUBMITTED_COLUMNS,
  WAIT_OPTIONS,
} from './options.ts';
import { followHint } from './read-request.ts';
import { followedResult } from './request-result.ts';

const WAIT_COLUMNS = STATUS_COLUMNS.filter(
  ({ name }) => !namesOf(SUBMITTED_COLUMNS).includes(name),
);

const DRY_RUN_COLUMNS = [
  column('method', 'string', 'HTTP method of the request', { needs: '--dry-run' }),
  column('images', 'array', 'names of your images', {
    needs: '--dry-run',
    text: describeImages,
  }),
];

const OPTIONS = [
  ...WAIT_OPTIONS,
  option('--dry-run', 'check the token, show the request and your images; submit nothing', {
    conflicts: ['get'],
  }),
  implyingWait(STRICT_OPTION),
  GET_OPTION,
] as const;

export const sync = command({
  name: 'sync',
  summary: 'submit an image sync after an upload',
  description: [
    'The service adds images for new packages in your storage, and deletes images whose files are gone. With --wait, prints the result, and exits with 1 if there are errors.',
  ],
  examples: [
    'imgctl sync --wait',
    'imgctl sync --json | jq .id',
    'imgctl sync --strict --wait-timeout 10m && imgctl my-images',
  ],
  seeAlso: ['sync-status', 'my-images', 'validate'],
  options: OPTIONS,
  fields: [
    ...SUBMITTED_COLUMNS,
    ...WAIT_COLUMNS.map((each) => ({ ...each, needs: '--wait' })),
    ...DRY_RUN_COLUMNS,
  ],
  exitCodes: [...SERVICE_CODES, 7],
  run,
});

async function run(context: Context, options: Parsed<typeof OPTIONS>): Promise<Result> {
  if (options.dryRun) return dryRun(context);
  return options.wait ? submitAndWait(context, options) : submitOnly(context, options);
}

async function submitOnly(context: Context, options: OutputOptions): Promise<Result> {
  const output = submittedOutput(context, options);
  return submittedResult(context, output, await submit(context));
}

async function submitAndWait(context: Context, options: Parsed<typeof OPTIONS>): Promise<Result> {
  const output = context.output(STATUS_COLUMNS, { ...options, ...STATUS_LAYOUT });
  const { id } = await submit(context);
  const result = await followedResult(context, output, justSubmitted(id, context), options);
  return { ...result, done: wasSubmitted(id) };
}

/** Submits a sync and remembers it. */
export async function submit(context: Context): Promise<SubmittedSync> {
  const { client } = await context.session();
  const submitted = await client.submitSync();
  const { id, status } = submitted;
  await rememberRequest(context, 'submitted', { id, status });
  return submitted;
}

export function submittedOutput(context: Context, options: Pick<OutputOptions, 'get'>): Output {
  const shown = ['id', 'status', 'url', 'message'];
  return context.output(SUBMITTED_COLUMNS, { ...options, shown });
}

export async function submittedResult(
  context: Context,
  output: Output,
  submitted: SubmittedSync,
): Promise<Result> {
  const { baseUrl } = (await context.session()).account;
  const { id, status = null, message = null, response } = submitted;
  const record = { id, status, url: `${baseUrl}/v2/request/image_sync/${id}`, message, response };
  const next = { hint: followHint(id) };
  const afterwards = () => context.console.success(`Sync request ${id} submitted`, next);
  return { output, rows: [record], isOne: true, afterwards, done: wasSubmitted(id) };
}

/** What was done, for an error if the output cannot be written. */
export function wasSubmitted(id: SyncId): Facts {
  const show = imgctl('sync-status', `${id}`);
  return hint`sync ${`${id}`} was submitted; follow it with: ${show}`;
}

async function dryRun(context: Context): Promise<Result> {
  const url = column('url', 'string', 'URL of the request', { isId: true });
  const shown = ['method', 'url', 'images'];
  const output = context.output([...DRY_RUN_COLUMNS, url], { shown });
  const { account, client } = await context.session();
  const { images } = await client.listUserImages();
  const names = images.map(({ id, name }) => String(name ?? id));
  const record = { method: 'PATCH', url: `${account.baseUrl}/v2/user/image/vm`, images: names };
  const afterwards = () => context.console.success('The token is valid; nothing was submitted');
  return { output, rows: [record], isOne: true, afterwards };
}
