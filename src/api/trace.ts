// Describes requests for --debug, one line each, without headers and so without secrets.

import type { ClientEvent } from './auth.ts';

/** Returns one line; sizes in bytes, times in milliseconds. */
export function describeEvent(event: ClientEvent): string {
  switch (event.kind) {
    case 'response': {
      const { method, url, status, headers, body, wireBytes } = event.response;
      const decoded = body.length === wireBytes ? '' : ` (${body.length} B decoded)`;
      const left = headers['x-ratelimit-remaining'];
      const limit = headers['x-ratelimit-limit'];
      const limits = left && limit ? `, ${left} of ${limit} requests left` : '';
      return `${method} ${url.href}: ${status} in ${event.milliseconds} ms, ${wireBytes} B${decoded}${limits}`;
    }
    case 'error':
      return `${event.method} ${event.url.href}: no response after ${event.milliseconds} ms: ${event.error.message}`;
    case 'waiting':
      return `${event.method} ${event.url.href}: no response for ${event.milliseconds} ms`;
    case 'retry':
      return `${event.method} ${event.url.href}: retry ${event.count} after ${event.wait} ms`;
    case 'limit':
      return `${event.method} ${event.url.href}: the service limits requests; one at a time`;
    case 'renewal':
      return `${event.method} ${event.url.href}: 401, sent again with a renewed token`;
  }
}
