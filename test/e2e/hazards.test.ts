// The promises of docs/development/hazards.md: the built program against a server that sends what a script says.

import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeEach, expect, it } from 'vitest';
import type { Pages } from '../../src/api/types.ts';
import { HOSTILE, RAW_HARM } from '../output/hostile.ts';
import { cataloguePage, testImage, testImages } from '../support/catalogue-page.ts';
import { selfSigned } from '../support/certificate.ts';
import { type Environment, issue, LIST, runBuilt, scriptedService } from '../support/cli.ts';
import {
  errorResponse,
  type Handler,
  RESET,
  type Script,
  type ScriptedResponse,
  type ScriptedServer,
  scriptedServer,
} from '../support/scripted-server.ts';
import { tunnelTo } from '../support/sockets.ts';

const TOKEN = 'POST /auth/request-token';
const SYNC = 'PATCH /v2/user/image/vm';
const IMAGES = 'GET /v2/image';

interface Case {
  readonly title: string;
  readonly script?: Script | Handler;
  /** The command line, in which OTHER is the URL of `other`. */
  readonly run: string;
  /** Commands that run before, by a user with a password. Without them there is only a token. */
  readonly after?: readonly string[];
  readonly env?: () => Environment;
  readonly exitCode?: number;
  readonly stdout?: string | RegExp;
  readonly stderr?: string | RegExp;
  /** Method and path of each request, or how many there may be. */
  readonly sent: readonly string[] | number;
}

const envelope = (...data: unknown[]) => ({
  data,
  meta: { count: data.length, pages: { page: 1, pages: 1, total: data.length, next_url: null } },
});

/** A list of one image with this id. */
const withText = (id: string) => JSON.stringify(envelope({ id: 0 })).replace(':0', `:${id}`);

/** A server elsewhere, which must get no request. */
let other: ScriptedServer;

beforeEach(async () => {
  other = await scriptedServer({});
});

/** Redirects every request. */
const redirect =
  (status: number): Handler =>
  () => ({ status, headers: { location: `${other.baseUrl}/stolen` } });

const nextElsewhere: Handler = ({ url }) => {
  const isLast = url.searchParams.get('page') === '2';
  const next_url = isLast ? null : `${other.baseUrl}/v2/image?page=2&per_page=1`;
  return { json: cataloguePage(url, testImages(2), { next_url }) };
};

const ORIGINS: readonly Case[] = [
  ...['images list --per-page 1 -q', 'api /v2/image -f per_page=1 --paginate'].map((run) => ({
    title: `${run} asks its own service for a next page elsewhere`,
    script: nextElsewhere,
    run,
    stdout: /^1\n2\n$|image\/2"/,
    sent: [IMAGES, IMAGES],
  })),
  ...[
    ['images list', 302, IMAGES] as const,
    ['sync', 308, SYNC] as const,
    ['login', 307, TOKEN] as const,
  ].map(([run, status, request]) => ({
    title: `${run} does not follow a redirect`,
    script: redirect(status),
    run,
    ...(run === 'login' ? { after: [] } : {}),
    exitCode: 1,
    stderr: /^imgctl: .* was redirected to \S+\/stolen \(30\d\); redirects are not followed\n/,
    sent: [request],
  })),
  {
    title: 'api rejects a URL elsewhere',
    run: 'api OTHER/v2',
    exitCode: 2,
    stderr: /base URL/,
    sent: [],
  },
  {
    title: 'plain http to another host is rejected',
    run: 'sync --base-url http://images.example',
    env: () => ({ HTTP_PROXY: other.baseUrl }),
    exitCode: 2,
    stderr: /use https:\/\/images\.example/,
    sent: [],
  },
  {
    title: 'loopback needs no proxy',
    script: () => ({ body: 'here' }),
    run: 'api /v2',
    env: () => ({ HTTP_PROXY: other.baseUrl }),
    stdout: 'here',
    sent: ['GET /v2'],
  },
  {
    title: 'the hosts in NO_PROXY need no proxy',
    run: 'images list --base-url https://images.invalid --retries 0',
    env: () => ({ HTTPS_PROXY: other.baseUrl, NO_PROXY: '.invalid' }),
    exitCode: 3,
    stderr: /^imgctl: .*images\.invalid/,
    sent: [],
  },
];

