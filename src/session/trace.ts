// --debug: what went over the wire, a line each, without headers and so without secrets.

import type { HttpEvent } from '../api/http.ts';

/** The event as one line; sizes in bytes, times in milliseconds. */
export function describeEvent(event: HttpEvent): string {
  switch (event.kind) {
    case 'answer': {
      const { method, url, status, headers, body, wireBytes } = event.received;
      const size =
        body.length === wireBytes ? `${wireBytes} B` : `${wireBytes} B (${body.length} B decoded)`;
      const left = headers['x-ratelimit-remaining'];
      const limit = headers['x-ratelimit-limit'];
      const limits = left && limit ? `, ${left} of ${limit} requests left` : '';
      return `${method} ${url.href}: ${status} in ${event.milliseconds} ms, ${size}${limits}`;
    }
    case 'no-answer':
      return `${event.method} ${event.url.href}: no answer after ${event.milliseconds} ms: ${event.error.message}`;
    case 'retry':
      return `${event.method} ${event.url.href}: try ${event.attempt + 1} after ${event.wait} ms`;
    case 'renewal':
      return `${event.method} ${event.url.href}: 401, again with a renewed token`;
  }
}
