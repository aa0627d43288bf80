// imgctl api: a raw authenticated request to the service, as curl would send it.

import { nextPage } from '../api/pages.ts';
import { isSuccess, statusError } from '../api/responses.ts';
import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import type { HttpResponse } from '../http/message.ts';
import { resolveUrl } from '../http/url.ts';
import { printable } from '../output/sanitize.ts';

interface ApiOptions {
  method?: string;
  field?: string[];
  include?: boolean;
  paginate?: boolean;
}

export async function run(context: Context, options: ApiOptions, path: string): Promise<void> {
  const { method: text = 'GET' } = options;
  const method = text.toUpperCase();
  if (!/^[A-Z]{1,20}$/.test(method) || method === 'CONNECT' || method === 'TRACE') {
    throw new ImgctlError('usage', `not a method: ${text}`, {
      hint: 'GET, POST, PUT or PATCH',
    });
  }
  if (options.paginate && method !== 'GET') {
    throw new ImgctlError('usage', '--paginate goes with GET alone', {
      hint: 'leave out one of them',
    });
  }
  const { client, baseUrl } = await context.session();
  const url = resolveUrl(new URL(baseUrl), path);
  for (const [key, value] of (options.field ?? []).map(parseField))
    url.searchParams.append(key, value);
  const visited = new Set<string>();
  let next: URL | undefined = url;
  while (next) {
    visited.add(next.search);
    const response: HttpResponse = await client.send({ method, path: next.href });
    await show(context, response, options);
    if (!isSuccess(response)) throw statusError(response);
    next = options.paginate ? nextPage(response, visited) : undefined;
  }
}

function parseField(text: string): [string, string] {
  const at = text.indexOf('=');
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw new ImgctlError('usage', `not key=value: ${text}`, {
    hint: 'write it as in -f per_page=5',
  });
}

async function show(context: Context, response: HttpResponse, options: ApiOptions): Promise<void> {
  // What a request is refused with may repeat it, and ends in logs; data stays as it came.
  const safe = (text: string) =>
    isSuccess(response) ? text : context.console.redaction.apply(text);
  if (options.include) {
    const headers = Object.entries(response.headers).map(
      ([name, value]) => `${name}: ${printable(safe(value))}\n`,
    );
    await context.console.print(`${response.status}\n${headers.join('')}\n`);
  }
  const body = safe(response.body.toString('utf8'));
  // Raw is what the command is for, but a terminal must not be at the service's mercy.
  const lines = context.io.stdout.isTTY ? body.split('\n').map(printable).join('\n') : body;
  if (lines !== '') await context.console.print(lines.endsWith('\n') ? lines : `${lines}\n`);
}
