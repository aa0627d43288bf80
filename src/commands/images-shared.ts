// What the commands for images share: options, the query, the view, and reading images with progress.

import path from 'node:path';
import type { ReceivedImage } from '../api/types.ts';
import {
  type Batch,
  type CatalogueObserver,
  type CatalogueQuery,
  listCatalogue,
  readCataloguePage,
} from '../catalogue/listing.ts';
import { parseLines, parseSnapshot } from '../catalogue/snapshot.ts';
import type {
  ArgumentDeclaration,
  FieldDeclaration,
  OptionDeclaration,
} from '../cli/declarations.ts';
import { type GetOptions, readGet, timesOf } from '../cli/printing.ts';
import { GET_OPTION, option } from '../cli/spec.ts';
import type { Context } from '../context.ts';
import { describeDuration } from '../duration.ts';
import { hasCode, ImgctlError, valueOr } from '../errors.ts';
import { readTextFile } from '../files/atomic-file.ts';
import { counted, shellQuote } from '../output/messages.ts';
import { FIELDS, type Field, resolveField, TIME_FIELDS } from '../query/fields.ts';
import { patternHint } from '../query/filter.ts';
import { planQuery, type QueryPlan } from '../query/plan.ts';
import { incompatible } from '../query/suggest.ts';
import { parseTimeValue, TIME_STYLES, type TimeStyle } from '../query/timestamp.ts';
import { MAX_AGE, parseDuration, type SettingKey } from '../session/setting-table.ts';

export const WORDS: ArgumentDeclaration = {
  name: 'text',
  description: 'show only images whose name contains every word',
  variadic: true,
};

export const TABLE_OPTIONS: readonly OptionDeclaration[] = [
  option('--no-header', 'omit the header line of tables, csv and tsv'),
  option('--no-trunc', 'show tables in full, even if the terminal is too narrow'),
  option(
    '--time <style>',
    'format of timestamps: raw or iso; in tables also local (default) or age',
    { value: { kind: 'choice', noun: 'time style', words: TIME_STYLES, alias: ['wire', 'raw'] } },
  ),
];

export const VIEW_OPTIONS: readonly OptionDeclaration[] = [
  option('-c, --columns <a,b>', `fields to show, in this order (or all): ${FIELDS.join(', ')}`, {
    value: { kind: 'text', from: 'columns' },
  }),
  {
    ...GET_OPTION,
    value: { kind: 'text', suggested: FIELDS },
    conflicts: ['columns', 'urls', 'meta'],
  },
  ...TABLE_OPTIONS,
];

export const FILTER_OPTION = option(
  '-f, --filter <filter>',
  "show only images that match, such as 'name~ubuntu', 'id>=1100' or folder,in,a,b; repeatable, all must match",
  { value: { kind: 'text', from: 'filters' }, repeatable: true },
);

/** For commands that choose among the images. */
export const CHOOSING_FILTER = {
  ...FILTER_OPTION,
  description: FILTER_OPTION.description.replace('show', 'consider'),
};

export const LISTING_OPTIONS: readonly OptionDeclaration[] = [
  FILTER_OPTION,
  option(
    '-s, --sort <field,direction>',
    'sort by this field, asc or desc (name:version puts 8.10 after 8.9); repeatable, most significant first',
    { value: { kind: 'text', from: 'sorts' }, repeatable: true },
  ),
  option(
    '--since <time>',
    'show only images updated since then: 7d (seven days ago), 2026-11-01 or 2026-11-01T12:00:00Z',
  ),
  option('-n, --limit <n>', 'show at most n images', { value: { kind: 'number', min: 1 } }),
  option('--fail-empty', 'exit with 5 if nothing matches'),
  option('--meta', 'in json and yaml, print {"data": [...], "meta": {...}}'),
  ...VIEW_OPTIONS,
];

/** The fields of an image, as the service names them. */
export const IMAGE_FIELDS: readonly FieldDeclaration[] = [
  ['id', 'number', 'identifier of the image'],
  ['name', 'string', 'file name of the OVA or OVF'],
  ['path', 'string', '[data store] folder/file name'],
  ['label', 'string', 'folder/file name, or the file name alone'],
  ['folder', 'string or null', 'folder in the data store'],
  ['data_store', 'string', 'data store that holds the file'],
  ['public', 'boolean', 'true in the public catalogue, false for your own images'],
  ['created_on', 'string', 'when it was added, as the service writes it'],
  ['updated_on', 'string', 'when it was last updated, as the service writes it'],
];

