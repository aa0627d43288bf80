// imgctl api: any request of the service's own origin, its body as it came, the token nowhere else.

import { describe, expect, it } from 'vitest';
import { runCli, temporaryDirectory } from '../support/io.ts';
import {
  type Handler,
  requestsTo,
  type Script,
  scriptedServer,
} from '../support/scripted-server.ts';
import { emulatorUser, PASSWORD } from '../support/users.ts';

/** A server that knows these answers, and a user of it with a token. */
async function scripted(script: Handler | Script, prefix = '') {
  const server = await scriptedServer(script);
  const env = {
    IMGCTL_BASE_URL: `${server.baseUrl}${prefix}`,
    IMGCTL_TOKEN: 'T',
    IMGCTL_CONFIG_DIR: temporaryDirectory(),
  };
  const imgctl = (...argv: string[]) => runCli(['api', ...argv], { time: 0, env });
  return { server, imgctl };
}

describe('imgctl api', () => {
  it('prints the body as it came', async () => {
    const body = '{"b":1,  "a": "\u009b31m"}';
    const { server, imgctl } = await scripted({ 'GET /v2/thing': { body } });
    expect(await imgctl('/v2/thing')).toEqual({ stdout: `${body}\n`, stderr: '', exitCode: 0 });
    expect(server.requests[0]?.headers.authorization).toBe('Bearer T');
  });

  it('keeps the path prefix of the base URL', async () => {
    const { server, imgctl } = await scripted(() => ({ json: {} }), '/cloud/');
    await imgctl('/v2/image?page=2');
    await imgctl('v2');
    await imgctl(`${server.baseUrl}/elsewhere`);
    expect(requestsTo(server)).toEqual([
      'GET /cloud/v2/image?page=2',
      'GET /cloud/v2',
      'GET /elsewhere',
    ]);
  });

  it('encodes fields into the query', async () => {
    const { server, imgctl } = await scripted(() => ({ json: {} }));
    await imgctl('/v2/image?page=1', '-f', 'filter=name,like,%a b%', '--field', 'x=1=2&y');
    const query = server.requests[0]?.url.searchParams;
    expect([...(query ?? [])]).toEqual([
      ['page', '1'],
      ['filter', 'name,like,%a b%'],
      ['x', '1=2&y'],
    ]);
  });

  it('-X sends another method, once', async () => {
    const { server, imgctl } = await scripted({ 'PATCH /v2/thing': { status: 503, json: {} } });
    expect((await imgctl('/v2/thing', '-X', 'patch')).exitCode).toBe(1);
    expect(requestsTo(server)).toEqual(['PATCH /v2/thing']);
  });

  it('-i shows status and headers before the body', async () => {
    const answer = { status: 201, headers: { 'X-Odd': 'a\u009bb' }, json: { id: 1 } };
    const { imgctl } = await scripted({ 'GET /v2': answer });
    const { stdout } = await imgctl('/v2', '-i');
    expect(stdout).toMatch(/^201\n(?:.+\n)*x-odd: a\\u009bb\n(?:.+\n)*\n\{"id":1\}\n$/);
  });

  it('shows the body of a refusal and exits by its status', async () => {
    const { imgctl } = await scripted({
      'GET /v2/nope': { status: 404, json: { message: 'No.' } },
    });
    expect(await imgctl('/v2/nope')).toEqual({
      stdout: '{"message":"No."}\n',
      stderr: expect.stringMatching(/^imgctl: GET .*\/v2\/nope: 404, No\n/),
      exitCode: 5,
    });
  });

  it('--paginate prints every page', async () => {
    const { imgctl, requests } = await emulatorUser();
    const argv = ['api', '/v2/image', '-f', 'expand=1', '--paginate'];
    const { stdout, exitCode } = await imgctl(argv, { env: PASSWORD });
    const pages: { data: { id: number }[] }[] = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(exitCode).toBe(0);
    expect(pages.map(({ data }) => data.length)).toEqual([10, 10, 5]);
    expect(new Set(pages.flatMap(({ data }) => data.map(({ id }) => id))).size).toBe(25);
    expect(requests.slice(1).every((request) => request.includes('expand=1'))).toBe(true);
  });

  it('--paginate takes no more than the query of a next_url elsewhere', async () => {
    const page = (next: string | null) => ({ json: { meta: { pages: { next_url: next } } } });
    const other = await scriptedServer({});
    const { server, imgctl } = await scripted({
      'GET /v2/image?page=2': page(null),
      'GET /v2/image': page(`${other.baseUrl}/steal?page=2`),
    });
    expect((await imgctl('/v2/image', '--paginate')).exitCode).toBe(0);
    expect(requestsTo(server)).toEqual(['GET /v2/image', 'GET /v2/image?page=2']);
    expect(other.requests).toEqual([]);
  });

  it('--paginate ends with an error when the pages go round', async () => {
    const page = (query: string) => ({
      json: { meta: { pages: { next_url: `/v2/image${query}` } } },
    });
    const { server, imgctl } = await scripted({
      'GET /v2/image?page=2': page('?page=1'),
      'GET /v2/image': page('?page=2'),
    });
    const { stderr, exitCode } = await imgctl('/v2/image?page=1', '--paginate');
    expect(stderr).toContain('the pages do not end');
    expect(exitCode).toBe(1);
    expect(server.requests).toHaveLength(2);
  });

  it.each([
    [['http://127.0.0.1:9/v2'], 'not a URL of'],
    [['https://evil.example/v2'], 'not a URL of'],
    [['//evil.example/v2'], 'not a URL of'],
    [['http://user:secret@evil.example/'], 'not a URL of'],
    [['/v2', '-X', 'CONNECT'], 'not a method'],
    [['/v2', '-X', 'GET /x'], 'not a method'],
    [['/v2', '-X', 'POST', '--paginate'], '--paginate goes with GET alone'],
    [['/v2', '-f', 'novalue'], 'not key=value'],
    [['/v2', '-f', '=x'], 'not key=value'],
  ])('%j is a usage error; nothing is sent', async (argv, message) => {
    const { server, imgctl } = await scripted({});
    const { stdout, stderr, exitCode } = await imgctl(...argv);
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 2 });
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('secret');
    expect(server.requests).toEqual([]);
  });

  it('a path cannot leave the prefix', async () => {
    const { server, imgctl } = await scripted({}, '/cloud');
    expect((await imgctl('/../admin')).exitCode).toBe(2);
    expect(server.requests).toEqual([]);
  });
});
