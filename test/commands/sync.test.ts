// sync: one submit, its outcome, --dry-run and the changes.

import { describe, expect, it } from 'vitest';
import { failed } from '../support/io.ts';
import { unixOnly } from '../support/platform.ts';
import { errorResponse, RESET, type ScriptedResponse, STALL } from '../support/scripted-server.ts';
import { unusedPort } from '../support/sockets.ts';
import { scriptedUser, TOKEN_REQUEST } from '../support/users.ts';
import { IMAGES, images, REQUEST, record, SUBMIT, SUBMITTED } from './sync-harness.ts';

describe('sync', () => {
  it('submits once and prints the id and the command that follows it', async () => {
    const { imgctl, requests, server } = await scriptedUser({ [SUBMIT]: SUBMITTED });
    const { stdout, stderr, exitCode } = await imgctl('sync --json');
    expect(JSON.parse(stdout)).toEqual({
      id: 41,
      status: 'PENDING',
      url: `${server.baseUrl}/v2/request/image_sync/41`,
      message: 'Submitted',
      response: SUBMITTED.json,
    });
    expect(JSON.parse(stderr).note).toEqual({
      message: 'sync request 41 submitted',
      hint: 'follow it with: imgctl sync-status 41 --wait',
    });
    expect({ requests: requests(), exitCode }).toEqual({ requests: [SUBMIT], exitCode: 0 });
  });

  it('repeats --profile and --base-url in the command that follows it', async () => {
    const { imgctl, server } = await scriptedUser({ [SUBMIT]: SUBMITTED });
    const flags = `--profile staging --base-url ${server.baseUrl}`;
    const { stderr } = await imgctl(`sync ${flags}`, { env: { IMGCTL_BASE_URL: undefined } });
    expect(stderr).toContain(`imgctl sync-status 41 ${flags} --wait\n`);
  });

  unixOnly('/dev is Unix')('warns if it cannot write the history', async () => {
    const { imgctl } = await scriptedUser({ [SUBMIT]: SUBMITTED });
    const env = { IMGCTL_CONFIG_DIR: '/dev/null/x' };
    const { stdout, stderr } = await imgctl('sync -q', { env });
    expect(stdout).toBe('41\n');
    expect(stderr).toMatch(/^imgctl: warning: cannot store the sync history: E[A-Z]+\n$/);
  });

  it('prints a table, and only the id with -q', async () => {
    const { imgctl } = await scriptedUser({ [SUBMIT]: SUBMITTED });
    const { stdout } = await imgctl('sync');
    expect(stdout).toMatch(/^id +41\nstatus +PENDING\nurl +http:.*\nmessage +Submitted\n$/);
    expect(await imgctl('sync -q')).toEqual({ stdout: '41\n', stderr: '', exitCode: 0 });
  });

  it.each<[string, ScriptedResponse]>([
    ['{"status":"accepted"}', { json: { status: 'accepted' } }],
    ['OK, thanks', { body: 'OK, thanks' }],
  ])('fails with an unknown id if the response has none: %s', async (body, response) => {
    const { imgctl, requests } = await scriptedUser({ [SUBMIT]: response });
    const { stderr, exitCode } = await imgctl('sync --wait');
    expect(stderr).toContain('the sync was submitted, but its id is unknown');
    expect(stderr).toContain(body);
    expect(requests().filter((request) => request === SUBMIT)).toHaveLength(1);
    expect(exitCode).toBe(1);
  });

  it.each<[string, ScriptedResponse, number]>([
    ['a reset', RESET, 3],
    ['no response in time', STALL, 3],
    ['503 with Retry-After', { status: 503, headers: { 'retry-after': '1' } }, 1],
  ])('submits once and reports an unknown outcome after %s', async (_what, response, code) => {
    const { imgctl, requests } = await scriptedUser({ [SUBMIT]: response, [IMAGES]: images() });
    const message = /^imgctl: the sync may have been submitted: .*\nhint: .*imgctl my-images/;
    expect(await imgctl('sync --wait --timeout 200ms')).toEqual(failed(code, message));
    expect(requests()).toEqual([SUBMIT]);
  });

  it.each<[string, ScriptedResponse, string[], number]>([
    ['Invalid token', errorResponse(401, 'Invalid token.'), [SUBMIT], 4],
    ['Another sync', errorResponse(409, 'Another sync is under way.'), [SUBMIT], 1],
    ['/auth/request-token: 503', { status: 503 }, [TOKEN_REQUEST], 1],
  ])('reports no unknown outcome with %s', async (message, response, sent, code) => {
    const key = sent[0] ?? '';
    const { imgctl, requests } = await scriptedUser({ [key]: response });
    const user = { IMGCTL_TOKEN: undefined, IMGCTL_USERNAME: 'demo', IMGCTL_PASSWORD: 'demo' };
    const { stderr, exitCode } = await imgctl('sync', key === SUBMIT ? {} : { env: user });
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('may have been submitted');
    expect({ requests: requests(), exitCode }).toEqual({ requests: sent, exitCode: code });
  });

  it('reports no unknown outcome if it could not connect', async () => {
    const { imgctl } = await scriptedUser({});
    const { baseUrl } = await unusedPort();
    const { stderr, exitCode } = await imgctl('sync', { env: { IMGCTL_BASE_URL: baseUrl } });
    expect(stderr).toContain('the connection was refused');
    expect(stderr).not.toContain('may have been submitted');
    expect(exitCode).toBe(3);
  });
});

it('sync --dry-run prints the request and the images, and submits nothing', async () => {
  const { imgctl, requests, server } = await scriptedUser({ [IMAGES]: images('a.ova', 'b.ova') });
  const url = `${server.baseUrl}/v2/user/image/vm`;
  expect(await imgctl('sync --dry-run --wait')).toEqual({
    stdout: `method  PATCH\nurl     ${url}\nimages  a.ova, b.ova\n`,
    stderr: 'imgctl: the token is valid; nothing was submitted\n',
    exitCode: 0,
  });
  const { stdout } = await imgctl('sync --dry-run --json');
  expect(JSON.parse(stdout)).toEqual({ method: 'PATCH', url, images: ['a.ova', 'b.ova'] });
  expect(requests()).toEqual([IMAGES, IMAGES]);
});

describe('sync --wait', () => {
  it.each([
    ['names', { added: ['x.ova'], deleted: [] }],
    ['numbers', { added: 2, deleted: 1 }],
    ['null', { added: null, deleted: null }],
  ])('prints the changes as the service sends them: %s', async (_what, fields) => {
    const { imgctl, requests } = await scriptedUser({
      [SUBMIT]: SUBMITTED,
      [REQUEST]: record({ status: 'PROCESSED', ...fields }),
    });
    const { stdout, exitCode } = await imgctl('sync --wait --json');
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject(fields);
    expect(requests()).toEqual([SUBMIT, REQUEST]);
  });

  it('prints the names of the changes in a table', async () => {
    const { imgctl } = await scriptedUser({
      [SUBMIT]: SUBMITTED,
      [REQUEST]: record({ status: 'PROCESSED', added: ['c.ova', 'd.ova'], deleted: [] }),
    });
    const { stdout } = await imgctl('sync --wait');
    expect(stdout).toMatch(/^added +c\.ova, d\.ova\ndeleted +none$/m);
  });
});
