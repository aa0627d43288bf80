// Public images: GET /v2/image with filter, sort and paging (section 4.3) and GET /v2/image/<id> (4.4).

import type { ImageList, ImageListMeta, ImageResponse, Pages } from '../api/types.ts';
import type { CatalogIndex } from './catalog-index.ts';
import type { ApiRequest } from './request.ts';
import { type ApiResponse, HttpError, jsonResponse } from './responses.ts';

const DEFAULT_PER_PAGE = 10;
const MAX_PER_PAGE = 100;

export function imageListResponse(
  catalog: CatalogIndex,
  request: ApiRequest,
  user: string,
): ApiResponse {
  const { query, baseUrl, target } = request;
  const filter = singleValue(query, 'filter');
  const sort = singleValue(query, 'sort');
  const page = positiveInteger(query, 'page', Number.MAX_SAFE_INTEGER) ?? 1;
  const perPage = positiveInteger(query, 'per_page', MAX_PER_PAGE) ?? DEFAULT_PER_PAGE;
  const expanded = isExpanded(query);

  const found = catalog.find(filter, sort);
  const data = found
    .slice((page - 1) * perPage, page * perPage)
    .map(({ image }) => (expanded ? image : `${baseUrl}/v2/image/${image.id}`));
  const meta: ImageListMeta = {
    _link: { self: `${baseUrl}${target}` },
    count: data.length,
    pages: pageLinks(request, page, perPage, found.length),
    ...(filter === undefined ? {} : { filter }),
    ...(sort === undefined ? {} : { sort }),
    time: processingTime(request),
    user,
  };
  return jsonResponse(200, { data, meta } satisfies ImageList);
}

export function imageResponse(
  catalog: CatalogIndex,
  request: ApiRequest,
  user: string,
  id: string,
): ApiResponse {
  const data = catalog.get(id);
  if (data === undefined) throw new HttpError(404, `There is no image ${id}.`);
  const meta = { time: processingTime(request), user };
  return jsonResponse(200, { data, meta } satisfies ImageResponse);
}

export function processingTime({ elapsed }: ApiRequest): string {
  return `${(elapsed() / 1000).toFixed(6)}s`;
}

/** Builds meta.pages (section 2.4). An empty result has one page; past the end, prev_url is the last page. */
function pageLinks(request: ApiRequest, page: number, perPage: number, total: number): Pages {
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

function pageUrl({ baseUrl, path, query }: ApiRequest, page: number): string {
  const others = [...query].filter(([name]) => name !== 'page');
  const parameters = [...others, ['page', String(page)]].map((pair) =>
    pair.map(encodeURIComponent).join('='),
  );
  return `${baseUrl}${path}?${parameters.join('&')}`;
}

/** Returns a parameter's value; throws 400 for a repeated one, as one of the two would be ignored. */
function singleValue(query: URLSearchParams, name: string): string | undefined {
  const [value, ...more] = query.getAll(name);
  if (more.length > 0) throw new HttpError(400, `${name} was sent more than once.`);
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
  throw new HttpError(400, `${name} must be an integer from 1 to ${maximum}, not "${text}".`);
}

/** The contract knows only expand=1; 0 means off. */
function isExpanded(query: URLSearchParams): boolean {
  const text = singleValue(query, 'expand') ?? '0';
  if (text === '0' || text === '1') return text === '1';
  throw new HttpError(400, `expand must be 1, not "${text}".`);
}
