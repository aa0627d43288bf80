// Tests the reading of pages by id on lists of any shape that change at every request, in any order of responses.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ImagePage } from '../../src/api/images.ts';
import { NotByIdError, pagesById } from '../../src/catalogue/pages-by-id.ts';

const PER_PAGE = 10;
const oneByOne = (first: ImagePage, requestBelow: () => Promise<ImagePage>) =>
  pagesById(first, { connections: 1, requestBelow }, Infinity);

/** A list of ids, of which one is replaced by a higher one after every request. */
class List {
  requests = 0;
  /** Number of requests under way at each request. */
  readonly underWay: number[] = [];
  readonly touched = new Set<number>();
  #ids: number[];
  readonly #replaced: readonly number[];
  readonly #sizes: readonly number[];
  #waiting: (() => void)[] = [];
  #order: readonly number[];

  constructor(ids: Iterable<number>, { replaced, sizes, order }: Changes = {}) {
    this.#ids = [...new Set(ids)].sort((one, other) => other - one);
    this.#replaced = replaced ?? [];
    this.#sizes = sizes ?? [PER_PAGE];
    this.#order = order ?? [0];
  }

  page(bound = Number.POSITIVE_INFINITY): ImagePage {
    const size = this.#sizes[this.requests % this.#sizes.length] ?? PER_PAGE;
    const below = this.#ids.filter((id) => id < bound);
    const images = below.slice(0, size).map((id) => ({ id }));
    const pages = Math.ceil(below.length / size);
    const total = below.length;
    const replaced = this.#replaced[this.requests];
    if (replaced !== undefined && this.#ids.length > 1) {
      const [gone = 0] = this.#ids.splice(replaced % this.#ids.length, 1);
      const added = Math.max(gone, ...this.#ids) + 1;
      this.#ids.unshift(added);
      for (const id of [gone, added]) this.touched.add(id);
    }
    this.requests += 1;
    const place = { number: 1, total, pages, hasNext: pages > 1 };
    return { images, meta: { sort: 'id,desc' }, bytes: 100 * images.length, ...place };
  }

  /** Responds later, in an order of its own, so that no time passes. */
  async respond(bound: number): Promise<ImagePage> {
    const page = this.page(bound);
    await new Promise<void>((resolve) => {
      this.underWay.push(this.#waiting.push(resolve));
      setImmediate(() => this.#release());
    });
    return page;
  }

  #release(): void {
    const next = this.#order[this.requests % this.#order.length] ?? 0;
    this.#waiting.splice(next % this.#waiting.length, 1)[0]?.();
  }
}

interface Changes {
  /** By request, which image is replaced. */
  readonly replaced?: readonly number[];
  /** Page sizes, in turn. */
  readonly sizes?: readonly number[];
  readonly order?: readonly number[];
}

async function read(list: List, wanted = Number.POSITIVE_INFINITY, connections = 6) {
  const ids: number[] = [];
  const requestBelow = (bound: number) => list.respond(bound);
  const pages = pagesById(list.page(), { connections, requestBelow }, wanted);
  for await (const { images } of pages) {
    ids.push(...images.map(({ id }) => Number(id)));
    if (ids.length >= wanted) break;
  }
  return ids;
}

const upTo = (count: number, idOf: (index: number) => number = (index) => index + 1) =>
  Array.from({ length: count }, (_, index) => idOf(index));

describe('pages by id', () => {
  const anId = fc.oneof(fc.integer({ min: -300, max: 3_000 }), fc.maxSafeInteger());
  const cluster = fc
    .record({ start: anId, length: fc.integer({ min: 1, max: 40 }) })
    .map(({ start, length }) =>
      upTo(length, (index) => Math.min(start + index, Number.MAX_SAFE_INTEGER - 100)),
    );
  const ids = fc.oneof(
    fc.array(anId, { maxLength: 200 }),
    fc.array(cluster, { maxLength: 12 }).map((clusters) => clusters.flat()),
    fc
      .record({ count: fc.nat(200), gap: fc.integer({ min: 1, max: 10_000 }) })
      .map(({ count, gap }) => upTo(count, (index) => index * gap - 50)),
  );
  const changes = fc.record({
    replaced: fc.array(fc.nat(1_000), { maxLength: 300 }),
    sizes: fc.constantFrom([PER_PAGE], [PER_PAGE, PER_PAGE / 2], [7]),
    order: fc.array(fc.nat(5), { minLength: 1, maxLength: 9 }),
  });

  /** The last image goes, so that the last page has no image that was not yielded yet. */
  const LAST_GOES = { replaced: [914, 409, 219], sizes: [7] as const, order: [0] };

  it('yield each image that stays once, the highest id first, whatever is replaced meanwhile', async () => {
    await fc.assert(
      fc.asyncProperty(
        ids,
        changes,
        fc.integer({ min: 1, max: 8 }),
        async (all, how, connections) => {
          const list = new List(all, how);
          const found = await read(list, undefined, connections);
          const missing = [...new Set(all)].filter(
            (id) => !list.touched.has(id) && !found.includes(id),
          );
          expect(missing).toEqual([]);
          expect(found.every((id, at) => id < (found[at - 1] ?? Number.POSITIVE_INFINITY))).toBe(
            true,
          );
          const pages = Math.ceil(new Set(all).size / Math.min(...how.sizes));
          expect(list.requests).toBeLessThanOrEqual(3 * pages + 10);
        },
      ),
      { numRuns: 200, examples: [[upTo(22, (index) => index * 13 - 50), LAST_GOES, 3]] },
    );
  });

  it.each<[string, number, (index: number) => number]>([
    ['without gaps', 1, (index) => index + 1],
    ['that end far above 0', 1, (index) => index + 1_000_000],
    ['below 0', 1, (index) => -index],
    ['with gaps of ten', 1.2, (index) => index * 10],
    ['in clusters', 1.7, (index) => Math.floor(index / 20) * 10_000 + (index % 20)],
    ['of two ages', 1.1, (index) => (index < 500 ? index : index + 1_000_000)],
  ])('take for ids %s at most %f times their number of requests', async (_, most, idOf) => {
    const list = new List(upTo(1_000, idOf));
    expect(await read(list)).toHaveLength(1_000);
    expect(list.requests).toBeLessThanOrEqual(most * 100);
  });

  it('go on side by side behind a gap', async () => {
    const list = new List(upTo(1_000, (index) => (index < 500 ? index : index + 1_000_000)));
    await read(list);
    expect(Math.max(...list.underWay.slice(60))).toBe(6);
  });

  it.each([
    [15, 2],
    [10, 1],
    [101, 11],
  ])('request for %i wanted images %i pages', async (wanted, requests) => {
    const list = new List(upTo(1_000));
    await read(list, wanted);
    expect(list.requests).toBe(requests);
  });

  it.each<[string, (page: ImagePage) => ImagePage, string]>([
    ['ignores the filter', (page) => page, 'the service does not filter by id'],
    [
      'ends with an empty page',
      (page) => ({ ...page, images: [] }),
      'an empty page announces images',
    ],
  ])('end with an error if the service %s', async (_, change, message) => {
    const list = new List(upTo(50));
    const first = list.page();
    const pages = oneByOne(first, async () => change(list.page()));
    expect(await pages.next()).toMatchObject({ value: { images: first.images } });
    await expect(pages.next()).rejects.toEqual(new NotByIdError(message));
  });

  it('end with an error that comes while the caller uses a page', async () => {
    const list = new List(upTo(15));
    const error = new Error('lost');
    const pages = oneByOne(list.page(), () => Promise.reject(error));
    await pages.next();
    await new Promise(setImmediate);
    await expect(pages.next()).rejects.toBe(error);
  });

  it.each([
    ['as texts', [{ id: '9' }, { id: '10' }]],
    ['that are no whole numbers', [{ id: 'b' }, { id: 'a' }]],
    ['that are missing', [{ name: 'a' }, { name: 'b' }]],
    ['twice', [{ id: 3 }, { id: 3 }]],
  ])('yield nothing of ids %s', async (_, images) => {
    const first = { ...new List(upTo(50)).page(), images };
    const pages = oneByOne(first, async () => first);
    await expect(pages.next()).rejects.toEqual(new NotByIdError('the service does not sort by id'));
  });
});
