// Reads lists of a scripted service, and says what they requested.

import { startListRun } from '../../src/catalogue/list-run.ts';
import { type ListEnd, listCatalogue, type ReadOptions } from '../../src/catalogue/service-list.ts';
import { ImgctlError } from '../../src/errors.ts';
import { parseQuery } from '../../src/query/query.ts';
import { connect } from '../support/client.ts';
import type { Handler, ScriptedRequest } from '../support/scripted-server.ts';

type Typed = Partial<Parameters<typeof parseQuery>[0]>;
export const queryOf = (typed: Typed) => parseQuery({ words: [], ...typed }, 0);

export interface Options extends ReadOptions {
  readonly perPage?: number;
  readonly query?: Typed;
  readonly connections?: number;
}

/** Reads pages of two images. Returns the ids that were yielded, even if the list then failed. */
export async function list(
  handler: Handler,
  { query = {}, connections = 1, perPage = 2, ...options }: Options = {},
) {
  const connection = await connect(handler);
  const client = { ...connection.client, connections };
  const traces: string[] = [];
  const run = startListRun(client, { perPage, trace: (text) => traces.push(text) });
  const images = listCatalogue(run, queryOf(query), options);
  const ids: unknown[] = [];
  let end: ListEnd | undefined;
  let error: ImgctlError | undefined;
  try {
    for (let next = await images.next(); ; next = await images.next()) {
      if (next.done) {
        end = next.value;
        break;
      }
      ids.push(...next.value.map(({ id }) => id));
    }
  } catch (thrown) {
    if (!(thrown instanceof ImgctlError)) throw thrown;
    error = thrown;
  }
  const requests = connection.server.requests.map(asked);
  return { ...connection, ids, end, error, traces, requests };
}

/** What a request asks for: `2 name,eq,a` is page 2 of a filter by id,desc. */
export function asked({ url }: Pick<ScriptedRequest, 'url'>): string {
  const { page, per_page, filter, sort } = Object.fromEntries(url.searchParams);
  const order = sort === 'id,desc' ? [] : [`by ${sort}`];
  return [page, filter, ...order, ...(per_page === '1' ? ['top'] : [])].filter(Boolean).join(' ');
}

export const upTo = (last: number, first = 1) =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);
export const down = (last: number, first = 1) => upTo(last, first).reverse();
