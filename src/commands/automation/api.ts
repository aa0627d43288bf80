// imgctl api: sends a raw authenticated request to the service.

import { MAX_PAGES } from '../../api/images.ts';
import { statusError } from '../../api/responses.ts';
import { argument, command, option, type Parsed, SERVICE_CODES } from '../../cli/declare.ts';
import type { Context } from '../../context.ts';
import { hasCode, ImgctlError } from '../../errors.ts';
import { hint, setting } from '../../facts.ts';
import { type HttpResponse, isSuccess } from '../../http/message.ts';
import { isSafeMethod } from '../../http/retry.ts';
import { resolveUrl } from '../../http/url.ts';
import { isObject, parseJson } from '../../json.ts';
import { printable } from '../../output/text.ts';

const METHODS = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'];
const PATHS = ['/v2', '/v2/image', '/v2/user/image/vm', '/v2/request/image_sync/'];

const OPTIONS = [
  option('-X, --method <method>', 'HTTP method', { default: 'GET', suggested: METHODS }),
  option('-f, --field <key=value>', 'query parameter; repeatable', { repeatable: true }),
  option('-i, --include', 'also print status and headers'),
  option('--paginate', 'follow meta.pages.next_url and print every page'),
  option('--slurp', 'print one JSON array of the pages; implies --paginate', {
    conflicts: ['include'],
    implies: { paginate: true },
  }),
] as const;

type Options = Parsed<typeof OPTIONS>;

export const api = command({
  name: 'api',
  summary: 'send an authenticated request to the service',
  description: [
    'Prints the body as received, but masks secrets in error responses and escapes control characters on a terminal. Each error, and with --paginate each page, ends with a newline. With --slurp, the pages are one JSON array; if a page fails, the array is not closed. A request that may have changed something is not repeated.',
  ],
  examples: [
    'imgctl api /v2/image -f per_page=5 -f expand=1',
    'imgctl api /v2/user/image/vm -X PATCH -i',
    "imgctl api /v2/image --paginate --slurp | jq '[.[].data[]] | length'",
  ],
  seeAlso: ['token'],
  arguments: [
    argument('path', 'path below the base URL, such as /v2/image, or a URL of the same origin', {
      required: true,
      suggested: PATHS,
    }),
  ],
  exitCodes: SERVICE_CODES,
  options: OPTIONS,
  run,
});

async function run(context: Context, options: Options, path: string): Promise<void> {
  if (path.trim() === '') {
    const facts = 'provide one, such as /v2/image';
    throw new ImgctlError('usage', 'the path must not be empty', { facts });
  }
  const method = parseMethod(options);
  const fields = (options.field ?? []).map(parseField);
  const { client, account } = await context.session();
  const url = resolveUrl(new URL(account.baseUrl), path);
  for (const [key, value] of fields) url.searchParams.append(key, value);
  const visited = new Set<string>();
  let next: URL | undefined = url;
  while (next) {
    visited.add(next.search);
    const response: HttpResponse = await client.send({ method, path: next.href });
    await print(context, response, options, visited.size === 1).catch((error: unknown) => {
      if (isSafeMethod(method) || !hasCode(error, 'failed')) throw error;
      const { pathname } = response.url;
      throw error.with({
        facts: `${method} ${pathname} was sent; its status is ${response.status}`,
      });
    });
    if (!isSuccess(response)) throw errorOf(response);
    next = options.paginate ? nextPage(response, visited) : undefined;
  }
  if (options.slurp) await context.console.print(']\n');
}

/** @throws ImgctlError usage */
function parseMethod({ method: text, paginate }: Options): string {
  const method = text.toUpperCase();
  if (!/^(?!CONNECT$|TRACE$)[A-Z]{1,20}$/.test(method)) {
    const message = `invalid --method: ${method}`;
    throw new ImgctlError('usage', message, { facts: 'use GET, POST, PUT or PATCH' });
  }
  if (!paginate || method === 'GET') return method;
  const message = `--paginate works only with GET (got ${method})`;
  throw new ImgctlError('usage', message, { facts: `omit --paginate or --method ${method}` });
}

