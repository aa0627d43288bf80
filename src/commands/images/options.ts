// What the commands for images share: their columns, options and the query.

import { argument, GET_OPTION, option, type Parsed, settingOption } from '../../cli/declare.ts';
import { type Candidates, suggestWords, type Typing } from '../../cli/suggestions.ts';
import { duration, MAX_AGE, wholeNumber } from '../../config/values.ts';
import { type Column, column, namesOf } from '../../output/columns.ts';
import { DOCUMENT_FORMAT_LIST } from '../../output/formats.ts';
import { describeField, FIELDS, type Field, kindOf, nameOf } from '../../query/fields.ts';
import { OPERATORS, parseFilter } from '../../query/filter.ts';
import { readName } from '../../query/name.ts';
import { parseQuery, Query } from '../../query/query.ts';
import { DIRECTIONS, SORT_FIELDS } from '../../query/sort.ts';
import { counted } from '../../words.ts';
import { cachedFolders } from './image-names.ts';

const LOOKS: Partial<Record<Field, Partial<Column>>> = {
  id: { isId: true },
  data_store: { hides: 'first' },
  folder: { hides: 'second', distinguishes: 'name' },
  updated_on: { hides: 'if narrow' },
};

export const IMAGE_COLUMNS = [
  ...FIELDS.map((field) =>
    column(field, ...describeField(field), { isTime: kindOf(field) === 'time', ...LOOKS[field] }),
  ),
  column('version', 'string or null', 'the versions of its name', {
    needs: '-c or --get',
    value: (image) => readName(nameOf(image)).versionText || null,
  }),
];

export const WORDS = argument('text', 'show only images whose name matches every word', {
  variadic: true,
});

/** Of every command that prints images. */
export const IMAGE_TABLE_OPTIONS = [
  option('--no-header', 'omit the header line'),
  option('--no-trunc', 'show tables in full'),
  settingOption('--time <style>', 'time', 'format of timestamps: raw, iso, local or age'),
] as const;

/** Of commands that print whole images: list, my-images, get and latest. */
export const VIEW_OPTIONS = [
  option('-c, --columns <a,b>', 'fields to show, such as id,path (or all)', {
    listed: namesOf(IMAGE_COLUMNS),
    repeatable: true,
  }),
  option(GET_OPTION.flags, GET_OPTION.description, {
    suggested: namesOf(IMAGE_COLUMNS),
    conflicts: ['columns', 'urls', 'meta'],
  }),
  ...IMAGE_TABLE_OPTIONS,
] as const;

function suggestFilters(typing: Typing): Candidates {
  const { typed } = typing;
  if (typed.startsWith('folder=')) return suggestWords(cachedFolders(typing), 'folder=');
  const [field = '', operator, ...values] = typed.split(',');
  if (operator === undefined) return suggestWords(FIELDS, '', ',');
  if (values.length === 0) return suggestWords(OPERATORS, `${field},`, ',');
  // `folder,in,linux,` goes on with another value.
  const complete = operator === 'in' ? values.slice(0, -1) : [];
  const before = [field, operator, ...complete, ''].join(',');
  return suggestWords(field === 'folder' ? cachedFolders(typing) : [], before);
}

function suggestSorts({ typed }: Typing): Candidates {
  return typed.includes(',')
    ? suggestWords(DIRECTIONS, typed.slice(0, typed.indexOf(',') + 1))
    : suggestWords(SORT_FIELDS, '', ',');
}

export const FILTER_OPTION = option(
  '-f, --filter <filter>',
  "show only images that match, such as 'name~ubuntu'; repeatable, all must match",
  { suggest: suggestFilters, repeatable: true },
);

/** The filter of commands that choose one of the images. */
export const CHOOSING_FILTER = {
  ...FILTER_OPTION,
  description: "consider only images that match, such as 'name~ubuntu'; repeatable, all must match",
};

/** Of images list and my-images. */
export const LISTING_OPTIONS = [
  FILTER_OPTION,
  option(
    '-s, --sort <field,direction>',
    'sort by this field, asc or desc (name:version puts 8.10 after 8.9); repeatable',
    { suggest: suggestSorts, repeatable: true },
  ),
  option('--since <time>', 'show only images updated since, such as 7d or 2026-11-01'),
  option('-n, --limit <n>', 'show at most n images', { value: wholeNumber(1) }),
  option('--fail-empty', 'exit with 5 if nothing matches'),
  option('--meta', `in ${DOCUMENT_FORMAT_LIST}, print {"data": [...], "meta": {...}}`),
  ...VIEW_OPTIONS,
] as const;

/** The columns that lists and records of images show in a table. */
export const SHOWN_FIELDS: readonly Field[] = ['id', 'name', 'folder', 'updated_on'];

export type ListingOptions = Parsed<typeof LISTING_OPTIONS>;

export function readQuery(
  words: readonly string[],
  options: Pick<ListingOptions, 'filter' | 'sort' | 'since'>,
  now: number,
): Query {
  const { filter: filters = [], sort: sorts = [] } = options;
  const typed = parseQuery({ words, filters, sorts }, now);
  if (options.since === undefined) return typed;
  const since = parseFilter(`updated_on>=${options.since}`, now, '--since');
  return new Query({ ...typed, filters: [...typed.filters, since] });
}

/**
 * Returns `250 images`, or with a limit that is reached `5 of 31 images (--limit)`.
 * @param total of all that match, if known
 */
export function describeCount(count: number, { limit }: ListingOptions, total?: number): string {
  const isCut = limit !== undefined && count >= limit && count !== total;
  if (!isCut) return counted(count, 'image');
  const images = counted(total ?? count, 'image');
  return total === undefined ? `${images} (--limit)` : `${count} of ${images} (--limit)`;
}

/** Of commands that can read a snapshot instead of the service. */
export const CATALOGUE_OPTIONS = [
  option('--from <file>', 'read this snapshot instead of the service', {
    from: 'files',
    conflicts: ['page', 'perPage'],
  }),
  option('--max-age <duration>', 'maximum age of the snapshot, such as 12h', {
    value: duration(MAX_AGE),
  }),
] as const;

export const MINE_OPTION = option('--mine', 'read your own images', {
  conflicts: ['from', 'maxAge', 'page', 'perPage', 'urls', 'lock', 'sinceFile'],
});

export type CatalogueOptions = Parsed<typeof CATALOGUE_OPTIONS> & {
  readonly mine?: boolean | undefined;
};

export function isPublic({ from, mine = false }: CatalogueOptions): boolean {
  return from === undefined && !mine;
}
