// imgctl sync-status: shows a sync request, the last one submitted here if none is named.

import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import { readHistory } from '../session/history.ts';
import { addWaitOptions, follow, note, showRequest, type WaitOptions } from './follow.ts';

export function define(command: Command, context: Context): void {
  command.argument('[id]', 'id of the sync request; the last one submitted with this profile');
  addWaitOptions(command);
  command
    .addHelpText('after', EXAMPLES)
    .action((id: string | undefined, options: WaitOptions) => status(context, id, options));
}

const EXAMPLES = `
Examples:
  $ imgctl sync-status
  $ imgctl sync-status 41 --wait --json
`;

async function status(
  context: Context,
  given: string | undefined,
  options: WaitOptions,
): Promise<void> {
  const { client } = await context.session();
  const id = given === undefined ? await lastId(context) : requestId(given);
  const request = options.wait
    ? await follow(context, id, options)
    : await client.getSyncRequest(id);
  if (given === undefined || options.wait) await note(context, id, request.status);
  await showRequest(context, request);
}

async function lastId(context: Context): Promise<number | string> {
  const { account } = await context.session();
  const last = readHistory(context.paths.state, account.profile, account.baseUrl).at(-1);
  if (last) return last.id;
  throw new ImgctlError(
    'not-found',
    'no sync request was submitted from this machine with this profile',
    {
      hint: 'give its id, or submit one with: imgctl sync',
    },
  );
}

function requestId(text: string): number | string {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  if (/^\w[\w.-]{0,99}$/.test(text)) return text;
  throw new ImgctlError('usage', `not the id of a sync request: ${text}`, {
    hint: 'it is a number, as sync shows it',
  });
}
