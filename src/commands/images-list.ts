// imgctl images list: the public catalogue, all of it or what a query leaves.

import { type Command, Option } from 'commander';
import type { ImagePage, ImageQuery } from '../api/images.ts';
import type { PageOfAll } from '../api/paging.ts';
import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import { createValueWriter, type ListWriter, type Row } from '../output/index.ts';
import type { Progress } from '../output/progress.ts';
import type { QueryPlan } from '../query/plan.ts';
import type { Session } from '../session/session.ts';
import {
  addListingOptions,
  counter,
  type ListingOptions,
  openWriter,
  readQuery,
  readView,
  reportEmpty,
  sinkOptions,
} from './listing.ts';

interface ImagesListOptions extends ListingOptions {
  page?: number;
  perPage?: number;
  urls?: boolean;
}

type Element = PageOfAll['elements'][number];

const LARGEST_PAGE = 100;

export function define(command: Command, context: Context): void {
  command.argument('[text...]', 'only images whose name contains each text');
  addListingOptions(command);
  command
    .addOption(
      new Option('--page <n>', 'exactly that page of the service').argParser(counter('--page', 1)),
    )
    .addOption(
      new Option('--per-page <n>', 'page size, 1 to 100 (100)').argParser(
        counter('--per-page', 1, LARGEST_PAGE),
      ),
    )
    .option('--urls', 'the URL of each image, one a line')
    .addHelpText('after', EXAMPLES)
    .action((words: string[], options: ImagesListOptions) => list(context, words, options));
}

const EXAMPLES = `
Without --limit or --page it lists every matching image.

Examples:
  $ imgctl images list --filter name,like,%ubuntu%
  $ imgctl images list debian --sort updated_on,desc --limit 5
  $ imgctl images list -f updated_on,ge,-30d --columns id,name,updated_on -o csv

More: imgctl help filters, imgctl help output
`;

async function list(
  context: Context,
  words: readonly string[],
  options: ImagesListOptions,
): Promise<void> {
  const plan = readQuery(context, words, options);
  if (options.page !== undefined && (plan.filtersLocally || plan.sortsLocally)) {
    throw new ImgctlError(
      'usage',
      '--page shows one page of the service, which takes one filter and one sort key',
      {
        hint: 'use --limit instead, or leave out what the service cannot answer: imgctl help filters',
      },
    );
  }
  const show = openShow(context, options);
  const session = await context.session();
  // ndjson on a terminal shows rows while they come; a moving line between them would only disturb.
  const quiet = context.format === 'ndjson' && context.io.stdout.isTTY;
  const progress = context.startProgress({ lines: false, quiet });
  const listing = new Listing(context, session, plan, options, show.writer, progress);
  const meta = await (options.page === undefined ? listing.all() : listing.page(options.page));
  await progress.stop();
  await context.flush();
  await show.writer.end(options.meta ? { ...meta, count: listing.shown } : undefined);
  if (listing.shown === 0) reportEmpty(context, options, 'no images match');
}

/** Writes elements as rows, or as URLs. */
function openShow(context: Context, options: ImagesListOptions): { writer: ListWriter<Element> } {
  const view = readView(context, options, {
    columns: ['id', 'name', 'folder', 'data_store', 'updated_on'],
    setting: 'columns.images',
  });
  if (!options.urls) return { writer: openWriter(context, view, options) as ListWriter<Element> };
  if (options.columns !== undefined) {
    throw new ImgctlError('usage', '--urls and --columns contradict', { hint: 'give one of them' });
  }
  return {
    writer: createValueWriter('url', { ...sinkOptions(context), header: options.header !== false }),
  };
}

class Listing {
  shown = 0;
  readonly #context: Context;
  readonly #session: Session;
  readonly #plan: QueryPlan;
  readonly #options: ImagesListOptions;
  readonly #writer: ListWriter<Element>;
  readonly #progress: Progress;

  constructor(
    context: Context,
    session: Session,
    plan: QueryPlan,
    options: ImagesListOptions,
    writer: ListWriter<Element>,
    progress: Progress,
  ) {
    this.#context = context;
    this.#session = session;
    this.#plan = plan;
    this.#options = options;
    this.#writer = writer;
    this.#progress = progress;
  }

