// The public images: GET /v2/image, filtered, sorted and paged (section 4.3), and GET /v2/image/<id> (4.4).

import type { ImageAnswer, ImageList, ImageListMeta, Pages } from '../api/types.ts';
import type { CatalogIndex } from './catalog-index.ts';
import type { ApiRequest } from './request.ts';
import { type Answer, jsonAnswer, Refusal } from './responses.ts';

const DEFAULT_PER_PAGE = 10;
const MAXIMUM_PER_PAGE = 100;

/** One page of the catalogue: image URLs, or images with expand=1. */
export function listImages(catalog: CatalogIndex, request: ApiRequest, user: string): Answer {
  const { query, baseUrl, target } = request;
  const filter = singleValue(query, 'filter');
  const sort = singleValue(query, 'sort');
  const page = positiveInteger(query, 'page', Number.MAX_SAFE_INTEGER) ?? 1;
  const perPage = positiveInteger(query, 'per_page', MAXIMUM_PER_PAGE) ?? DEFAULT_PER_PAGE;
  const expanded = isExpanded(query);

  const found = catalog.find(filter, sort);
  const data = found
    .slice((page - 1) * perPage, page * perPage)
    .map(({ image }) => (expanded ? image : `${baseUrl}/v2/image/${image.id}`));
  const meta: ImageListMeta = {
    _link: { self: `${baseUrl}${target}` },
    count: data.length,
    pages: navigation(request, page, perPage, found.length),
    ...(filter === undefined ? {} : { filter }),
    ...(sort === undefined ? {} : { sort }),
    time: processingTime(request),
    user,
  };
  return jsonAnswer(200, { data, meta } satisfies ImageList);
}

/** One image of the catalogue, in the expanded form. */
export function getImage(
  catalog: CatalogIndex,
  request: ApiRequest,
  user: string,
  id: string,
): Answer {
  const data = catalog.get(id);
  if (data === undefined) throw new Refusal(404, `There is no image ${id}.`);
  const meta = { time: processingTime(request), user };
  return jsonAnswer(200, { data, meta } satisfies ImageAnswer);
}

/** Time since the request arrived, as meta.time shows it. */
export function processingTime({ started }: ApiRequest): string {
  return `${((performance.now() - started) / 1000).toFixed(6)}s`;
}

/**
 * meta.pages (section 2.4). An empty result has one page, an empty one. Past the last page `data` is empty,
 * there is no next page, and the page before is the last one.
 */
function navigation(request: ApiRequest, page: number, perPage: number, total: number): Pages {
  const pages = Math.max(1, Math.ceil(total / perPage));
  return {
    first_url: pageUrl(request, 1),
    last_url: pageUrl(request, pages),
    next_url: page < pages ? pageUrl(request, page + 1) : null,
    prev_url: page > 1 ? pageUrl(request, Math.min(page - 1, pages)) : null,
    page,
    pages,
    per_page: perPage,
    total,
  };
}

/** The same request for another page; all other parameters stay as they were sent, percent-encoded. */
function pageUrl({ baseUrl, path, query }: ApiRequest, page: number): string {
  const others = [...query].filter(([name]) => name !== 'page');
  const parameters = [...others, ['page', String(page)]].map((pair) =>
    pair.map(encodeURIComponent).join('='),
  );
  return `${baseUrl}${path}?${parameters.join('&')}`;
}

/** A parameter's value; 400 when it was sent twice, since one of the two would be ignored. */
function singleValue(query: URLSearchParams, name: string): string | undefined {
  const [value, ...more] = query.getAll(name);
  if (more.length > 0) throw new Refusal(400, `${name} was sent more than once.`);
  return value;
}

function positiveInteger(
  query: URLSearchParams,
  name: string,
  maximum: number,
): number | undefined {
  const text = singleValue(query, name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value <= maximum) return value;
  throw new Refusal(400, `${name} must be an integer from 1 to ${maximum}, not "${text}".`);
}

/** The contract knows expand=1; 0 is taken as "off", anything else refused. */
function isExpanded(query: URLSearchParams): boolean {
  const text = singleValue(query, 'expand') ?? '0';
  if (text === '0' || text === '1') return text === '1';
  throw new Refusal(400, `expand must be 1, not "${text}".`);
}
