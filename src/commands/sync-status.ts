// imgctl sync-status: shows a sync request, the last one submitted here if none is named, or lists them.

import { syncState } from '../api/sync.ts';
import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import { follow, getRequest, type WaitOptions } from './follow.ts';
import { rememberStatus, showRequest, submittedHere } from './sync-record.ts';

interface StatusOptions extends WaitOptions {
  list?: boolean;
}

export async function run(
  context: Context,
  options: StatusOptions,
  given: string | undefined,
): Promise<void> {
  if (options.list) return list(context, given);
  const id = given === undefined ? await lastId(context) : requestId(given);
  if (options.wait) return showRequest(context, await follow(context, id, options));
  const request = await getRequest(context, id);
  await rememberStatus(context, id, request.status);
  await showRequest(context, request);
}

async function list(context: Context, id: string | undefined): Promise<void> {
  if (id !== undefined) {
    const hint = `for one request: imgctl sync-status ${id}`;
    throw new ImgctlError('usage', '--list takes no id', { hint });
  }
  const entries = (await submittedHere(context)).reverse();
  const rows = entries.map(({ id, status, submitted_on, base_url }) => {
    return { id, status, state: syncState(status ?? undefined), submitted_on, base_url };
  });
  await context.printList(rows, ['id', 'status', 'state', 'submitted_on']);
  if (entries.length === 0 && context.format === 'table') context.console.note(NONE_YET, SUBMIT);
}

const NONE_YET = 'no sync request was submitted from this machine with this profile';
const SUBMIT = 'submit one with: imgctl sync';

async function lastId(context: Context): Promise<number | string> {
  const last = (await submittedHere(context)).at(-1);
  if (last) return last.id;
  throw new ImgctlError('not-found', NONE_YET, { hint: `give its id, or ${SUBMIT}` });
}

function requestId(text: string): number | string {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  if (/^\w[\w.-]{0,99}$/.test(text)) return text;
  throw new ImgctlError('usage', `not the id of a sync request: ${text}`, {
    hint: 'it is a number, as sync shows it',
  });
}