/** Returns the declarations of some of these fields. */
export function imageFields(...names: readonly Field[]): FieldDeclaration[] {
  return IMAGE_FIELDS.filter(([name]) => names.some((each) => each === name));
}

export interface ListingOptions extends ViewOptions {
  filter?: string[];
  sort?: string[];
  since?: string;
  limit?: number;
  failEmpty?: boolean;
  meta?: boolean;
}

export interface ViewOptions extends GetOptions {
  columns?: string;
  header?: boolean;
  time?: TimeStyle;
  trunc?: boolean;
}

export function readQuery(context: Context, words: readonly string[], options: ListingOptions) {
  const { filter = [], sort: sorts = [], since } = options;
  const now = context.io.now();
  const recent = since === undefined ? [] : [`updated_on,ge,${parseSince(since, now)}`];
  return planQuery({ words, filters: [...filter, ...recent], sorts }, { now });
}

/** Returns the time of --since: this long ago, or a date or time. @throws ImgctlError usage */
function parseSince(text: string, now: number): string {
  const instant =
    parseTimeValue(text, now) ?? valueOr(() => now - parseDuration(text, '', MAX_AGE), undefined);
  if (instant !== undefined) return new Date(instant).toISOString();
  throw new ImgctlError('usage', `invalid --since: ${text}`, {
    hint: 'use a duration such as 7d, or a date such as 2026-11-01',
  });
}

/**
 * Reads columns and time style from options, then settings, then the command's defaults.
 * @param setting replaces the columns
 */
export function readView(
  context: Context,
  options: ListingOptions,
  columns: readonly Field[],
  setting?: SettingKey,
) {
  const { format, quiet, settings } = context;
  if (options.meta && format !== 'json' && format !== 'yaml') {
    throw new ImgctlError('usage', `--meta cannot be used with the format ${format}`, {
      hint: 'add -o json or -o yaml, or omit --meta',
    });
  }
  if (quiet && options.columns !== undefined) throw incompatible('--quiet', '--columns');
  const get = readGet(context, options, FIELDS);
  const stored = setting && settings.text(setting);
  const [names, where] =
    options.columns === undefined ? [stored, `setting ${setting}`] : [options.columns, '--columns'];
  return {
    get,
    columns: names === undefined ? columns : readColumns(names, where),
    // Without --columns JSON and YAML show every field.
    allFields: options.columns === undefined,
    header: options.header !== false,
    trunc: options.trunc,
    times: timesOf(context, TIME_FIELDS, get, options.time),
  };
}

export function readColumns(text: string, where: string): readonly Field[] {
  if (text.trim().toLowerCase() === 'all') return FIELDS;
  return text.split(',').map((name) => resolveField(name.trim(), `${where} '${text}'`));
}

/** Returns `250 images` or `5 of 31 images (--limit)`. @param total of all that match, if known */
export function describeCount(count: number, { limit }: ListingOptions, total?: number): string {
  if (limit === undefined || count < limit || count === total) return counted(count, 'image');
  const shown = total === undefined ? '' : `${count} of `;
  return `${shown}${counted(total ?? count, 'image')} (--limit)`;
}

/** Prints a note for an empty result of a query. @throws ImgctlError empty, with --fail-empty */
export function reportNoMatch(
  context: Context,
  command: string,
  options: ListingOptions,
  words: readonly string[],
): void {
  const hint = slipHint(command, options, words) ?? patternHint(options.filter ?? [], words);
  // A wrong pattern is worth a note beside data as well.
  reportEmpty(context, options, 'no images match', hint, hint !== undefined);
}

