// imgctl sync: submits an image sync request, and follows it with --wait.

import type { SyncRequest } from '../api/sync-requests.ts';
import { type GetOptions, readGet, timesOf } from '../cli/printing.ts';
import {
  type CommandSpec,
  GET_OPTION,
  METRICS_OPTION,
  option,
  SERVICE_CODES,
} from '../cli/spec.ts';
import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import { stringify } from '../json.ts';
import { type Measures, type MetricsOptions, withMetrics } from './metrics.ts';
import {
  describeNames,
  follow,
  rememberRequest,
  STATUS_FIELDS,
  STRICT_OPTION,
  SUBMITTED_FIELDS,
  showRequest,
  statusCommand,
  WAIT_OPTIONS,
  type WaitOptions,
} from './sync-status.ts';

const SUBMITTED = SUBMITTED_FIELDS.map(([name]) => name);
const WITH_WAIT = STATUS_FIELDS.filter(([name]) => !SUBMITTED.includes(name));

export const sync: CommandSpec = {
  name: 'sync',
  summary: 'submit an image sync after an upload',
  description: [
    'The service scans your uploads: it adds images for new packages and deletes images whose files are gone. With --wait, imgctl waits for the result and prints it. A new request may be unknown to the service at first; --wait retries for up to a minute.',
  ],
  examples: [
    'imgctl sync --wait',
    'imgctl sync --json | jq .id',
    'imgctl sync --strict --wait-timeout 10m && imgctl my-images',
  ],
  seeAlso: ['sync-status', 'my-images', 'validate'],
  options: [
    ...WAIT_OPTIONS,
    option('--dry-run', 'check the token and show the request and your images; submit nothing', {
      conflicts: ['get'],
    }),
    {
      ...STRICT_OPTION,
      description: `${STRICT_OPTION.description}; implies --wait`,
      implies: { wait: true },
    },
    METRICS_OPTION,
    GET_OPTION,
  ],
  mutates: true,
  fields: [
    ...SUBMITTED_FIELDS,
    ...WITH_WAIT.map(([name, type, meaning]) => [name, type, `with --wait: ${meaning}`] as const),
    ['method', 'string', 'with --dry-run: HTTP method that a sync would send'],
    ['images', 'array', 'with --dry-run: names of your images'],
  ],
  exitCodes: [...SERVICE_CODES, 7],
  run,
};

async function run(
  context: Context,
  options: WaitOptions & GetOptions & MetricsOptions,
): Promise<void> {
  return withMetrics(context, options, 'sync', async (measure) => {
    const fields = options.wait ? STATUS_FIELDS.map(([name]) => name) : SUBMITTED;
    const get = readGet(context, options, fields);
    // Before anything is submitted: the format or the setting time may be invalid.
    timesOf(context, [], get);
    await (options.dryRun ? dryRun(context) : submitAndFollow(context, options, get, measure));
  });
}

async function submitAndFollow(
  context: Context,
  options: WaitOptions,
  get: string | undefined,
  measure: (measures: Measures) => void,
): Promise<void> {
  const { tokens } = await context.session();
  // Get the token first: then a failure below is a failure of the submit.
  await tokens?.current();
  const submitted = await submit(context);
  if (!options.wait) return showSubmitted(context, submitted, get);
  const started = context.io.now();
  const request = await follow(context, submitted.key, options, started);
  const countOf = (changed: SyncRequest['added']) =>
    typeof changed === 'number' ? changed : changed?.length;
  measure({
    succeeded: request.state === 'succeeded',
    last_added: countOf(request.added),
    last_deleted: countOf(request.deleted),
    last_errors: request.errors.length,
    last_warnings: request.warnings.length,
  });
  return showRequest(context, request, { ...options, get, started });
}

/** Submits a sync and remembers it. @throws ImgctlError bad-answer: it was submitted, but its id is unknown */
export async function submit(context: Context) {
  const { client } = await context.session();
  const submitted = await client.submitSync();
  const { id, response } = submitted;
  if (id === undefined) {
    const body = stringify(response).slice(0, 500);
    throw new ImgctlError('bad-answer', `the sync was submitted, but its id is unknown: ${body}`, {
      hint: 'check the result with: imgctl my-images',
    });
  }
  const key = typeof id === 'object' ? `${id}` : id;
  await rememberRequest(context, key, submitted.status);
  return { ...submitted, /** The id as commands take it. */ key };
}

export async function showSubmitted(
  context: Context,
  submitted: Awaited<ReturnType<typeof submit>>,
  get?: string,
): Promise<void> {
  const { baseUrl } = await context.session();
  const { id, key, status, message, response } = submitted;
  const url = `${baseUrl}/v2/request/image_sync/${id}`;
  const record = { id, status: status ?? null, url, message: message ?? null, response };
  await context.printRecord(record, { columns: ['id', 'status', 'url', 'message'], get });
  const hint = `follow it with: ${statusCommand(context, key)} --wait`;
  context.console.success(`Submitted sync request ${id}`, `sync request ${id} submitted`, { hint });
}

async function dryRun(context: Context): Promise<void> {
  const { baseUrl, client } = await context.session();
  const { images: own } = await client.listUserImages();
  const images = own.map(({ id, name }) => String(name ?? id));
  const record = {
    method: 'PATCH',
    url: `${baseUrl}/v2/user/image/vm`,
    images: context.format === 'table' ? describeNames(images) : images,
  };
  await context.printRecord(record, { idField: 'url' });
  context.console.success('The token is valid; nothing was submitted');
}
