// Hazards of tokens: expiry, many processes, wrong clocks and rate limits, against the built program.

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
  withClockAhead,
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

/** Issues T1, T2 and so on, and refuses these tokens for pages 2 and 3 of five images. */
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

describe('a 401 during images list', () => {
  const argv = [...LIST, '--per-page', '2'];
  const requestsOf = (service: { requests: readonly ScriptedRequest[] }) =>
    service.requests
      .map((request) =>
        request.method === 'POST'
          ? TOKEN_REQUEST
          : `page ${pageNumber(request)} with ${tokenOf(request)}`,
      )
      .sort();

  it('causes one renewal, and every image is printed once', async () => {
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

  it('exits 4 without a list if it persists', async () => {
    const service = await scriptedService(refusing('T1', 'T2'));
    const result = await runBuilt(argv, { env: service.user });
    expect(result).toMatchObject({ stdout: '', exitCode: 4 });
    expect(service.sent().filter((line) => line === TOKEN_REQUEST)).toHaveLength(2);
  });

  it('exits 4 without a renewal for a new token', async () => {
    const service = await scriptedService({
      [TOKEN_REQUEST]: issue('T1'),
      'GET /v2/image': REFUSED,
    });
    const result = await runBuilt(['images', 'list'], { env: service.user });
    expect(result).toMatchObject({ stdout: '', exitCode: 4 });
    expect(service.requests.map(({ method }) => method)).toEqual(['POST', 'GET']);
  });
});

it.skipIf(COMMAND.length === 1).each([
  ['right', 0, ['POST', 'GET', 'GET']],
  ['a day slow', -1, ['POST', 'GET', 'GET']],
  ['a day fast', 1, ['POST', 'GET', 'POST', 'GET']],
])('a clock that is %s causes at most one renewal', async (_how, days, expected) => {
  const methods: string[] = [];
  const { baseUrl } = await serve({
    images: 1,
    onRequest: ({ method }) => methods.push(method),
  });
  const user = account(baseUrl);
  for (const env of [user, withClockAhead(user, days * 86_400_000)]) {
    expect(await runBuilt(LIST, { env })).toMatchObject({ stderr: '', exitCode: 0 });
  }
  expect(methods).toEqual(expected);
});

it.skipIf(COMMAND.length === 1).each([
  ['equal clocks', 0],
  ['every second clock 10 s ahead', 10_000],
  ['every second clock 10 s behind', -10_000],
])('twenty processes with %s send one token request', async (_clocks, skew) => {
  const methods: string[] = [];
  const emulator = await serve({ onRequest: ({ method }) => methods.push(method) });
  const { IMGCTL_PASSWORD, ...user } = account(emulator.baseUrl);
  // Others look at the lock meanwhile.
  const command = `sleep 0.5; echo ${IMGCTL_PASSWORD}`;
  const env = { ...user, IMGCTL_PASSWORD_COMMAND: command };
  expect((await runBuilt(['login'], { env })).exitCode).toBe(0);
  emulator.expireTokens();
  methods.length = 0;

  const argv = ['images', 'list', '--limit', '1', '-q'];
  const other = withClockAhead(env, skew);
  const envs = Array.from({ length: 20 }, (_, index) => (index % 2 ? other : env));
  const results = await Promise.all(envs.map((each) => runBuilt(argv, { env: each })));
  const success = { stdout: expect.stringMatching(/^\d+\n$/), stderr: '', exitCode: 0 };
  expect(results).toEqual(results.map(() => success));
  expect(methods.filter((method) => method === 'POST')).toHaveLength(1);
});

describe('a service that answers 429', () => {
  const YEAR = 31_536_000;
  const inAYear = () => new Date(Date.now() + YEAR * 1_000).toUTCString();
  const soon = () => new Date(Date.now() + 2_000).toUTCString();

  // The Retry-After header and the minimum wait in milliseconds; a date is rounded down to seconds.
  const WAITS: readonly (readonly [() => string, number])[] = [
    [() => '1', 1_000],
    [soon, 1_000],
    [() => '-5', 0],
    [() => 'soon', 0],
  ];

  it('gets no further request before Retry-After', async () => {
    const listing = async ([retryAfter, minimum]: (typeof WAITS)[number]) => {
      const arrivals: number[] = [];
      const service = await scriptedService(({ url }, index) => {
        arrivals.push(performance.now());
        if (index === 0) return { status: 429, headers: { 'retry-after': retryAfter() } };
        return { json: cataloguePage(url, testImages(1)) };
      });
      expect(await service.imgctl(...LIST)).toMatchObject({ exitCode: 0 });
      const [first = 0, second = 0, ...more] = arrivals;
      expect(second - first).toBeGreaterThanOrEqual(minimum);
      expect(more).toEqual([]);
    };
    await Promise.all(WAITS.map(listing));
  });

  it.each<[string, () => string]>([
    ['in seconds', () => String(YEAR)],
    ['by a date', inAYear],
  ])('makes imgctl exit 6 with the time for a year %s', async (_how, retryAfter) => {
    const headers = { 'retry-after': retryAfter() };
    const service = await scriptedService(() => ({ status: 429, headers }));
    const result = await service.imgctl('images', 'list');
    expect(result).toMatchObject({ stdout: '', exitCode: 6 });
    expect(result.stderr).toMatch(/hint: try again on \d{4}-\d\d-\d\d at \d\d:/);
    expect(service.sent()).toHaveLength(1);
  });

  it('gets one token request, also from the next run', async () => {
    const headers = { 'retry-after': '600' };
    const service = await scriptedService(() => ({ status: 429, headers }));
    for (const argv of [['login'], ['images', 'list'], ['login']]) {
      const result = await runBuilt(argv, { env: service.user });
      expect(result).toMatchObject({ stdout: '', exitCode: 6 });
      expect(result.stderr).toMatch(/hint: try again in (10|9) min.*, at \d\d:/);
    }
    expect(service.sent()).toEqual([TOKEN_REQUEST]);
  });
});
