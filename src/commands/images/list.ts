// imgctl images list and my-images: list images of the catalogue, a snapshot or your own.

import type { ReceivedImage } from '../../api/types.ts';
import { numberedPage } from '../../catalogue/numbered-page.ts';
import type { ListEnd } from '../../catalogue/service-list.ts';
import { command, option, type Parsed, SERVICE_CODES } from '../../cli/declare.ts';
import type { Result, Rows } from '../../cli/result.ts';
import { findPaths } from '../../config/paths.ts';
import { wholeNumber } from '../../config/values.ts';
import type { Context } from '../../context.ts';
import { ImgctlError } from '../../errors.ts';
import { type Facts, hint, imgctl } from '../../facts.ts';
import type { Output } from '../../output/output.ts';
import type { Query } from '../../query/query.ts';
import { Tally } from '../../query/tally.ts';
import { reportNoMatch } from './empty.ts';
import { collectNames, rememberImages } from './image-names.ts';
import {
  CATALOGUE_OPTIONS,
  describeCount,
  IMAGE_COLUMNS,
  isPublic,
  LISTING_OPTIONS,
  type ListingOptions,
  MINE_OPTION,
  readQuery,
  SHOWN_FIELDS,
  WORDS,
} from './options.ts';
import { type ImagePages, openCatalogue, readImages } from './read.ts';

const OPTIONS = [
  ...LISTING_OPTIONS,
  option('--page <n>', "show only this page of the service's list", { value: wholeNumber(1) }),
  option('--per-page <n>', 'page size, 1 to 100', { default: '100', value: wholeNumber(1, 100) }),
  option('--urls', 'print one image URL per line', { conflicts: ['columns'] }),
  MINE_OPTION,
  ...CATALOGUE_OPTIONS,
] as const;

export const imagesList = command({
  name: 'list',
  aliases: ['ls'],
  summary: 'list and filter images',
  description: [
    'Lists every match, unless you use --limit or --page. Numbers match as a whole: 8 matches 8 and 8.10, not 18 or x86_64.',
  ],
  examples: [
    "imgctl images list --filter 'folder=ubuntu'",
    'imgctl images list debian --sort updated_on,desc -n 5',
    'imgctl images list --since 30d -c id,name,updated_on -o csv',
  ],
  seeAlso: ['images get', 'my-images', 'help filters', 'help output'],
  arguments: [WORDS],
  options: OPTIONS,
  fields: IMAGE_COLUMNS,
  exitCodes: SERVICE_CODES,
  run,
});

export const myImages = command({
  name: 'my-images',
  otherNames: ['my-image'],
  summary: 'list your own images',
  examples: ['imgctl my-images', 'imgctl my-images --sort updated_on,desc -n 1 --json'],
  seeAlso: ['images list', 'sync', 'help filters', 'help output'],
  arguments: [WORDS],
  options: LISTING_OPTIONS,
  fields: IMAGE_COLUMNS,
  exitCodes: SERVICE_CODES,
  run: runMine,
});

/** Also takes `my-images list`, as the commands for images have it. */
async function runMine(context: Context, options: ListingOptions, words: readonly string[]) {
  const isVerb = words[0] === 'list' || words[0] === 'ls';
  return run(context, { ...options, mine: true }, isVerb ? words.slice(1) : words);
}

type Options = ListingOptions & Partial<Parsed<typeof OPTIONS>>;

