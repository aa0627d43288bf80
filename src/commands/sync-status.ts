// imgctl sync-status: shows a sync request, by default the last one submitted here, or lists them.

import { parseSyncId, syncState } from '../api/sync.ts';
import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import { type GetOptions, readGet, timesOfTable } from './shared-options.ts';
import {
  follow,
  getRequest,
  LIST_REQUESTS,
  localRequest,
  localRequests,
  REQUEST_FIELDS,
  rememberStatus,
  showRequest,
  type WaitOptions,
} from './sync-request.ts';

interface StatusOptions extends WaitOptions, GetOptions {
  list?: boolean;
}

export async function run(
  context: Context,
  options: StatusOptions,
  argument: string | undefined,
): Promise<void> {
  if (options.list) return list(context, options, argument);
  const get = readGet(context, options, REQUEST_FIELDS);
  const id = argument === undefined ? await lastId(context) : parseId(argument);
  if (options.wait) {
    const submitted = (await localRequest(context, id))?.submitted_on;
    const submittedAt = submitted === undefined ? undefined : Date.parse(submitted);
    const started = context.io.now();
    const request = await follow(context, id, options, submittedAt);
    return showRequest(context, request, get, started);
  }
  const request = await getRequest(context, id);
  await rememberStatus(context, id, request.status);
  await showRequest(context, request, get);
}

const LIST_FIELDS = ['id', 'status', 'state', 'submitted_on', 'base_url'];

async function list(context: Context, options: GetOptions, id: string | undefined): Promise<void> {
  const get = readGet(context, options, LIST_FIELDS);
  if (id !== undefined) {
    throw new ImgctlError('usage', `--list cannot be used with an id (got ${id})`, {
      hint: `show one request with: imgctl sync-status ${id}`,
    });
  }
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

function parseId(text: string): number | string {
  if (/^\w[\w.-]{0,99}$/.test(text)) return parseSyncId(text);
  throw new ImgctlError('usage', `invalid sync request id: ${text}`, { hint: LIST_REQUESTS });
}
