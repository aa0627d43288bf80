// api: raw requests to the service.

import { describe, expect, it } from 'vitest';
import { nextPage } from '../../../src/commands/automation/api.ts';
import type { HttpResponse } from '../../../src/http/message.ts';
import { failed, fakeIo, runCli } from '../../support/io.ts';
import { emulatorUser, PASSWORD, scriptedUser } from '../../support/users.ts';

/** Only the query counts. */
const NEXT = { meta: { pages: { next_url: 'https://elsewhere.example/v3?page=2' } } };

describe('api', () => {
  /** Runs `imgctl api` and returns the bytes on stdout. */
  async function bytesOf(body: string | Uint8Array, status = 200, options = {}) {
    const { server, env } = await scriptedUser({ 'GET /v2/thing': { status, body } });
    const io = fakeIo({ env: { ...env, IMGCTL_TOKEN: 'long-token' }, ...options });
    const { stderr, exitCode } = await runCli(['api', '/v2/thing'], io);
    expect(server.requests[0]?.headers.authorization).toBe('Bearer long-token');
    return { bytes: io.stdout.bytes, stderr, exitCode };
  }

  it.each([
    ['text without a final newline', '{"b":1,  "a": "\u009b31m"}'],
    ['text that ends in newlines', '\ufeff{}\r\n\n'],
    ['no body', ''],
    ['bytes that are not UTF-8', Uint8Array.from([0xff, 0, 0xc3, 0x28, 0xe9, 0x0d])],
  ])('prints the bytes of the body unchanged: %s', async (_what, body) => {
    const expected = Buffer.from(body);
    expect(await bytesOf(body)).toEqual({ bytes: expected, stderr: '', exitCode: 0 });
    // A message follows an error.
    const isEnded = [undefined, 10].includes(expected.at(-1));
    const ended = isEnded ? expected : Buffer.concat([expected, Buffer.from('\n')]);
    const error = await bytesOf(body, 404);
    expect(error.bytes).toEqual(ended);
    expect(error.stderr).toMatch(/^imgctl: GET .*\/v2\/thing: 404/);
  });

  it('escapes control characters on a terminal and ends the line', async () => {
    const text = '{"a": "\u009b31m\u001b[2J\u202e\t"}\n{\r}';
    const body = Buffer.concat([Buffer.from(text), Uint8Array.of(0xff)]);
    const { bytes } = await bytesOf(body, 200, { columns: 80 });
    const expected = '{"a": "\\u009b31m\\u001b[2J\\u202e\\t"}\n{\\r}\ufffd\n';
    expect(bytes.toString()).toBe(expected);
    expect((await bytesOf('{}\n', 200, { columns: 80 })).bytes.toString()).toBe('{}\n');
    const { imgctl } = await scriptedUser({ 'GET /v2': { body: '{"a":\n"\u202e"}\n' } });
    const { stdout } = await imgctl('api /v2 --slurp', { columns: 80 });
    expect(stdout).toBe('[{"a":\n"\\u202e"}]\n');
  });

  it('redacts the token in an error, and prints of a large one the first MiB', async () => {
    const start = '{"message": "no: long-token"}'.padEnd(2 ** 20 - 7, 'x');
    const body = `${start}long-token`;
    const { bytes, stderr, exitCode } = await bytesOf(body, 404);
    expect(bytes.toString()).toBe(`${start.replace('long-token', '***')}***…\n`);
    expect(stderr).toContain(
      `printed only the first MiB of the error (${body.length} bytes in all)`,
    );
    expect(stderr).toMatch(
      /imgctl: GET .*\/v2\/thing: 404.*\nhint: check the path, and the base URL: IMGCTL_BASE_URL\n$/,
    );
    expect(exitCode).toBe(5);
  });

  it('adds the path to that of the base URL, and encodes fields into the query', async () => {
    const { server, imgctl } = await scriptedUser(() => ({ json: {} }));
    const env = { IMGCTL_BASE_URL: `${server.baseUrl}/cloud/` };
    const fields = ['-f', 'filter=name,like,%a b%', '--field', 'x=1=2&y', '-f', 'x='];
    await imgctl(['api', '/v2/image?page=1', ...fields], { env });
    const { pathname = '', searchParams = [] } = server.requests[0]?.url ?? {};
    const sent = ['page=1', 'filter=name,like,%a b%', 'x=1=2&y', 'x='];
    expect([pathname, ...[...searchParams].map((pair) => pair.join('='))]).toEqual([
      '/cloud/v2/image',
      ...sent,
    ]);
  });

  it('sends another method once with -X', async () => {
    const script = { 'PATCH /v2/thing': { status: 503, json: {} } };
    const { imgctl, requests } = await scriptedUser(script);
    const { stderr, exitCode } = await imgctl('api /v2/thing -X patch');
    expect([stderr.includes('check the path'), exitCode]).toEqual([false, 1]);
    expect(requests()).toEqual(['PATCH /v2/thing']);
  });

  it('prints status and headers before the body with -i', async () => {
    const response = { status: 201, headers: { 'X-Odd': 'a\u009bb' }, json: { id: 1 } };
    const { imgctl } = await scriptedUser({ 'GET /v2': response });
    const lines = (await imgctl('api /v2 -i')).stdout.split('\n');
    expect(lines).toContain('x-odd: a\\u009bb');
    expect([lines[0], ...lines.slice(-2)]).toEqual(['HTTP/1.1 201 Created', '', '{"id":1}']);
    const denied = { status: 499, headers: { 'X-Odd': 'long-token' }, json: {} };
    const echo = await scriptedUser({ 'GET /v2': denied }, { IMGCTL_TOKEN: 'long-token' });
    const { stdout } = await echo.imgctl('api /v2 -i');
    expect(stdout).toMatch(/^HTTP\/1\.1 499\n[\s\S]*^x-odd: \*\*\*$/m);
  });

  it('prints every page with --paginate', async () => {
    const { imgctl, requests } = await emulatorUser();
    const { stdout } = await imgctl('api /v2/image -f expand=1 --paginate', { env: PASSWORD });
    const lines = stdout.trim().split('\n');
    const pages: { data: { id: number }[] }[] = lines.map((line) => JSON.parse(line));
    expect(pages.map(({ data }) => data.length)).toEqual([10, 10, 5]);
    expect(new Set(pages.flatMap(({ data }) => data.map(({ id }) => id))).size).toBe(25);
    expect(requests.slice(1).every((request) => request.includes('expand=1'))).toBe(true);
  });

  it('prints one JSON array of every page with --slurp, number by number as sent', async () => {
    const first = '{"meta": {"pages": {"next_url": "?page=2"}}, "x": 1e400}';
    const { imgctl } = await scriptedUser({
      'GET /v2/image?page=2': { body: '\ufeff{"big": 9007199254740993}\r\n' },
      'GET /v2/image': { body: first },
    });
    const stdout = `[${first},\n{"big": 9007199254740993}]\n`;
    expect(await imgctl('api /v2/image --slurp')).toEqual({ stdout, stderr: '', exitCode: 0 });
  });

  it.each([
    ['an error', { status: 503, json: { message: 'Busy.' } }, '{"message":"Busy."}\n', '503, Busy'],
    ['text', { body: 'Busy.' }, '', 'cannot add /v2/image to the array: it is not JSON'],
    [
      'too deep',
      { body: '['.repeat(51) + ']'.repeat(51) },
      '',
      'cannot add /v2/image to the array: JSON nested deeper than 50 levels',
    ],
  ])('leaves the array of --slurp open if a page is %s', async (_what, page, printed, message) => {
    const script = { 'GET /v2/image?page=2': page, 'GET /v2/image': { json: NEXT } };
    const { imgctl } = await scriptedUser(script);
    const { stdout, stderr, exitCode } = await imgctl('api /v2/image --paginate --slurp');
    expect({ stdout, exitCode }).toEqual({
      stdout: `[${JSON.stringify(NEXT)}${printed}`,
      exitCode: 1,
    });
    expect(stderr).toContain(message);
    const isOfSlurp = stderr.endsWith('\nhint: omit --slurp to print the bytes of each response\n');
    expect(isOfSlurp).toBe(message.includes('array'));
  });

  it('fails if --paginate reads a page twice', async () => {
    const { imgctl, requests } = await scriptedUser({ 'GET /v2/image': { json: NEXT } });
    const { stderr, exitCode } = await imgctl('api /v2/image?page=1 --paginate');
    const reason = 'next_url leads back to a page already read\nhint: run the command again';
    expect([stderr, exitCode]).toEqual([`imgctl: the pages do not end: ${reason}\n`, 1]);
    expect(requests()).toHaveLength(2);
  });

  it('reads at most 10,000 pages', () => {
    const response = { body: Buffer.from(JSON.stringify(NEXT)), url: new URL('http://a/v2') };
    const visited = new Set(Array.from({ length: 9_999 }, (_, page) => `?${page}`));
    const next = () => nextPage(response as HttpResponse, visited)?.href;
    expect(next()).toBe('http://a/v2?page=2');
    visited.add('');
    expect(next).toThrow('the pages do not end: 10000 were read');
  });

  it.each([
    ['http://user:secret@evil.example/', 'not a URL of'],
    ['//evil.example/v2', 'not a URL of'],
    ['/v2 -X CONNECT', 'invalid --method'],
    [`/v2 -X ${'A'.repeat(21)}`, 'invalid --method'],
    ["' '", 'the path must not be empty\nhint: provide one, such as /v2/image'],
    ['/v2 -X POST --paginate', '--paginate works only with GET'],
    ['/v2 -f novalue', '--field must be key=value'],
    ['/v2 -f =x', '--field must be key=value'],
  ])('rejects %s without a request', async (line, message) => {
    const { imgctl, requests } = await scriptedUser({});
    const result = await imgctl(`api ${line}`);
    expect(result).toEqual(failed(2, message));
    expect(result.stderr).not.toContain('secret');
    expect(requests()).toEqual([]);
  });
});
