// Random queries to imgctl over a scripted server, judged by a naive implementation that shares no code with src.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { cataloguePage, rowsOf } from '../support/catalogue-page.ts';
import * as naive from '../support/naive-query.ts';
import type { ScriptedRequest } from '../support/scripted-server.ts';
import { scriptedUser } from '../support/users.ts';

/** `RANDOM_QUERIES=6000 npx vitest run ...` runs more of them. */
const RUNS = Number(process.env.RANDOM_QUERIES ?? 100);

function argumentsOf({ filters, sorts, limit }: naive.NaiveQuery): string[] {
  return [
    ...[
      'images',
      'list',
      '-o',
      limit % 2 ? 'json' : 'ndjson',
      '--per-page',
      '50',
      '-n',
      `${limit}`,
    ],
    ...filters.flatMap(({ field, operator, text }) => ['--filter', `${field},${operator},${text}`]),
    ...sorts.flatMap((key) => ['--sort', key.join(',')]),
  ];
}

/** Filters and sorts naively. */
function obey({ url }: ScriptedRequest) {
  const { searchParams } = url;
  const found = naive.serviceFinds(searchParams.get('filter'), searchParams.get('sort'));
  return { json: cataloguePage(url, found) };
}

/** Neither filters nor sorts, and does not echo that it did. */
function ignore({ url }: ScriptedRequest) {
  const { data, meta } = cataloguePage(url, naive.IMAGES);
  const { filter, sort, ...rest } = meta;
  return { json: { data, meta: rest } };
}

it.each([
  ['obeys', obey, /^$/],
  ['ignores filter and sort', ignore, /^(.*"the service did not confirm the .*\n)*$/],
] as const)(
  `images list returns what ${RUNS} random queries match, from a service that %s`,
  { timeout: 60_000 + RUNS * 100 },
  async (_, script, notes) => {
    const { imgctl } = await scriptedUser(script);
    let matched = 0;
    await fc.assert(
      fc.asyncProperty(naive.aQuery, async (query) => {
        const { stdout, stderr, exitCode } = await imgctl(argumentsOf(query), { time: naive.NOW });
        expect([stderr, exitCode]).toEqual([expect.stringMatching(notes), 0]);
        const expected = naive.resultOf(query);
        // As text, so that the order of the fields counts too.
        expect(JSON.stringify(rowsOf(stdout))).toBe(JSON.stringify(expected));
        if (expected.length > 0) matched += 1;
      }),
      { numRuns: RUNS, seed: 20_250_801 },
    );
    expect(matched).toBeGreaterThan(RUNS / 2);
  },
);