/** Returns a hint for words with a comma or -f forgotten before them, or with quotes around several. */
function slipHint(
  command: string,
  { columns, sort }: ListingOptions,
  words: readonly string[],
): string | undefined {
  const isField = (text = '') => FIELDS.some((field) => field === text.toLowerCase());
  const filter = words.find((word) => isField(/^(\w+) ?[=!<>~]/.exec(word)?.[1]));
  if (filter) return `did you mean -f ${shellQuote(filter)}?`;
  const fields = words.filter(isField);
  if (columns !== undefined && fields.length > 0) {
    return `${fields[0]} is a field: did you mean -c ${[columns, ...fields].join(',')}?`;
  }
  const direction = words.find((word) => /^(asc|desc)$/i.test(word));
  if (sort && direction) return `did you mean --sort ${sort.at(-1)},${direction}?`;
  if (!words.some((word) => /\s/.test(word.trim()))) return undefined;
  const all = words.flatMap((word) => word.trim().split(/\s+/));
  return `to match each word separately, omit the quotes: ${[command, ...all.map(shellQuote)].join(' ')}`;
}

/**
 * Prints a note for an empty result: in a table; with `always`, in every format.
 * @throws ImgctlError empty, with --fail-empty
 */
export function reportEmpty(
  context: Context,
  options: ListingOptions,
  message: string,
  hint?: string,
  always = false,
): void {
  if (options.failEmpty) throw new ImgctlError('empty', message, { hint });
  if (always || context.format === 'table') context.console.note(message, hint);
}

/** Reads a saved catalogue instead of the service. */
export const SOURCE_OPTIONS: readonly OptionDeclaration[] = [
  option('--from <file>', 'read this snapshot instead of the service; needs no login', {
    value: { kind: 'text', from: 'files' },
    conflicts: ['page', 'perPage'],
  }),
  option('--max-age <duration>', 'fail if the snapshot is older than this, such as 12h', {
    value: { kind: 'duration', isAge: true },
  }),
];

export interface SourceOptions {
  from?: string;
  maxAge?: number;
}

interface SourceQuery extends Omit<CatalogueQuery, 'concurrency'> {
  /** Not for a snapshot. */
  readonly page?: number | undefined;
}

export interface Source {
  readonly baseUrl: string;
  /** Yields every image that matches, or those of one page. */
  list(query: SourceQuery, observer: CatalogueObserver): AsyncIterable<Batch>;
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
    async *list({ page, ...query }, observer) {
      if (page === undefined) yield* listCatalogue(client, { ...query, concurrency }, observer);
      else yield readCataloguePage(client, query, page, observer);
    },
    getImage: (id) =>
      client.getImage(id).catch((error: unknown) => {
        if (!hasCode(error, 'not-found')) throw error;
        return undefined;
      }),
  };
}

/** The clocks of two machines may differ by this much. */
const CLOCK_SKEW = 5 * 60_000;

async function openSnapshot(context: Context, name: string, maxAge?: number): Promise<Source> {
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
  // Not for cron, which mails what a job writes.
  if (context.io.stderr.isTTY) context.console.note(message);
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
  const foreign = 'save one in another file: imgctl images snapshot FILE';
  const file = { what: `the snapshot ${name}`, hint: saveCommand(name), foreign };
  const text = await readTextFile(path.resolve(io.cwd, name), file.what, io);
  if (text === undefined) {
    throw new ImgctlError('config', `${file.what} does not exist`, { hint: file.hint });
  }
  const snapshot = parseSnapshot(text, file);
  return { ...snapshot, file, images: () => parseLines(snapshot.lines, file) };
}

/** Yields every image that matches, page by page, with warnings and, unless `quiet`, a progress line. */
export async function* readBatches(
  { console }: Context,
  source: Source,
  query: SourceQuery,
  quiet = false,
): AsyncGenerator<Batch, void, void> {
  const progress = console.startProgress({ lines: false, quiet });
  progress.update('reading the catalogue');
  yield* source.list(query, {
    warn: console.warn,
    progress: (text) => progress.update(text),
  });
  await progress.stop();
}

export async function* readAll(context: Context, source: Source, plan: QueryPlan) {
  for await (const { images } of readBatches(context, source, { plan, streams: true }))
    yield images;
}

/** Returns the command that lists what contains the words as text. */
export function listCommand(words: readonly string[], filters: readonly string[] = []): string {
  const options = filters.flatMap((filter) => ['-f', filter]);
  // A word may begin with a dash.
  const separator = words.some((word) => word.startsWith('-')) ? ['--'] : [];
  const all = ['imgctl', 'images', 'list', ...options, ...separator, ...words];
  return all.map(shellQuote).join(' ');
}

function saveCommand(name: string): string {
  return `save a new one with: imgctl images snapshot ${shellQuote(name)}`;
}
