// sync: one submit, its outcome, --dry-run and the changes.

import { describe, expect, it } from 'vitest';
import { runCli } from '../support/io.ts';
import {
  RESET,
  requestsTo,
  type ScriptedResponse,
  STALL,
  scriptedServer,
} from '../support/scripted-server.ts';
import { unusedPort } from '../support/sockets.ts';
import { IMAGES, images, REQUEST, record, SUBMIT, SUBMITTED, userOf } from './sync-harness.ts';

describe('sync', () => {
  it('submits once and prints the id and the command that follows it', async () => {
    const service = await scriptedServer({ [SUBMIT]: SUBMITTED });
    const { stdout, stderr, exitCode } = await runCli(['sync', '--json'], userOf(service.baseUrl));
    expect(JSON.parse(stdout)).toEqual({
      id: 41,
      status: 'PENDING',
      url: `${service.baseUrl}/v2/request/image_sync/41`,
      message: 'Submitted',
      response: SUBMITTED.json,
    });
    expect(JSON.parse(stderr).note).toEqual({
      message: 'sync request 41 submitted',
      hint: 'follow it with: imgctl sync-status 41 --wait',
    });
    expect(requestsTo(service)).toEqual([SUBMIT]);
    expect(exitCode).toBe(0);
  });

  it('repeats --profile and --base-url in the command that follows it', async () => {
    const service = await scriptedServer({ [SUBMIT]: SUBMITTED });
    const flags = ['--profile', 'staging', '--base-url', service.baseUrl];
    const { stderr } = await runCli(['sync', ...flags], userOf('http://127.0.0.1:1'));
    expect(stderr).toContain(`imgctl sync-status 41 ${flags.join(' ')} --wait\n`);
  });

  it('warns if it cannot write the history', async () => {
    const service = await scriptedServer({ [SUBMIT]: SUBMITTED });
    const env = { IMGCTL_TOKEN: 'token', IMGCTL_CONFIG_DIR: '/dev/null/x' };
    const { stdout, stderr } = await runCli(['sync', '-q'], userOf(service.baseUrl, env));
    expect(stdout).toBe('41\n');
    expect(stderr).toMatch(/^imgctl: warning: cannot store the sync history: E[A-Z]+\n$/);
  });

  it('prints a table, and only the id with -q', async () => {
    const service = await scriptedServer({ [SUBMIT]: SUBMITTED });
    const table = await runCli(['sync'], userOf(service.baseUrl));
    expect(table.stdout).toMatch(/^id +41\nstatus +PENDING\nurl +http:.*\nmessage +Submitted\n$/);
    const quiet = await runCli(['sync', '-q'], userOf(service.baseUrl));
    expect(quiet).toEqual({ stdout: '41\n', stderr: '', exitCode: 0 });
  });

  it.each<[string, ScriptedResponse]>([
    ['{"status":"accepted"}', { json: { status: 'accepted' } }],
    ['OK, thanks', { body: 'OK, thanks' }],
  ])('fails with an unknown id if the response has none: %s', async (body, response) => {
    const service = await scriptedServer({ [SUBMIT]: response });
    const result = await runCli(['sync', '--wait'], userOf(service.baseUrl));
    expect(result.exitCode).toBe(1);
    expect(result.stderr).toContain('the sync was submitted, but its id is unknown');
    expect(result.stderr).toContain(body);
    expect(requestsTo(service).filter((request) => request === SUBMIT)).toHaveLength(1);
  });
  it.each<[string, ScriptedResponse, number]>([
    ['a reset', RESET, 3],
    ['no response in time', STALL, 3],
    ['503 with Retry-After', { status: 503, headers: { 'retry-after': '1' } }, 1],
  ])('submits once and reports an unknown outcome after %s', async (_what, response, code) => {
    const service = await scriptedServer({ [SUBMIT]: response, [IMAGES]: images() });
    const io = userOf(service.baseUrl);
    const result = await runCli(['sync', '--wait', '--timeout', '200ms'], io);
    expect(result.exitCode).toBe(code);
    expect(result.stdout).toBe('');
    expect(result.stderr).toMatch(
      /^imgctl: the sync may have been submitted: .*\nhint: .*imgctl my-images/,
    );
    expect(requestsTo(service)).toEqual([IMAGES, SUBMIT]);
    expect(io.sleeps).toEqual([]);
  });

  it('reports an unknown outcome after an interrupt', async () => {
    let interrupt = () => {};
    const service = await scriptedServer(() => {
      interrupt();
      return STALL;
    });
    const io = userOf(service.baseUrl);
    interrupt = () => io.interrupt();
    const { stderr, exitCode } = await runCli(['sync'], io);
    expect(stderr).toContain('the sync may have been submitted: interrupted');
    expect(exitCode).toBe(130);
  });

  it('reports no unknown outcome if it could not connect', async () => {
    const { baseUrl } = await unusedPort();
    const { stderr, exitCode } = await runCli(['sync'], userOf(baseUrl));
    expect(stderr).toContain('the connection was refused');
    expect(stderr).not.toContain('outcome');
    expect(exitCode).toBe(3);
  });

  it('reports no unknown outcome if the token request fails', async () => {
    const service = await scriptedServer({ 'POST /auth/request-token': { status: 503 } });
    const env = { IMGCTL_USERNAME: 'demo', IMGCTL_PASSWORD: 'demo' };
    const { stderr, exitCode } = await runCli(['sync'], userOf(service.baseUrl, env));
    expect(stderr).not.toContain('outcome');
    expect(requestsTo(service)).not.toContain(SUBMIT);
    expect(exitCode).toBe(1);
  });

  it.each([
    [401, 'Invalid token.', 4],
    [409, 'Another sync is under way.', 1],
  ])('reports no unknown outcome after %d', async (status, message, code) => {
    const service = await scriptedServer({ [SUBMIT]: { status, json: { message } } });
    const { stderr, exitCode } = await runCli(['sync'], userOf(service.baseUrl));
    expect(stderr).toContain(message.replace(/\.$/, ''));
    expect(stderr).not.toContain('outcome');
    expect(requestsTo(service)).toEqual([SUBMIT]);
    expect(exitCode).toBe(code);
  });
});

