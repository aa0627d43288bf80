// imgctl sync: submits an image sync request, and follows it if asked.

import type { Command } from 'commander';
import type { SubmittedSync } from '../api/sync.ts';
import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import { writeRecord } from '../output/index.ts';
import { addWaitOptions, follow, note, showRequest, type WaitOptions } from './follow.ts';
import { sinkOptions } from './listing.ts';

interface SyncOptions extends WaitOptions {
  dryRun?: boolean;
}

export function define(command: Command, context: Context): void {
  addWaitOptions(command);
  command
    .option('--dry-run', 'show the request, prove the token, list the images; change nothing')
    .addHelpText('after', EXAMPLES)
    .action((options: SyncOptions) => sync(context, options));
}

const EXAMPLES = `
Run it after an upload: the service reads what was uploaded and adds or deletes images.

Examples:
  $ imgctl sync --wait
  $ imgctl sync --json | jq .id
  $ imgctl sync --wait --wait-timeout 10m && imgctl my-images
`;

async function sync(context: Context, options: SyncOptions): Promise<void> {
  const { client, baseUrl } = await context.session();
  if (options.dryRun) return dryRun(context, baseUrl);
  const submitted = await client.submitSync().catch((error: unknown) => {
    throw explain(error);
  });
  const { id, status, message, response } = submitted;
  if (id === undefined) throw unknownId(submitted);
  const url = `${baseUrl}/v2/request/image_sync/${id}`;
  await note(context, id, status);
  if (options.wait) {
    const request = await follow(context, id, options);
    await note(context, id, request.status);
    return showRequest(context, request);
  }
  const record = { id, status: status ?? null, url, message: message ?? null, response };
  await writeRecord(
    { ...sinkOptions(context), columns: ['id', 'status', 'url', 'message'], allFields: true },
    record,
  );
  context.note(`sync request ${id} submitted`, `follow it with: imgctl sync-status ${id} --wait`);
}

async function dryRun(context: Context, baseUrl: string): Promise<void> {
  const { client } = await context.session();
  const { images } = await client.myImages();
  const record = {
    method: 'PATCH',
    url: `${baseUrl}/v2/user/image/vm`,
    images: images.map((image) => image.name ?? null),
  };
  await writeRecord({ ...sinkOptions(context), idField: 'url' }, record);
  context.note('the token is valid; nothing was submitted');
}

/** A submit is never sent twice: where its fate is open, the user must know, and how to find out. */
function explain(error: unknown): unknown {
  if (!(error instanceof ImgctlError)) return error;
  if (error.code === 'outcome-unknown') {
    return new ImgctlError(
      error.code,
      `it is not known whether the sync was submitted: ${error.message}`,
      {
        hint: 'look with: imgctl my-images, or for the confirmation by email; a second sync does no harm',
        cause: error,
      },
    );
  }
  if (error.code === 'server-error') {
    const { message, status } = error;
    return new ImgctlError(
      'server-error',
      `${message}; whether the sync was submitted is not known`,
      {
        hint: 'look with: imgctl my-images, or for the confirmation by email; a second sync does no harm',
        status,
        cause: error,
      },
    );
  }
  if (error.code === 'interrupted' || error.code === 'terminated') {
    return new ImgctlError(error.code, `${error.message}; the sync may have been submitted`, {
      hint: 'look with: imgctl my-images, or for the confirmation by email',
    });
  }
  return error;
}

function unknownId(submitted: SubmittedSync): ImgctlError {
  const body = JSON.stringify(submitted.response).slice(0, 500);
  return new ImgctlError(
    'bad-answer',
    `the sync was submitted, but its id is unknown; the service says: ${body}`,
    {
      hint: 'see what has become of it with: imgctl my-images',
    },
  );
}
