// Tests the requests of a catalogue listing: navigation URLs, failing pages, aborts and expired tokens.

import { describe, expect, it } from 'vitest';
import { listCatalogue } from '../../src/catalogue/listing.ts';
import { ImgctlError } from '../../src/errors.ts';
import { catalogueOf, testImages } from '../support/catalogue-page.ts';
import { connect } from '../support/client.ts';
import { failure } from '../support/errors.ts';
import {
  DROP,
  errorResponse,
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

/** Fails the first requests for page 3. */
function failing(times: number, response: ScriptedResponse): Handler {
  let left = times;
  return except((request) => {
    if (pageOf(request) !== 3 || left === 0) return undefined;
    left -= 1;
    return response;
  });
}

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

  it.each([
    ['503', { status: 503 }],
    ['a lost connection', DROP],
  ])('retries a page after %s', async (_, response) => {
    const { ids, pages, sleeps } = await list(failing(2, response));
    expect(ids).toEqual(upTo(40));
    expect(pages).toEqual([1, 2, 3, 3, ...upTo(20, 3)]);
    expect(sleeps).toEqual([250, 500]);
  });

  it('fails with the error of a page that keeps failing', async () => {
    const { error, pages } = await list(failing(99, { status: 503 }));
    expect(error).toMatchObject({ code: 'server-error', status: 503 });
    expect(pages).toEqual([1, 2, 3, 3, 3, 3, 3]);
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

describe('a catalogue listing with a token that expires after page 2', () => {
  const EXPIRED = errorResponse(401, 'Valid token, but has expired.');
  const authorizedBy = (token: string) => (request: ScriptedRequest) =>
    request.headers.authorization === `Bearer ${token}`;
  const expiring = (isValid: (request: ScriptedRequest) => boolean) =>
    except((request) => (pageOf(request) > 2 && !isValid(request) ? EXPIRED : undefined));

  it('renews the token once and yields every image', async () => {
    const result = await list(expiring(authorizedBy('T2')), SIX_AT_A_TIME, {
      client: { renewals: 9 },
    });
    const { ids, pages, server, tokens } = result;
    expect(ids).toEqual(upTo(40));
    expect(await tokens.current()).toBe('T2');
    expect(new Set(tokens.refusals.map(String))).toEqual(new Set(['T1,true']));
    const renewed = server.requests.filter(authorizedBy('T2')).map(pageOf);
    expect(renewed.sort((a, b) => a - b)).toEqual(upTo(20, 3));
    expect(pages.filter((page) => page <= 2).sort()).toEqual([1, 2]);
  });

  it('fails if the service refuses the renewed token too', async () => {
    const { error, pages } = await list(
      expiring(() => false),
      {},
      { client: { renewals: 9 } },
    );
    expect(error).toMatchObject({ code: 'token-refused', exitCode: 4, status: 401 });
    expect(pages).toEqual([1, 2, 3, 3]);
  });
});
