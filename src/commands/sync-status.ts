// imgctl sync-status: shows a sync request, by default the last one submitted here, or lists them.

import { type GetOptions, readGet, timesOfTable } from '../cli/printing.ts';
import { type CommandSpec, GET_OPTION, option, SERVICE_CODES } from '../cli/spec.ts';
import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import {
  follow,
  getRequest,
  LIST_REQUESTS,
  localRequest,
  localRequests,
  STATUS_FIELDS,
  showRequest,
  WAIT_OPTIONS,
  type WaitOptions,
} from './sync-request.ts';

export const syncStatus: CommandSpec = {
  name: 'sync-status',
  summary: 'show or follow a sync request',
  description: [
    'Exits with 1 if the request failed. --list does not contact the service; it shows the last known status.',
  ],
  examples: [
    'imgctl sync-status',
    'imgctl sync-status 1 --wait --json',
    'imgctl sync-status --list',
  ],
  seeAlso: ['sync'],
  arguments: [
    {
      name: 'id',
      description: 'id of the sync request (the last one submitted with this profile)',
      value: { kind: 'text', from: 'sync-ids' },
    },
  ],
  options: [
    ...WAIT_OPTIONS,
    option(
      '--list',
      'list the requests submitted from this machine with this profile, newest first',
      { conflicts: ['wait', 'pollInterval', 'waitTimeout'] },
    ),
    GET_OPTION,
  ],
  fields: [
    ...STATUS_FIELDS,
    ['submitted_on', 'string', 'with --list: when it was submitted, in UTC (ISO 8601)'],
    ['base_url', 'string', 'with --list: address of the service'],
  ],
  exitCodes: [...SERVICE_CODES, 7],
  run,
};

interface StatusOptions extends WaitOptions, GetOptions {
  list?: boolean;
}

async function run(
  context: Context,
  options: StatusOptions,
  argument: string | undefined,
): Promise<void> {
  if (options.list) return list(context, options, argument);
  const get = readGet(
    context,
    options,
    STATUS_FIELDS.map(([name]) => name),
  );
  const id = argument === undefined ? await lastId(context) : await parseId(argument);
  if (options.wait) {
    const submitted = await localRequest(context, id);
    const started = context.io.now();
    const submittedAt = submitted && Date.parse(submitted.submitted_on);
    return showRequest(context, await follow(context, id, options, submittedAt), get, started);
  }
  await showRequest(context, await getRequest(context, id), get);
}

const LIST_FIELDS = ['id', 'status', 'state', 'submitted_on', 'base_url'];

async function list(context: Context, options: GetOptions, id: string | undefined): Promise<void> {
  const get = readGet(context, options, LIST_FIELDS);
  if (id !== undefined) {
    throw new ImgctlError('usage', `--list cannot be used with an id (got ${id})`, {
      hint: `show one request with: imgctl sync-status ${id}`,
    });
  }
  const { syncState } = await import('../api/sync-requests.ts');
  const entries = (await localRequests(context)).reverse();
  const rows = entries.map(({ id, status, submitted_on, base_url }) => {
    return { id, status, state: syncState(status ?? undefined), submitted_on, base_url };
  });
  const times = timesOfTable(context, ['submitted_on'], get);
  await context.printList(rows, ['id', 'status', 'state', 'submitted_on'], { get, times });
  if (entries.length === 0 && context.format === 'table') context.console.note(NO_REQUESTS, SUBMIT);
}

const NO_REQUESTS = 'this profile has submitted no sync request from this machine';
const SUBMIT = 'submit one with: imgctl sync';

async function lastId(context: Context): Promise<number | string> {
  const last = (await localRequests(context)).at(-1);
  if (last) return last.id;
  throw new ImgctlError('not-found', NO_REQUESTS, { hint: `provide an id, or ${SUBMIT}` });
}

async function parseId(text: string): Promise<number | string> {
  const { parseSyncId } = await import('../api/sync-requests.ts');
  if (/^\w[\w.-]{0,99}$/.test(text)) return parseSyncId(text);
  throw new ImgctlError('usage', `invalid sync request id: ${text}`, { hint: LIST_REQUESTS });
}