const USAGE: readonly Case[] = [
  ...['login --profile=../../x', 'login --profile=__proto__'],
  ...['images list -f __proto__,eq,1', 'images list -s constructor', 'images list -c __proto__'],
  ...['config set __proto__ x', 'config get constructor', 'login --password=s3cret'],
].map((run) => ({
  title: `${run} is a usage error`,
  run,
  exitCode: 2,
  stderr: /^imgctl: (unknown|invalid profile name)(?!.*s3cret)/s,
  sent: [],
}));

/** Responses that are no list of images. */
const INVALID = (
  [
    ['HTML', { body: '<html><b>hello</b></html>' }, 'with HTML instead of JSON'],
    ['an empty body', { body: '' }, 'with an empty body instead of JSON'],
    ['null', { json: null }, 'not a list of images'],
    ['truncated JSON', { body: '{"data": [{"id": 1' }, 'not valid JSON'],
    ['an object without data', { json: { meta: {} } }, 'data is not a list'],
    ['texts for images', { json: envelope('x') }, 'data does not hold images'],
    ['an id beyond 2^53', { body: withText('9007199254740993') }, 'larger than 2\\^53'],
  ] satisfies [string, ScriptedResponse, string][]
).map(([what, response, reason]) => ({
  title: `${what} for a list is one line with status and URL`,
  script: () => response,
  run: 'images list',
  exitCode: 1,
  stderr: new RegExp(`^imgctl: GET \\S+/v2/image\\S* returned 200.*${reason}.*\n(hint: .*\n)?$`),
  sent: [IMAGES],
}));

/** Sends one image per page, of this many in turn. */
const numbered =
  (count: number, changes: (url: URL) => Partial<Pages>): Handler =>
  ({ url }) => {
    const data = count === 0 ? [] : [testImage(Number(url.searchParams.get('page')) % count)];
    return { json: { ...cataloguePage(url, testImages(8), changes(url)), data } };
  };

const BOMB = gzipSync(Buffer.alloc(65 * 2 ** 20));

/** More than 64 MiB, without end. */
const ENDLESS: ScriptedResponse = {
  raw: (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
    const chunk = `100000\r\n${' '.repeat(2 ** 20)}\r\n`;
    const more = () => {
      while (socket.writable && socket.write(chunk));
    };
    socket.on('drain', more);
    more();
  },
};

/** One byte every 20 ms. */
const SLOW: ScriptedResponse = {
  raw: (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n');
    const timer = setInterval(() => socket.write(' '), 20);
    socket.once('close', () => clearInterval(timer));
  },
};

const RESPONSES: readonly Case[] = [
  ...INVALID,
  {
    title: 'images with missing, null and unknown fields are printed',
    script: () => ({ json: envelope({ id: 1 }, { name: null, extra: { a: [1] } }) }),
    run: 'images list -o ndjson',
    stdout: '{"id":1}\n{"name":null,"extra":{"a":[1]}}\n',
    sent: [IMAGES],
  },
  ...(
    [
      ['compressed', { body: BOMB, headers: { 'content-encoding': 'gzip' } }],
      ['endless', ENDLESS],
    ] satisfies [string, ScriptedResponse][]
  ).map(([what, response]) => ({
    title: `a body that is ${what} ends at 64 MiB`,
    script: () => response,
    run: 'api /v2',
    exitCode: 1,
    stderr: /is larger than 64 MiB/,
    sent: ['GET /v2'],
  })),
  {
    title: 'a response byte by byte ends at --timeout',
    script: () => SLOW,
    run: 'images list --timeout 300ms',
    exitCode: 3,
    stderr: /no complete response within 0\.3 s/,
    sent: [IMAGES],
  },
  // At most twice the pages first announced, and 10 more.
  ...(
    [
      ['A-B-A', numbered(2, () => ({ pages: 4, total: 8 })), 1, 18],
      ['without end', numbered(99, ({ href }) => ({ next_url: href })), 1, 26],
      ['without images or end', numbered(0, ({ href }) => ({ next_url: href, total: 0 })), 0, 12],
    ] satisfies [string, Handler, number, number][]
  ).map(([what, script, exitCode, sent]) => ({
    title: `pages ${what} are never a short list`,
    script,
    run: 'images list --json --per-page 1',
    exitCode,
    stdout: exitCode === 0 ? '[]\n' : '',
    stderr: exitCode === 0 ? '' : /the list is incomplete/,
    sent,
  })),
  {
    title: 'every image of shifting pages is printed once',
    script: ({ url }, index) => ({
      json: cataloguePage(url, index === 0 ? testImages(5) : testImages(6, 0)),
    }),
    run: 'images list --per-page 2 -q',
    stdout: '0\n1\n2\n3\n4\n5\n',
    sent: 6,
  },
  {
    title: 'fields named __proto__ and constructor are printed',
    script: () => ({ body: withText('1,"__proto__":{"a":1},"constructor":"c"') }),
    run: 'images list -o ndjson',
    stdout: '{"id":1,"__proto__":{"a":1},"constructor":"c"}\n',
    sent: [IMAGES],
  },
  {
    title: 'fifty wildcards take linear time',
    script: () => ({ json: envelope({ ...testImage(1), name: 'a'.repeat(10_000) }) }),
    run: `my-images --json -f name,like,${'%a'.repeat(50)}%b`,
    stdout: '[]\n',
    sent: ['GET /v2/user/image/vm'],
  },
  ...(
    [
      ['images list', { json: envelope({ ...testImage(1), name: HOSTILE, folder: HOSTILE }) }],
      ['my-images', { status: 400, json: { message: HOSTILE } }],
      ['api /v2', { status: 302, headers: { location: '/\u009b2J%1b[2J' } }],
    ] satisfies [string, ScriptedResponse][]
  ).map(([run, response]) => ({
    title: `hostile texts are escaped by ${run} --debug`,
    script: () => response,
    run: `${run} --debug --color never`,
    exitCode: run === 'images list' ? 0 : 1,
    stdout: /^/,
    stderr: /^imgctl: debug/,
    sent: 1,
  })),
];