async function run(context: Context, options: Options, words: readonly string[]): Promise<Result> {
  const { limit, page, perPage, mine } = options;
  const query = readQuery(words, options, context.io.now());
  if (page !== undefined && !query.isForService) {
    const message = '--page cannot be used with words, filters or sorts that imgctl applies itself';
    throw new ImgctlError('usage', message, { facts: 'use --limit instead' });
  }
  const output = context.output(IMAGE_COLUMNS, {
    ...options,
    shown: context.settings.get(mine ? 'columns.my-images' : 'columns.images') ?? SHOWN_FIELDS,
  });
  const catalogue = await openCatalogue(context, options);
  const { baseUrl } = catalogue;
  const tally = new Tally(query);
  const streams = output.shape.kind === 'stream';
  // In a pipe, a reader such as less may use the terminal; rows of a stream are progress enough.
  const showsProgress = !streams && context.io.stdout.isTTY;
  const images =
    page === undefined
      ? readImages(context, catalogue, query, { limit, streams, tally, showsProgress })
      : readPage(context, query, { page, perPage, limit });
  return { output, rows: listRows({ context, options, output, query, tally, baseUrl }, images) };
}

/** What the rows of a list, and what is said after them, depend on. */
interface Listing {
  readonly context: Context;
  readonly options: Options;
  readonly output: Output;
  readonly query: Query;
  /** What was seen of each condition while the images were read. */
  readonly tally: Tally;
  readonly baseUrl: string;
}

/** Yields rows for each page of images, and returns what is known once all are printed. */
async function* listRows(list: Listing, images: ImagePages): Rows {
  const { context, options, query, baseUrl } = list;
  let count = 0;
  // Only what completion needs: the list itself may not fit into memory.
  const names = collectNames([]);
  let end: ListEnd = { meta: {} };
  const pages = async function* () {
    end = yield* images;
  };
  // If the rows cannot be written, the reading ends too.
  for await (const page of pages()) {
    count += page.length;
    collectNames(page, names);
    yield options.urls ? page.map((image) => ({ url: urlOf(image, baseUrl) })) : page;
  }
  const { meta, total } = end;
  const afterwards = async () => {
    if (isPublic(options)) {
      const isWhole =
        query.conditions.length === 0 && options.limit === undefined && options.page === undefined;
      const { account } = await context.session();
      await rememberImages(findPaths(context.io).cache, account, names, isWhole);
    }
    if (count === 0) reportEmpty(list, meta.count === 0);
  };
  return {
    meta: options.meta ? { ...meta, count, total: total ?? null } : undefined,
    summary: describeCount(count, options, total),
    afterwards,
  };
}

/**
 * @param ownsNone true if the service says that you have no images
 * @throws ImgctlError empty, with --fail-empty
 */
function reportEmpty(list: Listing, ownsNone: boolean): void {
  const { context, options, output, query, tally } = list;
  const { mine, page, failEmpty } = options;
  if (mine && ownsNone) {
    noteEmpty(list, 'no images yet', hint`upload one with: ${imgctl('push', 'FILE')}`);
  } else if (page !== undefined) {
    noteEmpty(list, `no images match on page ${page}`);
  } else reportNoMatch(context, output, { query, tally }, failEmpty ? 'error' : 'note');
}

/** Says it as a note beside a table, or as the error that --fail-empty asks for. */
function noteEmpty({ context, options, output }: Listing, message: string, facts?: Facts): void {
  if (options.failEmpty) throw new ImgctlError('empty', message, { facts });
  if (output.isTableFormat) context.console.note(message, facts);
}

/** Reads one page of the service, in its order. */
async function* readPage(
  context: Context,
  query: Query,
  options: Parameters<typeof numberedPage>[2],
): ImagePages {
  const { client } = await context.session();
  const { images, number, end } = await numberedPage(client, query, options);
  if (number !== options.page) {
    context.console.warn(`the service sent page ${number} instead of page ${options.page}`);
  }
  yield images;
  return end;
}

/** Returns the URL as the service lists it without expand, section 2.2 of service.md. */
function urlOf({ id }: ReceivedImage, baseUrl: string): string {
  if (typeof id === 'number' || typeof id === 'string') {
    return `${baseUrl}/v2/image/${encodeURIComponent(String(id).toWellFormed())}`;
  }
  const message = 'cannot print the URL of an image without an id';
  throw new ImgctlError('bad-answer', message, { facts: 'list the images without --urls' });
}