  /** Every matching image. @returns the last page's meta */
  async all(): Promise<Row> {
    const { filter, sort = 'id,asc' } = this.#plan.server;
    const local = { filter: this.#plan.filtersLocally, sort: this.#plan.sortsLocally };
    return this.#read({ filter, sort }, local, this.#plan.matches);
  }

  /** Exactly one page of the service. @returns its meta */
  async page(number: number): Promise<Row> {
    const query = { ...this.#plan.server, perPage: this.#options.perPage ?? LARGEST_PAGE };
    let expand = !this.#options.urls;
    let page = await this.#session.client.listImages({ ...query, expand }, number);
    const ignored = this.#ignored(page, query);
    if (ignored.filter && !expand) {
      expand = true;
      page = await this.#session.client.listImages({ ...query, expand }, number);
    }
    const rows = ignored.filter
      ? page.elements.filter((row) => this.#plan.matchesAll(row as Row))
      : page.elements;
    const sorted = ignored.sort && expand ? this.#plan.sort(rows as Row[]) : rows;
    await this.#write(sorted.slice(0, this.#options.limit));
    return page.meta;
  }

  async #read(
    server: { filter: string | undefined; sort: string },
    local: { filter: boolean; sort: boolean },
    matches: (image: Row) => boolean,
  ): Promise<Row> {
    const { limit, perPage = LARGEST_PAGE } = this.#options;
    const isLocal = local.filter || local.sort;
    const query: ImageQuery = {
      ...server,
      perPage: limit === undefined || isLocal ? perPage : Math.min(perPage, limit),
      expand: isLocal || !this.#options.urls,
    };
    // What the service leaves undone here can only be cut after it is done.
    const paging = {
      concurrency: this.#context.settings.number('concurrency'),
      limit: isLocal ? undefined : limit,
    };
    const streams = this.#context.format === 'ndjson' && !local.sort;
    const seen = new Set<unknown>();
    let kept: Element[] = [];
    let pass = 1;
    let count = 0;
    let meta: Row = {};
    for await (const page of this.#session.client.allImages(query, paging)) {
      if (page.pagesRead === 1 && page.pass === 1) {
        const ignored = this.#ignored(page, server);
        if ((ignored.filter && !local.filter) || (ignored.sort && !local.sort)) {
          const more = { filter: local.filter || ignored.filter, sort: local.sort || ignored.sort };
          return this.#read(server, more, ignored.filter ? this.#plan.matchesAll : matches);
        }
      }
      if (page.pass !== pass) {
        // Read anew: what was kept is superseded, what was written already cannot be taken back.
        pass = page.pass;
        kept = [];
        count = 0;
      }
      meta = page.meta;
      let found = local.filter ? page.elements.filter((row) => matches(row as Row)) : page.elements;
      if (limit !== undefined && !local.sort) found = found.slice(0, limit - count);
      count += found.length;
      this.#progress.update(`page ${page.pagesRead} of ${page.pagesKnown}, ${count} images`);
      if (streams) await this.#write(found.filter((row) => isFirst(seen, row)));
      else kept.push(...found);
      if (!local.sort && count === limit) break;
    }
    if (!streams) {
      const sorted = local.sort ? this.#plan.sort(kept as Row[]) : kept;
      await this.#write(sorted.slice(0, limit));
    }
    return meta;
  }

  /** What was asked of the service, but not echoed: it was not done, section 4.3 of service-api.md. */
  #ignored(
    page: Pick<ImagePage, 'meta'>,
    sent: { filter: string | undefined; sort: string | undefined },
  ): { filter: boolean; sort: boolean } {
    const filter = sent.filter !== undefined && page.meta.filter === undefined;
    // The order that only keeps pages apart is nothing that anybody asked for.
    const sort = this.#plan.server.sort !== undefined && page.meta.sort === undefined;
    if (filter || sort) {
      const what = filter && sort ? 'filter and sort' : filter ? 'filter' : 'sort';
      this.#context.warn(`the service did not confirm the ${what}; it is applied here`);
    }
    return { filter, sort };
  }

  async #write(elements: readonly Element[]): Promise<void> {
    this.shown += elements.length;
    const { baseUrl } = this.#session;
    const toUrl = (element: Element) =>
      typeof element === 'string' ? element : `${baseUrl}/v2/image/${element.id}`;
    await this.#writer.write(this.#options.urls ? elements.map(toUrl) : elements);
  }
}

function isFirst(seen: Set<unknown>, element: Element): boolean {
  const key = typeof element === 'string' ? element : (element.id ?? element);
  if (seen.has(key)) return false;
  seen.add(key);
  return true;
}