/** @throws ImgctlError usage */
function parseField(text: string): readonly [key: string, value: string] {
  const [, key, value] = /^([^=]+)=(.*)/s.exec(text) ?? [];
  if (key !== undefined && value !== undefined) return [key, value];
  const message = `--field must be key=value (got ${text})`;
  throw new ImgctlError('usage', message, { facts: 'use a parameter such as -f per_page=5' });
}

function errorOf(response: HttpResponse): ImgctlError {
  const error = statusError(response);
  if (error.code !== 'not-found') return error;
  return error.with({
    facts: hint`check the path, and the base URL: ${setting('get', 'base-url')}`,
  });
}

function print(context: Context, response: HttpResponse, options: Options, isFirst: boolean) {
  return options.slurp && isSuccess(response)
    ? printElement(context, response, isFirst)
    : printResponse(context, response, options);
}

async function printElement(
  { console, io }: Context,
  { body, url }: HttpResponse,
  isFirst: boolean,
): Promise<void> {
  const { text, excess } = parseJson(body);
  if (text === undefined) {
    const reason = excess ?? 'it is not JSON';
    throw new ImgctlError('bad-answer', `cannot add ${url.pathname} to the array: ${reason}`, {
      facts: 'omit --slurp to print the bytes of each response',
    });
  }
  await console.print(isFirst ? '[' : ',\n');
  await console.print(io.stdout.isTTY ? printableLines(text.trim()) : text.trim());
}

/** Control characters from the service must not reach a terminal. */
function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

/** Redaction takes time: of a larger error body only this much is printed. */
const MAX_ERROR_BYTES = 2 ** 20;

async function printResponse({ console, io }: Context, response: HttpResponse, options: Options) {
  const isError = !isSuccess(response);
  // An error response may repeat the token and often ends in a log.
  const redact = (text: string) => (isError ? console.redaction.apply(text) : text);
  if (options.include) {
    const { STATUS_CODES } = await import('node:http');
    const { status } = response;
    const headers = Object.entries(response.headers).map(([name, value]) => {
      return `${name}: ${printable(redact(value))}\n`;
    });
    const line = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`.trim();
    await console.print(`${line}\n${headers.join('')}\n`);
  }
  const { body } = response;
  if (body.length === 0) return;
  const isCut = isError && body.length > MAX_ERROR_BYTES;
  if (isCut) console.warn(`printed only the first MiB of the error (${body.length} bytes in all)`);
  const shown = isCut ? body.subarray(0, MAX_ERROR_BYTES) : body;
  // The mark of a cut, before which the beginning of a secret is masked.
  const text = isError || io.stdout.isTTY ? `${shown}${isCut ? '…' : ''}` : '';
  const redacted = redact(text);
  if (io.stdout.isTTY) {
    const lines = printableLines(redacted);
    return console.print(lines.endsWith('\n') ? lines : `${lines}\n`);
  }
  await console.print(redacted === text ? shown : redacted);
  // The next page is another document, and a message follows an error; 10 is a line break.
  if ((options.paginate || isError) && shown.at(-1) !== 10) await console.print('\n');
}

/**
 * Returns the same URL with the query of meta.pages.next_url (section 2.4), wherever that points,
 * so that the token stays with the service. undefined on the last page.
 * @param visited the queries already read
 * @throws ImgctlError incomplete-list: the pages lead back to one already read, or do not end
 */
export function nextPage(response: HttpResponse, visited: ReadonlySet<string>): URL | undefined {
  const { value } = parseJson(response.body, true);
  const meta = isObject(value) ? value.meta : undefined;
  const pages = isObject(meta) ? meta.pages : undefined;
  const next = isObject(pages) ? pages.next_url : undefined;
  if (typeof next !== 'string' || !URL.canParse(next, response.url.href)) return undefined;
  const url = new URL(response.url);
  url.search = new URL(next, response.url).search;
  const repeats = visited.has(url.search);
  if (!repeats && visited.size < MAX_PAGES) return url;
  const reason = repeats ? 'next_url leads back to a page already read' : `${MAX_PAGES} were read`;
  const message = `the pages do not end: ${reason}`;
  throw new ImgctlError('incomplete-list', message, { facts: 'run the command again' });
}
