// sync --wait and sync-status --wait: statuses, output and the ways a wait ends.

import { describe, expect, it } from 'vitest';
import { failed, fakeIo, runCli } from '../support/io.ts';
import { DROP, errorResponse, type ScriptedResponse, STALL } from '../support/scripted-server.ts';
import { scriptedUser } from '../support/users.ts';
import { DONE, followed, REQUEST, record, START, SUBMIT, SUBMITTED } from './sync-harness.ts';

describe('sync-status --wait', () => {
  it.each([
    ['PROCESSED', 'succeeded', 0],
    ['ERROR', 'failed', 1],
  ])('ends at %s: %s, exit %d', async (status, state, code) => {
    const response = record({ status });
    const { stdout, exitCode, checks } = await followed([response], '--wait --json');
    expect(JSON.parse(stdout)).toMatchObject({ id: 41, status, state, response: response.json });
    expect({ exitCode, checks }).toEqual({ exitCode: code, checks: 1 });
  });

  it.each<[string, ScriptedResponse, string]>([
    ['PENDING', record({ status: 'PENDING' }), 'PENDING'],
    ['an unknown status', { json: { id: 41, status: 'BREWING' } }, 'BREWING'],
    ['a status that is not a text', record({ status: 3 }), 'unknown status'],
    ['a hostile status', record({ status: 'S\u001b[31mX' }), 'S\\u001b[31mX'],
  ])('keeps waiting at %s and shows it', async (_what, response, shown) => {
    const { stdout, stderr, exitCode, checks } = await followed([response, DONE]);
    expect(stdout).toMatch(/^status +PROCESSED$/m);
    expect(stderr).toBe(`sync 41: ${shown}\nsync 41: PROCESSED\n`);
    expect({ exitCode, checks }).toEqual({ exitCode: 0, checks: 2 });
  });

  it.each<[string, ScriptedResponse]>([
    ['500', { status: 500, json: { message: 'Oops.' } }],
    ['a closed connection', DROP],
    ['HTML', { body: '<html>maintenance</html>' }],
    ['null', { json: null }],
  ])('keeps waiting after %s', async (_what, response) => {
    const many = Array.from({ length: 12 }, () => response);
    const { stderr, exitCode } = await followed([...many, DONE]);
    expect(stderr).toMatch(/^sync 41: .+; retrying\nsync 41: PROCESSED\n$/);
    expect(exitCode).toBe(0);
  });

  it('prints every field, even if the service sends none', async () => {
    const { stdout } = await followed([{ json: { status: 'DONE' } }], '--wait --json');
    expect(JSON.parse(stdout)).toEqual({
      id: 41,
      status: 'DONE',
      state: 'succeeded',
      added: null,
      deleted: null,
      errors: [],
      warnings: [],
      created_on: null,
      updated_on: null,
      response: { status: 'DONE' },
    });
  });

  const waiting = Array.from({ length: 8 }, () => record({ status: 'PENDING' }));

  it('waits 2 s at first and at most 15 s between checks', async () => {
    const { io } = await followed([...waiting, DONE]);
    expect(io.sleeps).toEqual([2_000, 3_000, 4_500, 6_750, 10_125, 15_000, 15_000, 15_000]);
  });

  it('is implied by --poll-interval, which sets a fixed interval', async () => {
    const { io } = await followed([...waiting, DONE], '--poll-interval 500ms');
    expect(io.sleeps).toEqual(waiting.map(() => 500));
  });

  it.each([
    ['--wait', 3_600_000, '1 h'],
    ['--wait --wait-timeout 10s', 10_000, '10 s'],
    ['--wait --wait-timeout 100ms', 100, '100 ms'],
  ])('exits 7 at its limit with the command that resumes: %s', async (options, limit, shown) => {
    const { io, ...result } = await followed(waiting, options);
    expect(io.now() - START).toBe(limit);
    const message =
      `imgctl: sync request 41 did not finish within ${shown} (status: PENDING)\n` +
      'hint: keep waiting with: imgctl sync-status 41 --wait\n';
    expect(result).toMatchObject(failed(7, message));
  });

  it('exits 7 at its limit while the service stalls', async () => {
    const { env } = await scriptedUser({ [REQUEST]: STALL });
    const argv = ['sync-status', '41', '--wait-timeout', '100ms', '--timeout', '1h'];
    const message = /\(status: unknown\)\nhint: .*imgctl sync-status 41 --wait\n$/;
    expect(await runCli(argv, { env })).toEqual(failed(7, message));
  });

  it.each<[number, ScriptedResponse, RegExp]>([
    [
      4,
      errorResponse(401, 'Valid token, but has expired.'),
      /has expired; sync request 41 continues\nhint: .*IMGCTL_TOKEN.*; then follow it with: imgctl sync-status 41 --wait\n$/,
    ],
    [
      5,
      { status: 404 },
      /^imgctl: sync request 41 does not exist\nhint: list your requests with: imgctl sync-status --list\n$/,
    ],
    [
      6,
      { status: 429, headers: { 'retry-after': '3600' } },
      /try again in 1 h, at \d\d:\d\d:00; then follow it with: imgctl/,
    ],
  ])('exits %d after the response %j', async (exitCode, response, message) => {
    expect(await followed([response])).toMatchObject(failed(exitCode, message));
  });
});