describe('sync --dry-run', () => {
  it('prints the request and the images, and submits nothing', async () => {
    const service = await scriptedServer({ [IMAGES]: images('a.ova', 'b.ova') });
    const url = `${service.baseUrl}/v2/user/image/vm`;
    const table = await runCli(['sync', '--dry-run', '--wait'], userOf(service.baseUrl));
    expect(table).toEqual({
      stdout: `method  PATCH\nurl     ${url}\nimages  a.ova, b.ova\n`,
      stderr: 'imgctl: the token is valid; nothing was submitted\n',
      exitCode: 0,
    });
    const json = await runCli(['sync', '--dry-run', '--json'], userOf(service.baseUrl));
    expect(JSON.parse(json.stdout)).toEqual({ method: 'PATCH', url, images: ['a.ova', 'b.ova'] });
    expect(requestsTo(service)).toEqual([IMAGES, IMAGES]);
  });

  it('exits 4 if the token is refused', async () => {
    const refusal = { status: 401, json: { message: 'Invalid token.' } };
    const service = await scriptedServer({ [IMAGES]: refusal });
    const { exitCode } = await runCli(['sync', '--dry-run'], userOf(service.baseUrl));
    expect(exitCode).toBe(4);
    expect(requestsTo(service)).toEqual([IMAGES]);
  });
});

describe('sync --wait', () => {
  const run = async (before: ScriptedResponse, after: ScriptedResponse, fields: object) => {
    const service = await scriptedServer({
      [SUBMIT]: SUBMITTED,
      [IMAGES]: [before, after],
      [REQUEST]: record({ status: 'PROCESSED', ...fields }),
    });
    const io = userOf(service.baseUrl);
    const { stdout, exitCode } = await runCli(['sync', '--wait', '--json', '--retries', '0'], io);
    expect(exitCode).toBe(0);
    const { added, deleted } = JSON.parse(stdout);
    return { added, deleted, requests: requestsTo(service) };
  };
  const [before, after] = [images('a.ova', 'b.ova'), images('b.ova', 'c.ova', 'd.ova')];
  const named = { added: ['c.ova', 'd.ova'], deleted: ['a.ova'] };
  const down: ScriptedResponse = { status: 500 };

  it.each([
    ['numbers', { added: 2, deleted: 1 }],
    ['null', { added: null, deleted: null }],
    ['nothing', {}],
  ])('names the changes if the service sends %s', async (_what, fields) => {
    expect(await run(before, after, fields)).toEqual({
      ...named,
      requests: [IMAGES, SUBMIT, REQUEST, IMAGES],
    });
  });

  it('prints the names that the service sends, without another request', async () => {
    const fields = { added: ['x.ova'], deleted: [] };
    const expected = { ...fields, requests: [IMAGES, SUBMIT, REQUEST] };
    expect(await run(before, after, fields)).toEqual(expected);
  });

  it('prints a number that does not match the names it found', async () => {
    const changes = await run(before, after, { added: 3, deleted: 1 });
    expect(changes).toMatchObject({ added: 3, deleted: ['a.ova'] });
  });

  it.each<[string, ScriptedResponse, ScriptedResponse]>([
    ['before', down, after],
    ['after', before, down],
    ['before, by 403', { status: 403 }, after],
  ])('prints a number if the list of images fails %s', async (_when, first, second) => {
    expect(await run(first, second, { added: 2, deleted: null })).toMatchObject({
      added: 2,
      deleted: null,
    });
  });

  it('prints the names of the changes in a table', async () => {
    const service = await scriptedServer({
      [SUBMIT]: SUBMITTED,
      [IMAGES]: [before, after],
      [REQUEST]: record({ status: 'PROCESSED', added: 2, deleted: [] }),
    });
    const { stdout } = await runCli(['sync', '--wait'], userOf(service.baseUrl));
    expect(stdout).toMatch(/^added +c\.ova, d\.ova\ndeleted +none$/m);
  });
});
