// The resources of the API and the handler of each method (section 4).

import type { Image, ImageListMeta, Pages } from '../api/types.ts';
import { tryOr } from '../errors.ts';
import { type Filter, type Operator, parseFilter } from '../query/filter.ts';
import { filterPredicate } from '../query/filter-predicate.ts';
import {
  BY_ID,
  type FieldSort,
  isFieldSort,
  parseSort,
  printSort,
  sortImages,
} from '../query/sort.ts';
import { type AccessTokens, TOKEN_PATH } from './access-tokens.ts';
import { type ApiRequest, type ApiResponse, HttpError, jsonResponse } from './api-request.ts';
import type { ImageSync } from './image-sync.ts';
import { sampleImages } from './sample-images.ts';
import type { EmulatorSettings } from './settings.ts';

const DEFAULT_PER_PAGE = 10;
const MAX_PER_PAGE = 100;

interface Call {
  readonly settings: EmulatorSettings;
  readonly tokens: AccessTokens;
  readonly sync: ImageSync;
  readonly images: readonly Image[];
  readonly request: ApiRequest;
  readonly user: string;
  /** The group that the resource's pattern captured, or empty. */
  readonly id: string;
}

type Methods = Readonly<Record<string, (call: Call) => ApiResponse>>;

const RESOURCES = Object.entries<Methods>({
  [TOKEN_PATH]: { POST: ({ tokens, request }) => tokens.requestToken(request) },
  '/v2': { GET: showService },
  '/v2/image': { GET: serveImages },
  '/v2/image/([^/]+)': { GET: serveImage },
  '/v2/user/image/vm': { GET: serveUserImages, PATCH: acceptSync },
  '/v2/request/image_sync/([^/]+)': { GET: serveSyncRequest },
}).map(([path, methods]) => [new RegExp(`^${path}$`), methods] as const);

/** Returns the function that serves the API. Any error but HttpError is a defect. */
export function createRouter(settings: EmulatorSettings, tokens: AccessTokens, sync: ImageSync) {
  const { catalogue, seed, until, now } = settings;
  // The images of a snapshot may lack fields.
  const images: readonly Image[] =
    catalogue === undefined
      ? sampleImages(settings.images, seed, until ?? now())
      : (catalogue as Image[]).toSorted((left, right) => idOf(left) - idOf(right));
  const shared = { settings, tokens, sync, images };

  return (request: ApiRequest): ApiResponse => {
    const { method, path } = request;
    const [pattern, methods] = RESOURCES.find(([known]) => known.test(path)) ?? [];
    if (methods === undefined) throw new HttpError(404, 'There is nothing at this address.');
    const names = Object.keys(methods).flatMap((name) => (name === 'GET' ? ['GET', 'HEAD'] : name));
    // Every response of a resource, even an error, lists its methods (section 7).
    const headers = { Allow: [...names, 'OPTIONS'].join(', ') };
    if (method === 'OPTIONS') return { status: 204, headers };
    try {
      const handle = methods[method === 'HEAD' ? 'GET' : method];
      if (!handle) throw new HttpError(405, `The method ${method} is not allowed here.`);
      const user = path === TOKEN_PATH ? '' : tokens.authenticate(request);
      const response = handle({ ...shared, request, user, id: pattern?.exec(path)?.[1] ?? '' });
      return { ...response, headers: { ...headers, ...response.headers } };
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      throw new HttpError(error.status, error.message, { ...headers, ...error.headers });
    }
  };
}

// Section 4.7 leaves open whether paging, filter and sort work here: the parameters have no effect.
function serveUserImages({ sync, request, user }: Call): ApiResponse {
  const data = sync.images(user);
  const image = `${request.baseUrl}/v2/user/image`;
  const list = {
    _links: { image, self: `${image}/vm` },
    data,
    meta: { count: data.length, time: processingTime(request), user },
  };
  return jsonResponse(200, list);
}

function acceptSync({ settings, sync, request, user }: Call): ApiResponse {
  const { id, status, task_id } = sync.submit(user);
  const url = `${request.baseUrl}/v2/request/image_sync/${id}`;
  settings.log(`mail to ${user}: image sync request ${id} was received; follow it at ${url}`);
  const body = {
    status: 202,
    message: 'The image sync request was received.',
    request: { id, status, task_id },
    _links: { request: url },
  };
  return jsonResponse(202, body, { Location: url });
}

function serveSyncRequest({ sync, user, id }: Call): ApiResponse {
  const data = sync.get(user, id);
  if (data === undefined) throw new HttpError(404, `There is no image sync request ${id}.`);
  return jsonResponse(200, { data });
}

function serveImage({ images, request, user, id }: Call): ApiResponse {
  const data = images.find((image) => String(image.id) === id);
  if (data === undefined) throw new HttpError(404, `There is no image ${id}.`);
  const meta = { time: processingTime(request), user };
  return jsonResponse(200, { data, meta });
}