describe('sync --wait', () => {
  const MISSING: ScriptedResponse = { status: 404 };
  const RESUME = 'hint: follow it with: imgctl sync-status 41 --wait\n';
  const submitted = async (...responses: readonly ScriptedResponse[]) => {
    const { env } = await scriptedUser({ [SUBMIT]: SUBMITTED, [REQUEST]: responses });
    const io = fakeIo({ time: START, env });
    return { io, ...(await runCli(['sync', '--poll-interval', '10s'], io)) };
  };

  it('keeps waiting for a new request that does not exist yet', async () => {
    const seen = record({ status: 'PENDING' });
    const { stderr, exitCode } = await submitted(MISSING, MISSING, seen, MISSING, DONE);
    expect(stderr).toBe(
      [
        'sync request 41 does not exist yet; retrying',
        'PENDING',
        'sync request 41 does not exist yet; retrying',
        'PROCESSED',
      ]
        .map((line) => `sync 41: ${line}\n`)
        .join(''),
    );
    expect(exitCode).toBe(0);
  });

  it('exits 5 after a minute with the command that resumes', async () => {
    const { io, stdout, stderr, exitCode } = await submitted(MISSING);
    expect(io.now() - START).toBe(60_000);
    expect(stderr).toMatch(/\nimgctl: sync request 41 was submitted, but cannot be found\n/);
    expect(stderr).toContain(RESUME);
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 5 });
  });

  it('can be resumed by sync-status --wait within that minute', async () => {
    const user = await scriptedUser({
      [SUBMIT]: SUBMITTED,
      [REQUEST]: [MISSING, MISSING, DONE],
    });
    const later = (seconds: number) => fakeIo({ time: START + 1_000 * seconds, env: user.env });
    expect((await runCli(['sync'], later(0))).exitCode).toBe(0);
    const at = (seconds: number) => runCli(['sync-status', '--wait'], later(seconds));
    expect(await at(61)).toMatchObject(failed(5, 'sync-status --list'));
    expect((await at(59)).exitCode).toBe(0);
  });

  it('can be resumed if the service sends its id as text', async () => {
    const submission = { status: 202, json: { request: { id: '41', status: 'PENDING' } } };
    const { env } = await scriptedUser({ [SUBMIT]: submission, [REQUEST]: [MISSING, DONE] });
    const at = () => fakeIo({ time: START, env });
    expect((await runCli(['sync'], at())).exitCode).toBe(0);
    expect((await runCli(['sync-status', '41', '--wait'], at())).exitCode).toBe(0);
  });

  it('exits 5 for a plain sync-status at once, and for another id', async () => {
    const { env } = await scriptedUser({ [SUBMIT]: SUBMITTED });
    const io = fakeIo({ time: START, env });
    expect((await runCli(['sync'], io)).exitCode).toBe(0);
    for (const argv of [['41'], ['42', '--wait']]) {
      const result = await runCli(['sync-status', ...argv], fakeIo({ time: START, env }));
      expect(result).toMatchObject(failed(5, 'hint: list your requests'));
    }
  });
});

describe('sync-status --wait with errors and warnings', () => {
  const message = { errors: ['bad.ova: no descriptor'], warnings: ['c.ova: no manifest'] };
  const broken = record({ status: 'ERROR', message });

  it('prints them once, on stderr, with a table', async () => {
    const { stdout, stderr, exitCode } = await followed([broken]);
    expect(stdout).not.toMatch(/bad\.ova|c\.ova/);
    expect(stderr).toBe(
      [
        'sync 41: ERROR',
        'imgctl: warning: sync 41: c.ova: no manifest',
        'imgctl: warning: sync 41: error: bad.ova: no descriptor',
        'imgctl: sync request 41 failed (status: ERROR)',
        'hint: fix the files named above, upload them again, then run: imgctl sync',
        '',
      ].join('\n'),
    );
    expect(exitCode).toBe(1);
  });

  it.each(['json', 'csv'])('prints them once, in the record, as %s', async (format) => {
    const { stdout, stderr } = await followed([broken], `--wait -o ${format}`);
    expect(stdout).toContain('bad.ova: no descriptor');
    expect(stdout).toContain('c.ova: no manifest');
    expect(stderr).not.toMatch(/bad\.ova|c\.ova/);
  });

  it('prints them on stderr with -q, and exits 0 if the sync only partly failed', async () => {
    const partly = record({ status: 'PROCESSED', message });
    const { stdout, stderr, exitCode } = await followed([partly], '--wait -q --json');
    expect({ ids: JSON.parse(stdout), exitCode }).toEqual({ ids: [41], exitCode: 0 });
    expect(stderr.match(/bad\.ova|c\.ova/g)).toHaveLength(2);
  });
});

describe('the sync history', () => {
  it.each([
    ['PROCESSED', 0],
    ['SCHEDULED', 7],
  ])('holds the last known status: %s', async (status, code) => {
    const { imgctl } = await scriptedUser({ [SUBMIT]: SUBMITTED, [REQUEST]: record({ status }) });
    expect((await imgctl('sync --wait-timeout 5s')).exitCode).toBe(code);
    expect((await imgctl('sync-status --list -o csv')).stdout).toContain(`\n41,${status},`);
  });

  it('holds no request that was submitted elsewhere', async () => {
    const { io } = await followed([DONE]);
    const { stdout } = await runCli(['sync-status', '--list', '-o', 'csv'], { env: io.env });
    expect(stdout).toBe('id,status,state,submitted_on\r\n');
  });
});