const BUSY: ScriptedResponse = { status: 503, json: { message: 'Busy.' } };
const EXPIRED = errorResponse(401, 'Valid token, but has expired.');
const ACCEPTED: ScriptedResponse = { status: 202, json: { request: { id: 41 } } };
const TOKENS = { [TOKEN]: [issue('T1'), issue('T2')] };

/** After a command that requests a token, unless the row is about token requests. */
const REPEATS = (
  [
    ['a submit that is reset', 'sync', RESET, 3, /may have been submitted/, [SYNC]],
    ['a submit that fails', 'sync', BUSY, 1, /503, Busy/, [SYNC]],
    ['a submit refused once', 'sync', [EXPIRED, ACCEPTED], 0, /^/, [SYNC, TOKEN, SYNC]],
    ['a submit refused for good', 'sync', EXPIRED, 4, /expired/, [SYNC, TOKEN, SYNC]],
    ['a POST that is reset', 'api /v2 -X POST', RESET, 3, /may have taken/, ['POST /v2']],
    ['a token request that is reset', 'login', RESET, 3, /^imgctl: /, [TOKEN]],
    ['a token request that fails', 'login', BUSY, 1, /503, Busy/, [TOKEN]],
  ] satisfies [string, string, Script[string], number, RegExp, [string, ...string[]]][]
).map(([what, run, responses, exitCode, stderr, sent]) => ({
  title: `${what} is sent only as often as is safe`,
  script: { ...TOKENS, [sent[0]]: responses },
  run,
  after: run === 'login' ? [] : ['token'],
  exitCode,
  ...(exitCode === 0 ? { stdout: /41/ } : {}),
  stderr,
  sent: run === 'login' ? sent : [TOKEN, ...sent],
}));

const limited = (after: string) => () => ({ status: 429, headers: { 'retry-after': after } });
const YEAR = 31_536_000;

const LIMITS: readonly Case[] = [
  {
    title: 'a new token that is refused is not renewed',
    script: { ...TOKENS, [IMAGES]: EXPIRED },
    run: 'images list',
    after: [],
    exitCode: 4,
    stderr: /expired/,
    sent: [TOKEN, IMAGES],
  },
  ...[`${YEAR}`, new Date(Date.now() + YEAR * 1_000).toUTCString()].map((retryAfter) => ({
    title: `Retry-After: ${retryAfter}, a year ahead, is not waited for`,
    script: limited(retryAfter),
    run: 'images list',
    exitCode: 6,
    stderr: /hint: try again on \d{4}-\d\d-\d\d at \d\d:/,
    sent: [IMAGES],
  })),
  {
    title: 'a token request limit is respected by the next runs',
    script: limited('600'),
    run: 'login',
    after: ['login', 'images list'],
    exitCode: 6,
    stderr: /hint: try again in (10|9) min.*, at \d\d:/,
    sent: [TOKEN],
  },
];

