// imgctl sync: submits an image sync request, and follows it with --wait.

import { command, GET_OPTION, option, type Parsed, SERVICE_CODES } from '../../cli/declare.ts';
import type { Result } from '../../cli/result.ts';
import type { Context } from '../../context.ts';
import { ImgctlError } from '../../errors.ts';
import { hint, imgctl } from '../../facts.ts';
import { stringify } from '../../json.ts';
import { column, namesOf } from '../../output/columns.ts';
import type { Output, OutputOptions } from '../../output/output.ts';
import { shorten } from '../../words.ts';
import { follow, followHint } from './follow.ts';
import { rememberRequest } from './history.ts';
import { describeNames, requestResult } from './show-request.ts';
import {
  implyingWait,
  STATUS_COLUMNS,
  STATUS_LAYOUT,
  STRICT_OPTION,
  SUBMITTED_COLUMNS,
  WAIT_OPTIONS,
} from './sync-columns.ts';

const WAIT_COLUMNS = STATUS_COLUMNS.filter(
  ({ name }) => !namesOf(SUBMITTED_COLUMNS).includes(name),
);

const DRY_RUN_COLUMNS = [
  column('method', 'string', 'with --dry-run: HTTP method of the request'),
  column('images', 'array', 'with --dry-run: names of your images', { text: describeNames }),
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
    ...WAIT_COLUMNS.map((each) => ({ ...each, meaning: `with --wait: ${each.meaning}` })),
    ...DRY_RUN_COLUMNS,
  ],
  exitCodes: [...SERVICE_CODES, 7],
  run,
});

async function run(context: Context, options: Parsed<typeof OPTIONS>): Promise<Result> {
  if (options.dryRun) return dryRun(context);
  const output = options.wait
    ? context.output(STATUS_COLUMNS, { ...options, ...STATUS_LAYOUT })
    : submittedOutput(context, options);
  const { tokens } = await context.session();
  // Get the token first: then a failure below is a failure of the submit.
  await tokens?.current();
  const submitted = await submit(context);
  if (!options.wait) return submittedResult(context, output, submitted);
  const started = context.io.elapsed();
  const request = await follow(context, submitted, options);
  const result = requestResult(context, output, request, { ...options, started });
  return { ...result, done: submitted.done };
}

/**
 * Submits a sync and remembers it. Returns the response, what `follow` needs, and what was done,
 * for an error if the output cannot be written.
 * @throws ImgctlError bad-answer: its id is unknown
 */
export async function submit(context: Context) {
  const { client } = await context.session();
  const submitted = await client.submitSync();
  const { id, response } = submitted;
  if (id === undefined) {
    const body = shorten(stringify(response), 500);
    throw new ImgctlError('bad-answer', `the sync was submitted, but its id is unknown: ${body}`, {
      facts: { kind: 'sync-unknown' },
    });
  }
  await rememberRequest(context, id, { status: submitted.status }, 'submitted');
  const show = imgctl('sync-status', `${id}`);
  const done = hint`sync ${`${id}`} was submitted; follow it with: ${show}`;
  return { ...submitted, id, isStored: true, age: 0, done };
}

export function submittedOutput(context: Context, options: Pick<OutputOptions, 'get'>): Output {
  const shown = ['id', 'status', 'url', 'message'];
  return context.output(SUBMITTED_COLUMNS, { ...options, shown });
}

export async function submittedResult(
  context: Context,
  output: Output,
  submitted: Awaited<ReturnType<typeof submit>>,
): Promise<Result> {
  const { baseUrl } = await context.session();
  const { id, status, message, response, done } = submitted;
  const url = `${baseUrl}/v2/request/image_sync/${id}`;
  const record = { id, status: status ?? null, url, message: message ?? null, response };
  const success = { message: `Sync request ${id} submitted`, hint: followHint(id) };
  const afterwards = () => context.tell({ kind: 'success', ...success });
  return { output, rows: [record], isOne: true, afterwards, done };
}

async function dryRun(context: Context): Promise<Result> {
  const url = column('url', 'string', 'URL of the request', { isId: true });
  const shown = ['method', 'url', 'images'];
  const output = context.output([...DRY_RUN_COLUMNS, url], { shown });
  const { baseUrl, client } = await context.session();
  const { images } = await client.listUserImages();
  const names = images.map(({ id, name }) => String(name ?? id));
  const record = { method: 'PATCH', url: `${baseUrl}/v2/user/image/vm`, images: names };
  const message = 'The token is valid; nothing was submitted';
  const afterwards = () => context.tell({ kind: 'success', message });
  return { output, rows: [record], isOne: true, afterwards };
}
