// Tokens that end too early, clocks that are wrong and services that ask to wait, against the built program.

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { cataloguePage, testImages } from '../support/catalogue-page.ts';
import {
  account,
  COMMAND,
  issue,
  LIST,
  runBuilt,
  scriptedService,
  TOKEN_REQUEST,
} from '../support/cli.ts';
import { serve } from '../support/emulator.ts';
import {
  errorResponse,
  type ScriptedRequest,
  type ScriptedResponse,
} from '../support/scripted-server.ts';

const REFUSED = errorResponse(401, 'Valid token, but has expired.');

const tokenOf = ({ headers }: ScriptedRequest) => headers.authorization?.replace('Bearer ', '');
const pageNumber = ({ url }: ScriptedRequest) => Number(url.searchParams.get('page'));

/** Issues T1, T2...; of five images on three pages those from page 2 on are refused with these tokens. */
function refusing(...tokens: string[]) {
  let issued = 0;
  return (request: ScriptedRequest): ScriptedResponse => {
    if (request.method === 'POST') {
      issued += 1;
      return issue(`T${issued}`);
    }
    if (pageNumber(request) > 1 && tokens.includes(tokenOf(request) ?? '')) return REFUSED;
    return { json: cataloguePage(request.url, testImages(5)) };
  };
}

describe('a 401 in the middle of a listing', () => {
  const argv = [...LIST, '--per-page', '2'];
  const requestsOf = (service: { requests: readonly ScriptedRequest[] }) =>
    service.requests
      .map((request) =>
        request.method === 'POST'
          ? TOKEN_REQUEST
          : `page ${pageNumber(request)} with ${tokenOf(request)}`,
      )
      .sort();

  it('costs one renewal, and each page comes once', async () => {
    const service = await scriptedService(refusing('T1'));
    const result = await runBuilt(argv, { env: service.user });
    expect(result).toMatchObject({ stderr: '', exitCode: 0 });
    expect(JSON.parse(result.stdout).map(({ id }: { id: number }) => id)).toEqual([1, 2, 3, 4, 5]);
    expect(requestsOf(service)).toEqual([
      TOKEN_REQUEST,
      TOKEN_REQUEST,
      'page 1 with T1',
      'page 2 with T1',
      'page 2 with T2',
      'page 3 with T1',
      'page 3 with T2',
    ]);
  });

  it('that lasts ends the command with 4 and no list', async () => {
    const service = await scriptedService(refusing('T1', 'T2'));
    const result = await runBuilt(argv, { env: service.user });
    expect(result).toMatchObject({ stdout: '', exitCode: 4 });
    expect(service.sent().filter((line) => line === TOKEN_REQUEST)).toHaveLength(2);
  });

  it('of the very first token is the end: another would fare no better', async () => {
    const service = await scriptedService({
      [TOKEN_REQUEST]: issue('T1'),
      'GET /v2/image': REFUSED,
    });
    const result = await runBuilt(['images', 'list'], { env: service.user });
    expect(result).toMatchObject({ stdout: '', exitCode: 4 });
    expect(service.requests.map(({ method }) => method)).toEqual(['POST', 'GET']);
  });
});

// The clock is set by NODE_OPTIONS, which the single executable does not heed.
it.skipIf(COMMAND.length === 1).each([
  ['right', 0, ['POST', 'GET', 'GET']],
  ['a day slow', -1, ['POST', 'GET', 'GET']],
  ['a day fast', 1, ['POST', 'GET', 'POST', 'GET']],
])('a clock that is %s costs one renewal at most', async (_how, days, expected) => {
  const methods: string[] = [];
  const { baseUrl } = await serve({
    images: 1,
    onRequest: ({ method }) => methods.push(method),
  });
  const user = account(baseUrl);
  const skew = path.join(user.HOME, 'skew.cjs');
  writeFileSync(skew, `const now = Date.now; Date.now = () => now() + ${days * 86_400_000};`);
  const skewed = { ...user, NODE_OPTIONS: `--require ${skew}` };
  for (const env of [user, skewed]) {
    expect(await runBuilt(LIST, { env })).toMatchObject({ stderr: '', exitCode: 0 });
  }
  expect(methods).toEqual(expected);
});

describe('a service that asks to wait', () => {
  const YEAR = 31_536_000;
  const inAYear = () => new Date(Date.now() + YEAR * 1_000).toUTCString();
  const soon = () => new Date(Date.now() + 2_000).toUTCString();

  // How it asks, and the milliseconds that at least have to pass; of a date's two seconds one may be over.
  const WAITS: readonly (readonly [() => string, number])[] = [
    [() => '1', 1_000],
    [soon, 1_000],
    [() => '-5', 0],
    [() => 'soon', 0],
  ];

  it('in seconds, by a date, negatively or in junk is not asked again before', async () => {
    const listing = async ([retryAfter, least]: (typeof WAITS)[number]) => {
      const arrivals: number[] = [];
      const service = await scriptedService(({ url }, index) => {
        arrivals.push(performance.now());
        if (index === 0) return { status: 429, headers: { 'retry-after': retryAfter() } };
        return { json: cataloguePage(url, testImages(1)) };
      });
      expect(await service.imgctl(...LIST)).toMatchObject({ exitCode: 0 });
      const [first = 0, second = 0, ...more] = arrivals;
      expect(second - first).toBeGreaterThanOrEqual(least);
      expect(more).toEqual([]);
    };
    await Promise.all(WAITS.map(listing));
  });

  it.each<[string, () => string]>([
    ['in seconds', () => String(YEAR)],
    ['by a date', inAYear],
  ])('for a year %s ends the command at once with 6 and the time', async (_how, retryAfter) => {
    const headers = { 'retry-after': retryAfter() };
    const service = await scriptedService(() => ({ status: 429, headers }));
    const result = await service.imgctl('images', 'list');
    expect(result).toMatchObject({ stdout: '', exitCode: 6 });
    expect(result.stderr).toMatch(/hint: try again after \d{4}-\d\d-\d\dT/);
    expect(service.sent()).toHaveLength(1);
  });

  it('for a token is not sent another token request, by the next run either', async () => {
    const headers = { 'retry-after': '600' };
    const service = await scriptedService(() => ({ status: 429, headers }));
    for (const argv of [['login'], ['images', 'list'], ['login']]) {
      const result = await runBuilt(argv, { env: service.user });
      expect(result).toMatchObject({ stdout: '', exitCode: 6 });
      expect(result.stderr).toMatch(/hint: try again after \d{4}-\d\d-\d\dT/);
    }
    expect(service.sent()).toEqual([TOKEN_REQUEST]);
  });
});