const matching = (text: string | RegExp) =>
  typeof text === 'string' ? text : expect.stringMatching(text);

const pathsOf = ({ requests }: Pick<ScriptedServer, 'requests'>) =>
  requests.map(({ method, url }) => `${method} ${url.pathname}`);

it.each<Case>([...ORIGINS, ...USAGE, ...RESPONSES, ...REPEATS, ...LIMITS])(
  '$title',
  async ({ script = {}, run, after, env, exitCode = 0, stdout = '', stderr = '', sent }) => {
    const service = await scriptedService(script);
    const user: Environment = after === undefined ? service.env : service.user;
    const imgctl = (line: string, more: Environment = {}) =>
      runBuilt(line.replace('OTHER', other.baseUrl).split(' '), { env: { ...user, ...more } });
    for (const line of after ?? []) await imgctl(line);
    const result = await imgctl(run, env?.());
    expect(result).toEqual({ stdout: matching(stdout), stderr: matching(stderr), exitCode });
    expect((result.stdout + result.stderr).replaceAll('\n', '')).not.toMatch(RAW_HARM);
    if (typeof sent === 'number') expect(service.requests.length).toBeLessThanOrEqual(sent);
    else expect(pathsOf(service)).toEqual(sent);
    expect(pathsOf(other)).toEqual([]);
    // Nothing is stored for a profile whose name is invalid.
    if (exitCode === 2) expect(existsSync(path.join(user.HOME ?? '', '.config'))).toBe(false);
  },
);

const REFUSED = /: 407\nhint: add user name and password to HTTPS_PROXY/;

it.each([
  ['responds 407', 'HTTP/1.1 407 No\r\n\r\n', REFUSED],
  ['hangs up', undefined, /failed: the connection was closed\nhint: check HTTPS_PROXY/],
])('a proxy that %s gets one request', async (_what, response, message) => {
  const { env } = await scriptedService({});
  const proxy = await tunnelTo(response);
  const HTTPS_PROXY = proxy.baseUrl.replace('//', '//user:s3cret@');
  const proxied = { ...env, HTTPS_PROXY, IMGCTL_BASE_URL: 'https://images.example' };
  const result = await runBuilt(['images', 'list'], { env: proxied });
  expect(result).toMatchObject({ stdout: '', stderr: expect.stringMatching(message), exitCode: 3 });
  expect(result.stderr).not.toContain('s3cret');
  expect(proxy.heads).toEqual([expect.stringMatching(/^CONNECT images\.example:443 /)]);
});

it('an unknown certificate is rejected until ca-file names it, even with NODE_TLS_REJECT_UNAUTHORIZED=0', async () => {
  const identity = selfSigned('127.0.0.1');
  const service = await scriptedService({ 'GET /v2': { body: 'here' } }, identity);
  const env = { ...service.env, NODE_TLS_REJECT_UNAUTHORIZED: '0' };
  const refused = await runBuilt(['api', '/v2'], { env });
  expect(refused).toMatchObject({ stdout: '', exitCode: 3 });
  const lines = refused.stderr.split('\n');
  expect(lines).toEqual([
    'imgctl: warning: NODE_TLS_REJECT_UNAUTHORIZED=0 is ignored: certificates are always verified',
    expect.stringMatching(/^hint: .*ca-file/),
    expect.stringMatching(/no trusted TLS connection to .*: DEPTH_ZERO_SELF_SIGNED_CERT$/),
    expect.stringMatching(/^hint: .*imgctl config set ca-file/),
    '',
  ]);
  expect(service.sent()).toEqual([]);
  const file = path.join(service.env.HOME, 'ca.pem');
  writeFileSync(file, identity.cert);
  expect(await service.imgctl('config', 'set', 'ca-file', file)).toMatchObject({ exitCode: 0 });
  expect(await service.imgctl('api', '/v2')).toMatchObject({ stdout: 'here', exitCode: 0 });
});

it('no further request is sent before Retry-After', async () => {
  const arrivals: number[] = [];
  const service = await scriptedService(({ url }, index) => {
    arrivals.push(performance.now());
    if (index === 0) return { status: 429, headers: { 'retry-after': '1' } };
    return { json: cataloguePage(url, testImages(1)) };
  });
  expect(await service.imgctl(...LIST)).toMatchObject({ exitCode: 0 });
  const [first = 0, second = 0, ...more] = arrivals;
  expect(second - first).toBeGreaterThanOrEqual(1_000);
  expect(more).toEqual([]);
});