/** GET /v2/image with filter, sort and paging (section 4.3). */
function serveImages({ images, request, user }: Call): ApiResponse {
  const { query, baseUrl, target } = request;
  const filter = singleValue(query, 'filter');
  const sort = singleValue(query, 'sort');
  const page = positiveInteger(query, 'page', Number.MAX_SAFE_INTEGER) ?? 1;
  const perPage = positiveInteger(query, 'per_page', MAX_PER_PAGE) ?? DEFAULT_PER_PAGE;
  const expanded = singleValue(query, 'expand') === '1';

  const place = [(page - 1) * perPage, page * perPage] as const;
  const { found, total } = findImages(images, { filter, sort }, place);
  const data = found.map((image) => (expanded ? image : `${baseUrl}/v2/image/${image.id}`));
  const meta: ImageListMeta = {
    _link: { self: `${baseUrl}${target}` },
    count: data.length,
    pages: pageLinks(request, page, perPage, total),
    ...(filter === undefined ? {} : { filter }),
    ...(sort === undefined ? {} : { sort }),
    time: processingTime(request),
    user,
  };
  return jsonResponse(200, { data, meta });
}

/** GET /v2, section 4.2, which leaves its body open. */
function showService({ request: { baseUrl }, user }: Call): ApiResponse {
  const name = 'Image Deployment Service (emulator)';
  return jsonResponse(200, { name, version: 'v2', user, _links: { self: `${baseUrl}/v2` } });
}

function processingTime({ elapsed }: ApiRequest): string {
  return `${(elapsed() / 1000).toFixed(6)}s`;
}

/** Builds meta.pages. An empty result has one page; past the end, prev_url is the last page. */
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

/** Returns a parameter's value. @throws HttpError 400: it is repeated */
function singleValue(query: URLSearchParams, name: string): string | undefined {
  const [value, ...more] = query.getAll(name);
  if (more.length > 0) throw new HttpError(400, `${name} was sent more than once.`);
  return value;
}

function positiveInteger(query: URLSearchParams, name: string, maximum: number) {
  const text = singleValue(query, name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value <= maximum) return value;
  throw new HttpError(400, `${name} must be an integer from 1 to ${maximum}, not "${text}".`);
}

// Filter and sort of the image list (section 4.3), evaluated by query/. What that leaves open:
// - Fields, operators and directions are as the section writes them; anything else gets 400.
// - So does a value that is no number, boolean or time of the service, as its field needs it.
// - `in` splits its value at every comma, and `null` means a missing value for the folder only.
// - A sort puts null first; equal images stay in the order of the catalogue.

/**
 * Returns the matching images from place `start` to before `end`, and how many match in all.
 * @param images in the order of ids @throws HttpError 400
 */
export function findImages(
  images: readonly Image[],
  query: { readonly filter?: string | undefined; readonly sort?: string | undefined },
  [start, end]: readonly [number, number] = [0, Number.POSITIVE_INFINITY],
): { readonly found: readonly Image[]; readonly total: number } {
  const key = query.sort === undefined ? BY_ASCENDING_ID : readSort(query.sort);
  const matching = query.filter === undefined ? images : select(images, readFilter(query.filter));
  const total = matching.length;
  if (key.field !== 'id') return { found: sortImages(matching, [key]).slice(start, end), total };
  if (key.direction === 'asc') return { found: matching.slice(start, end), total };
  const found = matching.slice(Math.max(0, total - end), Math.max(0, total - start)).reverse();
  return { found, total };
}

/** Returns the images that match; those of a range of ids without a look at each. */
function select(images: readonly Image[], filter: Filter): readonly Image[] {
  const range = idRange(filter);
  if (range === undefined) return images.filter(filterPredicate(filter));
  const [first, end] = range;
  return images.slice(countBelow(images, first), countBelow(images, end));
}

const BY_ASCENDING_ID: FieldSort = { ...BY_ID, direction: 'asc' };

/** Returns the ids that match, as a range without its end; undefined if they are no range. */
function idRange({ field, operator, operands }: Filter): readonly [number, number] | undefined {
  const id = Number(operands[0]?.value);
  const ranges: { readonly [Word in Operator]?: readonly [number, number] } = {
    lt: [Number.MIN_SAFE_INTEGER, id],
    le: [Number.MIN_SAFE_INTEGER, id + 1],
    gt: [id + 1, Number.POSITIVE_INFINITY],
    ge: [id, Number.POSITIVE_INFINITY],
  };
  return field === 'id' ? ranges[operator] : undefined;
}

function countBelow(images: readonly Image[], id: number): number {
  const index = images.findIndex((image) => idOf(image) >= id);
  return index < 0 ? images.length : index;
}

/** An image without a number as its id comes first, as null does, and is in no range. */
function idOf({ id }: Partial<Image>): number {
  const value = Number(id ?? Number.NaN);
  return Number.isSafeInteger(value) ? value : Number.NEGATIVE_INFINITY;
}

/** Parses `<field_name>,<operator>,<value>`, and refuses the shorter forms of imgctl. */
function readFilter(text: string): Filter {
  const filter = tryOr(() => parseFilter(text, 0), undefined);
  const { field, operator, operands = [] } = filter ?? {};
  const isExact = [field, operator, ...operands.map((each) => each.text)].join(',') === text;
  const isValid = operands.every(
    ({ value, span }) =>
      (value !== null || field === 'folder') && !(span?.dependsOn ?? span?.start.unknownZone),
  );
  if (filter && isExact && isValid && operator !== 'notlike') return filter;
  throw new HttpError(400, `Wrong filter "${text}"; expected <field_name>,<operator>,<value>.`);
}

function readSort(text: string) {
  const key = tryOr(() => parseSort(text), undefined);
  if (key && isFieldSort(key) && printSort(key) === text) return key;
  throw new HttpError(400, `Wrong sort "${text}"; expected <field_name>,<asc|desc>.`);
}
