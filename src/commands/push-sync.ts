// The sync after a push: one for all files, never a second one for the same files.

import { mayBeSubmitted } from '../api/sync.ts';
import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import type { Row } from '../output/writers.ts';
import type { Journal, SyncRecord } from '../upload/journal.ts';
import { readView } from './listing.ts';
import { showSubmitted, submit } from './sync.ts';
import {
  follow,
  reportMessages,
  requireSuccess,
  statusCommand,
  type WaitOptions,
} from './sync-request.ts';

interface Pushed {
  /** The packages by the names of their images. */
  readonly names: readonly string[];
  /** Identities of their local files by name. */
  readonly files: ReadonlyMap<string, string>;
  /** False if the storage had them all before. */
  readonly hasUploads: boolean;
  /** The user's images before the push. */
  readonly before: readonly Row[];
}

/** Syncs what was pushed if no sync did, and shows the images. */
export async function syncPushed(
  context: Context,
  journal: Journal,
  pushed: Pushed,
  options: WaitOptions,
): Promise<void> {
  const service = await serviceOf(context);
  const { sync } = journal;
  const isCovered =
    sync?.service === service &&
    [...pushed.files].every(([name, identity]) => sync.files[name] === identity);
  const earlier = isCovered && !pushed.hasUploads ? sync : undefined;
  if (earlier?.state === 'succeeded') {
    const again = 'to sync them again, run: imgctl sync';
    context.console.note(`already synced by sync request ${earlier.id}`, again);
  } else if (earlier?.state === 'submitting' && (await hasEvidence(context, pushed, earlier))) {
    await journal.setSync({ ...earlier, state: 'succeeded' });
  } else {
    const id = earlier?.state === 'submitted' ? earlier.id : null;
    const followed = await submitAndFollow(context, journal, { pushed, id, service }, options);
    if (!followed) return;
  }
  await showImages(context, pushed);
}

async function serviceOf(context: Context): Promise<string> {
  const { account } = await context.session();
  return `${account.baseUrl} ${account.username}`;
}

interface Work {
  readonly pushed: Pushed;
  /** Of a sync that an earlier run submitted. */
  readonly id: string | null;
  readonly service: string;
}

/** Returns false if it does not wait. */
async function submitAndFollow(
  context: Context,
  journal: Journal,
  { pushed, id, service }: Work,
  options: WaitOptions,
): Promise<boolean> {
  let key = id;
  if (key === null) {
    const record = {
      service,
      files: journal.finished(),
      before: Object.fromEntries(stateOf(pushed.names, pushed.before)),
    };
    await journal.setSync({ ...record, id: null, state: 'submitting' });
    const submitted = await submit(context).catch(async (error: unknown) => {
      if (!mayBeSubmitted(error)) {
        await journal.setSync(undefined);
        throw error;
      }
      throw error.with({ hint: 'run the same command again: it looks for that sync first' });
    });
    key = `${submitted.key}`;
    await journal.setSync({ ...record, id: key, state: 'submitted' });
    if (!options.wait) {
      await showSubmitted(context, submitted);
      return false;
    }
  } else if (!options.wait) {
    const hint = `follow it with: ${statusCommand(context, key)} --wait`;
    context.console.note(`sync request ${key} was submitted before`, hint);
    return false;
  }
  const request = await follow(context, key, options, context.io.now());
  const { sync } = journal;
  if (sync)
    await journal.setSync({ ...sync, state: request.state === 'failed' ? 'failed' : 'succeeded' });
  reportMessages(context, request);
  requireSuccess(request);
  return true;
}

/** A sync that was submitted shows its effect; one that was not never does. */
const MAX_SEARCH = 30_000;
const SEARCH_INTERVAL = 2_000;

/** Looks for the effect of a sync whose submit was interrupted. */
async function hasEvidence(context: Context, pushed: Pushed, sync: SyncRecord): Promise<boolean> {
  const { io, console } = context;
  const { client } = await context.session();
  const progress = console.startProgress({ lines: true });
  const deadline = io.now() + MAX_SEARCH;
  try {
    for (;;) {
      progress.update('looking for the sync of the interrupted run');
      const { images } = await client.listUserImages();
      const states = stateOf(pushed.names, images);
      const isDone = states.every(([name, state]) => state !== null && state !== sync.before[name]);
      if (isDone) return true;
      if (io.now() >= deadline) break;
      await io.sleep(SEARCH_INTERVAL, io.signal);
    }
  } finally {
    await progress.stop();
  }
  console.note('the interrupted run submitted no sync; submitting one');
  return false;
}

/** Returns what a sync changes of each image: the service's updated_on, or null if there is none. */
function stateOf(names: readonly string[], images: readonly Row[]): [string, string | null][] {
  const times = new Map(images.map(({ name, updated_on: time }) => [name, String(time)]));
  return names.map((name) => [name, times.get(name) ?? null]);
}

async function showImages(context: Context, { names }: Pushed): Promise<void> {
  const { client } = await context.session();
  const { images } = await client.listUserImages();
  const found = images.filter(({ name }) => names.includes(String(name)));
  const view = readView(context, {}, { columns: ['id', 'name', 'path', 'updated_on'] });
  await context.printList(found, view.columns, view);
  const missing = names.find((name) => !found.some((image) => image.name === name));
  if (missing === undefined) return;
  throw new ImgctlError('sync-failed', `the sync added no image named ${missing}`, {
    hint: 'see what it reported: imgctl sync-status, and your images: imgctl my-images',
  });
}
