// Listing all pages of a service that lies, loops or fails: the promised outcome, and the exact requests.

import { describe, expect, it } from 'vitest';
import type { Pages } from '../../src/api/types.ts';
import { listCatalogue } from '../../src/catalogue/listing.ts';
import { ImgctlError } from '../../src/errors.ts';
import { cataloguePage, testImages } from '../support/catalogue-page.ts';
import { start } from '../support/client.ts';
import { failure } from '../support/errors.ts';
import {
  DROP,
  errorResponse,
  type Handler,
  type ScriptedRequest,
  STALL,
  scriptedServer,
} from '../support/scripted-server.ts';
import { collect, pageOf, pagesOf, QUERY, serving, upTo } from './harness.ts';

describe('navigation that leads astray', () => {
  it.each([
    ['to another port', (_: ScriptedRequest, foreign: string) => `${foreign}/v2/image?page=2`],
    ['to itself', ({ url }: ScriptedRequest) => url.href],
    ['back to the first page', ({ url }: ScriptedRequest) => `${url.origin}/v2/image?page=1`],
    ['nowhere', () => 'not a URL'],
  ])('next_url %s: by page number, to the same origin', async (_, next) => {
    const foreign = await scriptedServer({});
    const { client, server } = await start(
      serving(
        () => testImages(4),
        (_page, request) => ({ next_url: next(request, foreign.baseUrl) }),
      ),
    );
    expect((await collect(client)).ids).toEqual(upTo(4));
    expect(pagesOf(server)).toEqual([1, 2, 3]);
    expect(foreign.requests).toEqual([]);
  });

  it('stops at an empty page with a next page', async () => {
    const { client, server } = await start(
      serving(
        () => testImages(4),
        (page) => ({ next_url: `/v2/image?page=${page + 1}` }),
      ),
    );
    expect((await collect(client)).ids).toEqual(upTo(4));
    expect(pagesOf(server)).toEqual([1, 2, 3]);
  });

  it('reads on past an empty page in the middle', async () => {
    const { client, server } = await start((request) => ({
      json: {
        ...cataloguePage(request.url, testImages(6), { total: 4 }),
        ...(pageOf(request) === 2 ? { data: [] } : {}),
      },
    }));
    expect((await collect(client)).ids).toEqual([1, 2, 5, 6]);
    expect(pagesOf(server)).toEqual([1, 2, 3]);
  });

  it('fails where every page is the same', async () => {
    const { client, server } = await start(({ url }) => {
      const first = new URL(url);
      first.searchParams.set('page', '1');
      return { json: cataloguePage(first, testImages(6)) };
    });
    const error = await failure(collect(client));
    expect([error.code, error.exitCode]).toEqual(['incomplete-list', 1]);
    expect(error.message).toContain('announced 6 images but sent 2');
    expect(pagesOf(server)).toEqual([1, 2, 3, 1, 2, 3, 1, 2, 3]);
  });

  it.each([
    ['a total that stays behind', () => 4],
    ['a total that grows along', (page: number) => 2 * page + 2],
  ])('fails on pages without end, with %s', async (_, total) => {
    const { client, server } = await start(
      serving(
        () => testImages(2_000),
        (page) => ({ pages: Math.max(2, page), total: total(page) }),
      ),
    );
    const error = await failure(collect(client));
    expect([error.code, error.exitCode]).toEqual(['incomplete-list', 1]);
    expect(pagesOf(server)).toEqual(upTo(2 * 2 + 10));
  });
});

describe('counts that are wrong', () => {
  it.each<[string, Partial<Pages>, number[]]>([
    ['total too small', { total: 3 }, [1, 2, 3]],
    ['pages too small', { pages: 1 }, [1, 2, 3]],
    ['both too small', { pages: 0, total: 0 }, [1, 2, 3]],
    ['pages too large', { pages: 5 }, [1, 2, 3, 4, 5]],
  ])('%s: every image all the same', async (_, wrong, pages) => {
    const { client, server } = await start(
      serving(
        () => testImages(6),
        () => wrong,
      ),
    );
    expect((await collect(client)).ids).toEqual(upTo(6));
    expect(pagesOf(server)).toEqual(pages);
  });

  it.each<[string, Partial<Pages>, number[]]>([
    ['total too large', { total: 9 }, [...upTo(3), ...upTo(3), ...upTo(3)]],
    ['an empty list', { total: 9, pages: 1, per_page: 0 }, [1, 1, 1]],
  ])('%s: an error, soon', async (_, wrong, pages) => {
    const { client, server } = await start(
      serving(
        () => testImages(6),
        () => wrong,
      ),
    );
    expect((await failure(collect(client))).code).toBe('incomplete-list');
    expect(pagesOf(server)).toEqual(pages);
  });

  it.each([[6], [9e15]])('pages beyond all measure and a total of %d end soon', async (total) => {
    const { client, server } = await start(
      serving(
        () => testImages(6),
        () => ({ pages: 1e15, total }),
      ),
    );
    const outcome = await collect(client).then(
      ({ ids }) => ids,
      ({ code }) => code,
    );
    expect(outcome).toEqual(total === 6 ? upTo(6) : 'incomplete-list');
    // Eleven idle pages end a reading; one more may be on its way by then.
    expect(pagesOf(server).slice(0, 14)).toEqual(upTo(14));
    expect(pagesOf(server).length).toBeLessThanOrEqual((total === 6 ? 1 : 3) * 15);
  });
});

