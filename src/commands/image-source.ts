// Where commands read the catalogue: from the service, or from a snapshot with --from.

import path from 'node:path';
import type { ReceivedImage } from '../api/types.ts';
import {
  type Batch,
  type CatalogueObserver,
  type CatalogueQuery,
  listCatalogue,
} from '../catalogue/listing.ts';
import { parseLines, parseSnapshot } from '../catalogue/snapshot.ts';
import type { OptionDeclaration } from '../cli/declarations.ts';
import { option } from '../cli/spec.ts';
import type { Context } from '../context.ts';
import { describeDuration } from '../duration.ts';
import { ImgctlError } from '../errors.ts';
import { readTextFile } from '../files/atomic-file.ts';
import { shellQuote } from '../output/messages.ts';
import type { QueryPlan } from '../query/plan.ts';

/** Reads a saved catalogue instead of the service. */
export const SOURCE_OPTIONS: readonly OptionDeclaration[] = [
  option('--from <file>', 'read this snapshot instead of the service; needs no login', {
    value: { kind: 'text', from: 'files' },
    conflicts: ['page', 'perPage'],
  }),
  option('--max-age <duration>', 'exit with 1 if the snapshot is older, such as 12h or 7d', {
    value: { kind: 'duration', isAge: true },
  }),
];

export interface SourceOptions {
  from?: string;
  maxAge?: number;
}

export interface Source {
  readonly baseUrl: string;
  /** Yields every image that matches. */
  list(
    query: Omit<CatalogueQuery, 'concurrency'>,
    observer?: CatalogueObserver,
  ): AsyncIterable<Batch>;
  /** Returns undefined if there is no such image. */
  getImage(id: number): Promise<ReceivedImage | undefined>;
}

/** @throws ImgctlError config, usage; failed: the snapshot is older than --max-age */
export async function openSource(context: Context, options: SourceOptions): Promise<Source> {
  const { from, maxAge } = options;
  if (from !== undefined) return openSnapshot(context, from, maxAge);
  if (maxAge !== undefined) {
    throw new ImgctlError('usage', '--max-age needs a snapshot', {
      hint: 'add --from FILE, or omit --max-age',
    });
  }
  const { client, baseUrl } = await context.session();
  const concurrency = context.settings.get('concurrency');
  return {
    baseUrl,
    list: (query, observer) => listCatalogue(client, { ...query, concurrency }, observer),
    getImage: (id) =>
      client.getImage(id).catch((error: unknown) => {
        if (error instanceof ImgctlError && error.code === 'not-found') return undefined;
        throw error;
      }),
  };
}

/** The clocks of two machines may differ by this much. */
const CLOCK_SKEW = 5 * 60_000;

async function openSnapshot(
  context: Context,
  name: string,
  maxAge: number | undefined,
): Promise<Source> {
  const { baseUrl, takenAt, ...snapshot } = await readSnapshot(context, name);
  const age = context.io.now() - takenAt;
  const isFuture = age < -CLOCK_SKEW;
  const text = isFuture ? 'is from the future' : `is ${describeDuration(age)} old`;
  const message = `the snapshot ${name} ${text}`;
  if (maxAge !== undefined && (isFuture || age > maxAge)) {
    throw new ImgctlError('failed', `${message} (--max-age ${describeDuration(maxAge)})`, {
      hint: saveCommand(name),
    });
  }
  context.console.note(`${message} (${new Date(takenAt).toISOString()})`);
  const images = await snapshot.images();
  return {
    baseUrl,
    async *list({ plan, limit }) {
      const sorted = plan.sort(images.filter(plan.matchesAll));
      yield { images: sorted.slice(0, limit), meta: {} };
    },
    getImage: async (id) => images.find((image) => image.id === id),
  };
}

/** Reads a snapshot; its images are parsed on demand. @throws ImgctlError config */
export async function readSnapshot({ io }: Context, name: string) {
  const file = { what: `the snapshot ${name}`, hint: saveCommand(name) };
  const text = await readTextFile(path.resolve(io.cwd, name), file.what, io);
  if (text === undefined) {
    throw new ImgctlError('config', `${file.what} does not exist`, { hint: file.hint });
  }
  const snapshot = parseSnapshot(text, file);
  return { ...snapshot, file, images: () => parseLines(snapshot.lines, file) };
}

/** Yields every image that matches, page by page, with a progress line. */
export async function* readAll(
  context: Context,
  source: Source,
  plan: QueryPlan,
): AsyncGenerator<readonly ReceivedImage[], void, void> {
  const observer = observeReading(context);
  for await (const { images } of source.list({ plan, streams: true }, observer)) yield images;
  await observer.stop();
}

/** Shows warnings and progress while the catalogue is read. */
export function observeReading({ console }: Context, quiet = false) {
  const progress = console.startProgress({ lines: false, quiet });
  progress.update('reading the catalogue');
  return {
    warn: (message: string) => console.warn(message),
    progress: (text: string) => progress.update(text),
    stop: () => progress.stop(),
  };
}

function saveCommand(name: string): string {
  return `save a new one with: imgctl images snapshot --file ${shellQuote(name)}`;
}
