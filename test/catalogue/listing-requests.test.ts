// Tests the requests of a catalogue listing: navigation URLs, failing pages and aborts.

import { describe, expect, it } from 'vitest';
import { listCatalogue } from '../../src/catalogue/listing.ts';
import { ImgctlError } from '../../src/errors.ts';
import { catalogueOf, testImages } from '../support/catalogue-page.ts';
import { connect } from '../support/client.ts';
import { failure } from '../support/errors.ts';
import {
  type Handler,
  type ScriptedRequest,
  type ScriptedResponse,
  STALL,
  scriptedServer,
} from '../support/scripted-server.ts';
import { list, pageOf, pagesOf, QUERY, serving, upTo } from './harness.ts';

const SIX_AT_A_TIME = { ...QUERY, concurrency: 6, streams: true };

/** Serves 40 images, but `responses` for the pages that it defines. */
const except =
  (responses: (request: ScriptedRequest) => ScriptedResponse | undefined): Handler =>
  (request, index) =>
    responses(request) ?? catalogueOf(testImages(40))(request, index);

const stalling = except((request) => (pageOf(request) === 1 ? undefined : STALL));

describe('a catalogue listing', () => {
  it.each([
    ['to another host', (_: ScriptedRequest, foreign: string) => `${foreign}/v2/image?page=2`],
    ['to the same page', ({ url }: ScriptedRequest) => url.href],
    ['to the first page', ({ url }: ScriptedRequest) => `${url.origin}/v2/image?page=1`],
    ['nowhere', () => 'not a URL'],
  ])('requests pages by number if next_url leads %s', async (_, next) => {
    const foreign = await scriptedServer({});
    const { ids, pages } = await list(
      serving(
        () => testImages(4),
        (_page, request) => ({ next_url: next(request, foreign.baseUrl) }),
      ),
    );
    expect([ids, pages]).toEqual([upTo(4), [1, 2, 3]]);
    expect(foreign.requests).toEqual([]);
  });

  it('throws the error of the first failing page and aborts the others', async () => {
    const { error, pages } = await list(
      except(
        (request) =>
          [undefined, { status: 400 }, { status: 404 }][pageOf(request) - 1] ??
          (pageOf(request) > 3 ? STALL : undefined),
      ),
      SIX_AT_A_TIME,
    );
    expect(error).toMatchObject({ status: 400 });
    expect(upTo(7)).toEqual(expect.arrayContaining(pages));
    expect(new Set(pages).size).toBe(pages.length);
  });

  it('throws the reason of an abort at once', async () => {
    const abort = new AbortController();
    const { client, server } = await connect(stalling, { signal: abort.signal });
    const batches = listCatalogue(client, SIX_AT_A_TIME);
    expect((await batches.next()).done).toBe(false);
    const rest = batches.next();
    abort.abort(new ImgctlError('interrupted', 'interrupted'));
    expect((await failure(rest)).code).toBe('interrupted');
    expect(pagesOf(server).length).toBeLessThanOrEqual(7);
  });

  it('aborts its requests if the caller leaves the loop', async () => {
    const { client, events } = await connect(stalling);
    for await (const { images } of listCatalogue(client, SIX_AT_A_TIME)) {
      expect(images).toHaveLength(2);
      break;
    }
    await client.close();
    const errors = events.flatMap((event) => (event.kind === 'error' ? [event.error.message] : []));
    expect(errors).toEqual(Array.from({ length: 6 }, () => 'no longer needed'));
  });
});