describe('pages that fail', () => {
  const failing = (times: number, how: ReturnType<Handler>): Handler => {
    let left = times;
    return (request) => {
      if (pageOf(request) === 3 && left > 0) {
        left -= 1;
        return how;
      }
      return { json: cataloguePage(request.url, testImages(8)) };
    };
  };

  it.each([
    ['503', { status: 503 }],
    ['a lost connection', DROP],
  ])('are asked for again after %s', async (_, how) => {
    const { client, server, sleeps } = await start(failing(2, how));
    expect((await collect(client)).ids).toEqual(upTo(8));
    expect(pagesOf(server)).toEqual([1, 2, 3, 3, 3, 4]);
    expect(sleeps).toEqual([250, 500]);
  });

  it('end the list after four retries', async () => {
    const { client, server, sleeps } = await start(failing(99, { status: 503 }));
    const error = await failure(collect(client));
    expect([error.code, error.status]).toEqual(['server-error', 503]);
    expect(pagesOf(server)).toEqual([1, 2, 3, 3, 3, 3, 3]);
    expect(sleeps).toEqual([250, 500, 1_000, 2_000]);
  });

  it('end those under way beside them', async () => {
    const { client, server } = await start((request) => {
      if (pageOf(request) === 1) return { json: cataloguePage(request.url, testImages(40)) };
      return pageOf(request) === 3
        ? { status: 404 }
        : pageOf(request) === 2
          ? { status: 400 }
          : STALL;
    });
    expect((await failure(collect(client, { concurrency: 6 }))).status).toBe(400);
    expect(upTo(7)).toEqual(expect.arrayContaining(pagesOf(server)));
    expect(new Set(pagesOf(server)).size).toBe(pagesOf(server).length);
  });
});

describe('giving up', () => {
  it('ends at once when it is aborted, with the reason', async () => {
    const abort = new AbortController();
    const { client, server } = await start(
      (request) =>
        pageOf(request) === 1 ? { json: cataloguePage(request.url, testImages(40)) } : STALL,
      { signal: abort.signal },
    );
    const pages = listCatalogue(client, { ...QUERY, concurrency: 6, streams: true });
    expect((await pages.next()).done).toBe(false);
    const rest = pages.next();
    abort.abort(new ImgctlError('interrupted', 'interrupted'));
    expect((await failure(rest)).code).toBe('interrupted');
    expect(pagesOf(server).length).toBeLessThanOrEqual(7);
  });

  it('does not wait for pages that nobody wants any more', async () => {
    const { client, events } = await start((request) =>
      pageOf(request) === 1 ? { json: cataloguePage(request.url, testImages(40)) } : STALL,
    );
    for await (const { images } of listCatalogue(client, {
      ...QUERY,
      concurrency: 6,
      streams: true,
    })) {
      expect(images).toHaveLength(2);
      break;
    }
    await client.close();
    const givenUp = events.flatMap((event) =>
      event.kind === 'error' ? [event.error.message] : [],
    );
    expect(givenUp).toEqual(Array.from({ length: 6 }, () => 'no longer needed'));
  });
});

describe('a token that expires in the middle', () => {
  const EXPIRED = errorResponse(401, 'Valid token, but has expired.');
  const expiring: Handler = (request) =>
    pageOf(request) > 2 && request.headers.authorization === 'Bearer T1'
      ? EXPIRED
      : { json: cataloguePage(request.url, testImages(30)) };

  it('is renewed once, without gaps and duplicates', async () => {
    const { client, server, tokens } = await start(expiring, { renewals: 9 });
    expect((await collect(client, { concurrency: 6 })).ids).toEqual(upTo(30));
    expect(await tokens.current()).toBe('T2');
    expect(new Set(tokens.refusals.map(String))).toEqual(new Set(['T1,true']));
    const renewed = server.requests.filter(
      (request) => request.headers.authorization === 'Bearer T2',
    );
    expect(renewed.map(pageOf).sort((a, b) => a - b)).toEqual(upTo(15, 3));
    expect(
      pagesOf(server)
        .filter((page) => page <= 2)
        .sort(),
    ).toEqual([1, 2]);
  });

  it('ends the list where another one is refused too', async () => {
    const { client, server } = await start(
      (request) =>
        pageOf(request) > 2 ? EXPIRED : { json: cataloguePage(request.url, testImages(30)) },
      { renewals: 9 },
    );
    const error = await failure(collect(client));
    expect([error.code, error.exitCode, error.status]).toEqual(['token-refused', 4, 401]);
    expect(pagesOf(server)).toEqual([1, 2, 3, 3]);
  });
});
