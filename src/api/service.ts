// The service root, section 4.2 of service-api.md.

import { readJson } from './answers.ts';
import type { Http } from './http.ts';

/** GET /v2: proves the token; the body is whatever the service says of itself. */
export async function serviceRoot(http: Http): Promise<unknown> {
  return readJson(await http.send({ method: 'GET', path: '/v2' }));
}
