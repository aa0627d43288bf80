// sync and sync-status: one submit, its outcome, the ways a wait ends, --dry-run and the history.

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { mayPass } from '../../../src/commands/packages/sync/follow.ts';
import { type ErrorCode, EXIT_CODES, ImgctlError } from '../../../src/errors.ts';
import { failed, fakeIo, runCli } from '../../support/io.ts';
import { unixOnly } from '../../support/platform.ts';
import {
  DROP,
  errorResponse,
  type ScriptedResponse,
  STALL,
} from '../../support/scripted-server.ts';
import { tunnelTo } from '../../support/sockets.ts';
import { expectSteps } from '../../support/steps.ts';
import { noted, scriptedUser, TOKEN_REQUEST } from '../../support/users.ts';
import { IMAGES, REQUEST, record, START, SUBMIT, SUBMITTED } from './sync-harness.ts';

const NOTHING = { errors: [], warnings: [] };
const DONE = record({ status: 'PROCESSED', added: [], deleted: [], message: NOTHING });
const PENDING = record({ status: 'PENDING' });
const MISSING: ScriptedResponse = { status: 404 };
const FOLLOW = 'follow it with: imgctl sync-status 41 --wait';

/** Runs a line against these responses to a submit and to the checks of request 41; waits take no time. */
async function runWith(line: string, ...responses: readonly ScriptedResponse[]) {
  const { env, server } = await scriptedUser({ [SUBMIT]: SUBMITTED, [REQUEST]: responses });
  const io = fakeIo({ time: START, env });
  const result = await runCli(line.split(' '), io);
  return { result, ...result, io, waited: () => io.now() - START, checks: server.requests.length };
}

const follow = (options: string, ...responses: readonly ScriptedResponse[]) =>
  runWith(`sync-status 41 ${options}`.trim(), ...responses);

const USER = 'IMGCTL_TOKEN= IMGCTL_USERNAME=demo IMGCTL_PASSWORD=demo';

describe('sync', () => {
  it('submits once and prints the id and the command that follows it', async () => {
    const { imgctl, requests, server } = await scriptedUser({ [SUBMIT]: SUBMITTED });
    const url = `${server.baseUrl}/v2/request/image_sync/41`;
    const flags = `--profile staging --base-url ${server.baseUrl}`;
    const submitted = { id: 41, status: 'PENDING', url, message: 'Submitted' };
    const note = { message: 'sync request 41 submitted', hint: FOLLOW };
    const other = new RegExp(`imgctl sync-status 41 --wait ${flags}\n`);
    await expectSteps(
      imgctl,
      ['sync --json', { ...submitted, response: SUBMITTED.json }, { note }],
      ['sync', /^id +41\nstatus +PENDING\nurl +http:.*\nmessage +Submitted\n$/, /submitted/],
      ['sync -q', '41\n'],
      [`IMGCTL_BASE_URL= sync ${flags} --get id`, '41\n', other],
    );
    expect(requests()).toEqual([SUBMIT, SUBMIT, SUBMIT, SUBMIT]);
  });

  unixOnly('/dev is Unix')(
    'gives one warning if it cannot store the history, or neither the history nor a token',
    async () => {
      const token = { json: { token: 'T', expires: '2030-01-01T00:00:00Z' } };
      const { imgctl } = await scriptedUser({ [SUBMIT]: SUBMITTED, [TOKEN_REQUEST]: token });
      const line = 'IMGCTL_CONFIG_DIR=/dev/null/x sync -q';
      const warning = /^imgctl: warning: cannot store the sync history: not a directory\n$/;
      await expectSteps(
        imgctl,
        [line, '41\n', warning],
        [`${USER} ${line}`, '41\n', /^imgctl: warning: .*token.*\n(hint: .*\n)?$/],
      );
    },
  );

  it('warns that it cannot read the history, and does not overwrite it', async () => {
    const { imgctl, env } = await scriptedUser({ [SUBMIT]: SUBMITTED });
    const file = path.join(`${env.IMGCTL_CONFIG_DIR}`, 'sync-history.json');
    writeFileSync(file, '[');
    const text =
      /^imgctl: warning: cannot read the history .*\nhint: move it elsewhere; it is not /;
    await expectSteps(imgctl, ['sync -q', '41\n', text]);
    expect(readFileSync(file, 'utf8')).toBe('[');
  });

  it('that is interrupted while it submits says how to check the outcome', async () => {
    const { env } = await scriptedUser(() => {
      io.interrupt('terminated');
      return STALL;
    });
    const io = fakeIo({ env });
    const message = /: the sync may have been submitted: terminated\nhint: .*imgctl my-images/;
    expect(await runCli(['sync'], io)).toEqual(failed(143, message));
  });

  it('is submitted again after a limit refused it', async () => {
    const limited = { status: 429, headers: { 'retry-after': '2' } };
    const { imgctl, requests } = await scriptedUser({ [SUBMIT]: [limited, SUBMITTED] });
    expect(await imgctl('sync -q')).toEqual({ stdout: '41\n', stderr: '', exitCode: 0 });
    expect(requests()).toEqual([SUBMIT, SUBMIT]);
  });

  it('submits once and fails with an unknown outcome if the response has no id', async () => {
    const { imgctl, requests } = await scriptedUser({ [SUBMIT]: { json: ['x'.repeat(600)] } });
    const message = /^imgctl: the sync may have been .* without the id .*: \["x{197}…\n/;
    expect(await imgctl('sync --wait')).toEqual(failed(3, message));
    expect(requests()).toEqual([SUBMIT]);
  });

  it.each(['sync', 'sync --wait'])('submits nothing with %s in an unknown format', async (line) => {
    const { imgctl, requests } = await scriptedUser({ [SUBMIT]: SUBMITTED });
    expect(await imgctl(`IMGCTL_OUTPUT=xml ${line}`)).toMatchObject({ exitCode: 2, stdout: '' });
    expect(requests()).toEqual([]);
  });

  const BUSY = errorResponse(409, 'Another sync is under way.');

  it.each<[string, string, ScriptedResponse, number, RegExp]>([
    ['sync', SUBMIT, errorResponse(401, 'Invalid token.'), 4, /^imgctl: the service refused/],
    ['sync', SUBMIT, BUSY, 1, /^imgctl: \S+ \S+ 409, Another sync/],
    [`${USER} sync`, TOKEN_REQUEST, { status: 502 }, 1, /^imgctl: \S+ \S+request-token: 502/],
    ['IMGCTL_BASE_URL=http://127.0.0.1:9 sync', '', {}, 3, /^imgctl: cannot reach .*: the conn/],
  ])('reports no unknown outcome: %s after %s and %j', async (line, sent, response, code, text) => {
    const { imgctl, requests } = await scriptedUser({ [sent]: response });
    expect(await imgctl(line)).toEqual(failed(code, text));
    expect(requests()).toEqual(sent === '' ? [] : [sent]);
  });

  it('--dry-run prints the request and the images, and submits nothing', async () => {
    const data = [{ id: 1, name: 'a.ova' }, { id: 2 }];
    const listed = { json: { data, meta: { count: 2 } } };
    const { imgctl, requests, server } = await scriptedUser({ [IMAGES]: listed });
    const url = `${server.baseUrl}/v2/user/image/vm`;
    const note = 'imgctl: the token is valid; nothing was submitted\n';
    await expectSteps(
      imgctl,
      ['sync --dry-run --wait', `method  PATCH\nurl     ${url}\nimages  a.ova, 2\n`, note],
      ['sync --dry-run --get id', '', /--dry-run/, 2],
      ['sync --dry-run --json', { method: 'PATCH', url, images: ['a.ova', '2'] }, /nothing/],
    );
    expect(requests()).toEqual([IMAGES, IMAGES]);
  });

  it.each([
    [{ added: ['c.ova', 'd.ova'], deleted: [] }, /^added +c\.ova, d\.ova\ndeleted +none$/m],
    [{ added: 2, deleted: null }, /^added +2\ndeleted +-$/m],
    [{ added: [7, { id: 8 }], deleted: [] }, /^added +7, \{"id":8\}$/m],
  ])('--wait prints the changes as the service sends them: %j', async (fields, table) => {
    const response = record({ status: 'PROCESSED', ...fields });
    expect((await runWith('sync --wait', response)).stdout).toMatch(table);
    expect(JSON.parse((await runWith('sync --wait --json', response)).stdout)).toMatchObject(
      fields,
    );
  });

  it('--wait tells an empty list from one that the service did not send', async () => {
    const silent = record({ status: 'PROCESSED' });
    const sent = record({ status: 'PROCESSED', added: null });
    const json = JSON.parse((await runWith('sync --wait --json', silent)).stdout);
    expect(json).toMatchObject({ added: null });
    expect((await runWith('sync --wait --get added', sent)).exitCode).toBe(0);
    expect((await runWith('sync --wait --get added', silent)).exitCode).toBe(5);
  });

  it('--wait keeps waiting for a minute if the request does not exist yet', async () => {
    const line = 'sync --poll-interval 10s';
    const { stderr, exitCode } = await runWith(line, MISSING, MISSING, PENDING, MISSING, DONE);
    const retrying = 'not found yet; retrying';
    const lines = [retrying, 'PENDING', retrying, 'PROCESSED'].map((each) => `sync 41: ${each}\n`);
    expect({ stderr, exitCode }).toEqual({ stderr: lines.join(''), exitCode: 0 });
    const { result, waited } = await runWith(line, MISSING);
    expect(waited()).toBe(60_000);
    const message = 'imgctl: sync request 41 was submitted, but cannot be found\n';
    expect(result).toEqual(failed(5, `\n${message}hint: ${FOLLOW}\n`));
  });

  it('--wait keeps waiting for a minute if the request is not found after it was seen', async () => {
    const line = 'sync-status 41 --wait --poll-interval 30s';
    const seen = [PENDING, PENDING, PENDING, PENDING];
    expect((await runWith(line, ...seen, MISSING, DONE)).exitCode).toBe(0);
    const { result, waited } = await runWith(line, ...seen, MISSING);
    expect(waited()).toBe(150_000);
    expect(result.exitCode).toBe(5);
    expect(result.stderr).toContain('sync request 41 was submitted, but cannot be found\n');
    expect(result.stderr).toContain(`hint: ${FOLLOW}\n`);
  });

  it('sync-status names the command that resumes if a request was seen within a minute', async () => {
    const { imgctl } = await scriptedUser({ [SUBMIT]: SUBMITTED, [REQUEST]: [PENDING, MISSING] });
    const at = (line: string, seconds: number) => imgctl(line, { time: START + 1_000 * seconds });
    for (const line of ['sync', 'sync-status']) await at(line, line === 'sync-status' ? 300 : 0);
    const soon = await at('sync-status 41', 330);
    expect([soon.exitCode, soon.stderr]).toEqual([5, expect.stringContaining(`hint: ${FOLLOW}`)]);
    expect((await at('sync-status 41', 400)).stderr).toContain('sync request 41 does not exist');
  });

  it.each(['sync-status 41', 'sync-status 41 --wait', 'images get 41'])(
    '%s sends one token request if that is answered with 404',
    async (line) => {
      const login = { IMGCTL_TOKEN: '', IMGCTL_USERNAME: 'demo', IMGCTL_PASSWORD: 'demo' };
      const { imgctl, requests } = await scriptedUser(() => MISSING, login);
      expect(await imgctl(line)).toEqual(failed(1, /auth\/request-token: 404/));
      expect(requests()).toEqual([TOKEN_REQUEST]);
    },
  );

  it('can be resumed by sync-status --wait within that minute', async () => {
    const checks = [MISSING, MISSING, MISSING, DONE];
    const { imgctl } = await scriptedUser({ [SUBMIT]: SUBMITTED, [REQUEST]: checks });
    const at = (line: string, seconds: number) => imgctl(line, { time: START + 1_000 * seconds });
    expect((await at('sync', 0)).exitCode).toBe(0);
    const listed = failed(5, '; list your requests with: imgctl sync-status --list');
    expect(await at('sync-status --wait', 61)).toEqual(listed);
    expect(await at('sync-status 41', 0)).toEqual(failed(5, `hint: ${FOLLOW}\n`));
    expect(await at('sync-status 42 --wait', 0)).toEqual(listed);
    expect((await at('sync-status 41 --wait', 59)).exitCode).toBe(0);
  });

  it('can be resumed for no longer than a minute if the clock was set back since', async () => {
    const { imgctl, requests } = await scriptedUser({ [SUBMIT]: SUBMITTED, [REQUEST]: MISSING });
    await imgctl('sync', { time: START });
    const line = 'sync-status 41 --wait --poll-interval 30s';
    expect((await imgctl(line, { time: START - 3_600_000 })).exitCode).toBe(5);
    expect(requests().filter((request) => request === REQUEST)).toHaveLength(3);
  });
});

describe('sync-status --wait', () => {
  it.each<[string, ScriptedResponse, RegExp]>([
    ['an unknown status', { json: { id: 41, status: 'BREWING' } }, /BREWING/],
    [
      'a status that is not a text',
      record({ status: 3, text: 'x'.repeat(300) }),
      /no status in {"data":.*"status":3,.*xx…/,
    ],
    ['a hostile status', record({ status: 'S\u001b[31mX' }), /S\\u001b\[31mX/],
    ['500', { status: 500, json: { message: 'Oops.' } }, /still failing \(500\); retrying/],
    ['a closed connection', DROP, /http.+ closed the connection .+; retrying/],
    ['HTML', { body: '<html>maintenance</html>' }, /.+ 200 with HTML .+; retrying/],
    ['null', { json: null }, /.+; retrying/],
  ])('keeps waiting at %s and shows it', async (_what, response, shown) => {
    const { stdout, stderr, exitCode } = await follow('--wait', ...Array(12).fill(response), DONE);
    expect(stderr).toMatch(new RegExp(`^sync 41: ${shown.source}\nsync 41: PROCESSED\n$`));
    expect({ stdout, exitCode }).toEqual({
      stdout: expect.stringMatching(/^state +succeeded$/m),
      exitCode: 0,
    });
  });

  it('keeps waiting only after errors that may pass', () => {
    const codes = Object.keys(EXIT_CODES) as ErrorCode[];
    const passing = (mayAppear: boolean, retryAfter?: number) =>
      codes.filter((code) => mayPass(new ImgctlError(code, '', { retryAfter }), mayAppear));
    const always = ['server-error', 'bad-answer', 'locked', 'unreachable', 'timeout', 'proxy'];
    expect(passing(false)).toEqual(always);
    expect(passing(true)).toEqual([...always, 'not-found']);
    expect(passing(false, 0)).toEqual([...always, 'rate-limited']);
  });

  it('keeps waiting behind a proxy that responds with 400', async () => {
    const { baseUrl } = await tunnelTo('HTTP/1.1 400 Bad Request\r\n\r\n');
    const service = { IMGCTL_BASE_URL: 'https://images.invalid', IMGCTL_TOKEN: 'x' };
    const env = { ...service, HTTPS_PROXY: baseUrl };
    const argv = 'sync-status 41 --wait-timeout 3s'.split(' ');
    const { stderr } = await runCli(argv, { env, time: START });
    expect(stderr).toMatch(/^sync 41: still failing \(400\); retrying\n/);
  });

  it('keeps waiting after a response that did not come within --timeout', async () => {
    const { stderr, exitCode } = await follow('--wait --retries 0 --timeout 100ms', STALL, DONE);
    expect(stderr).toMatch(
      /^sync 41: .* no complete response within 0\.1 s.*; retrying\nsync 41: PRO/,
    );
    expect(exitCode).toBe(0);
  });

  it.each([
    ['--wait', [2_000, 3_000, 4_500, 6_750, 10_125, 15_000, 15_000, 15_000]],
    ['--poll-interval 500ms', Array(8).fill(500)],
  ])('checks at growing or fixed intervals: %s', async (options, sleeps) => {
    expect((await follow(options, ...Array(8).fill(PENDING), DONE)).io.sleeps).toEqual(sleeps);
  });

  it.each([
    ['--wait', 3_600_000, '1 h'],
    ['--wait --wait-timeout 100ms', 100, '100 ms'],
  ])('exits 7 at its limit with the command that resumes: %s', async (options, limit, shown) => {
    const { result, waited } = await follow(options, PENDING);
    expect(waited()).toBe(limit);
    const message = `imgctl: sync request 41 did not finish within ${shown} (status: PENDING)\n`;
    const hint = 'hint: keep waiting with: imgctl sync-status 41 --wait\n';
    expect(result).toEqual(failed(7, message + hint));
  });

  it('exits 7 at its limit while the service stalls', async () => {
    const { env } = await scriptedUser({ [REQUEST]: STALL });
    const argv = ['sync-status', '41', '--wait-timeout', '100ms', '--timeout', '1h'];
    const message = /\(status: unknown\)\nhint: .*imgctl sync-status 41 --wait\n$/;
    expect(await runCli(argv, { env })).toEqual(failed(7, message));
  });

  it('exits 130 if it is interrupted at its limit, at any moment of the last check', async () => {
    for (let moment = 1; moment <= 5; moment += 1) {
      const { env, requests } = await scriptedUser({
        [REQUEST]: [PENDING, record({ status: 'SCHEDULED' })],
      });
      const io = fakeIo({ time: START, env });
      let moments = 0;
      const elapsed = () => {
        if (requests().length === 2) moments += 1;
        if (moments === moment) io.interrupt();
        return io.elapsed();
      };
      const argv = 'sync-status 41 --wait-timeout 100ms'.split(' ');
      const message = `SCHEDULED\nimgctl: interrupted; sync request 41 continues\nhint: ${FOLLOW}\n`;
      expect(await runCli(argv, { ...io, elapsed })).toEqual(failed(130, message));
    }
  });

  const EXPIRED = errorResponse(401, 'Valid token, but has expired.');
  const LIMITED = { status: 429, headers: { 'retry-after': '3600' } };
  const UNAVAILABLE = { ...LIMITED, status: 503 };
  const LIST =
    'if another user submitted it, log in as that user; list your requests with: imgctl sync-status --list';

  it.each<[number, ScriptedResponse, string]>([
    [4, EXPIRED, `expired; sync request 41 continues\nhint: .*IMGCTL_TOKEN.*; then ${FOLLOW}\n$`],
    [5, MISSING, `^imgctl: sync request 41 does not exist\nhint: ${LIST}\n$`],
    [7, { status: 429 }, '\nimgctl: sync request 41 did not finish within 5 min '],
    [7, UNAVAILABLE, `\nimgctl: sync request 41 did not finish within 5 min \\(status: unknown\\)`],
    [6, LIMITED, `\nhint: try again at \\d\\d:\\d\\d:00 \\(in 1 h\\); then ${FOLLOW}\n$`],
  ])('exits %d after the response %j', async (exitCode, response, message) => {
    const { result } = await follow('--wait --wait-timeout 5m', response);
    expect(result).toEqual(failed(exitCode, new RegExp(message)));
  });

  const message = { errors: ['bad.ova: no descriptor'], warnings: ['c.ova: no manifest'] };
  const broken = record({ status: 'ERROR', message });
  const partial = record({ status: 'PROCESSED', added: ['a.ova'], message });
  const warned = record({
    ...{ status: 'PROCESSED', added: ['a.ova'] },
    message: { ...message, errors: [] },
  });

  it('prints errors and warnings once: on stderr with a table, in the record in other formats', async () => {
    const table = await follow('--wait', broken);
    expect(table.stdout).not.toMatch(/bad\.ova|c\.ova/);
    expect(table.stderr.split('\n')).toEqual([
      'sync 41: ERROR',
      'imgctl: warning: sync 41: c.ova: no manifest',
      'imgctl: error: sync 41: bad.ova: no descriptor',
      'imgctl: sync request 41 failed (status: ERROR)',
      'hint: fix the files named above, upload them again, then run: imgctl sync',
      '',
    ]);
    expect(table.exitCode).toBe(1);
    for (const format of ['json', 'csv']) {
      const { stdout, stderr } = await follow(`--wait -o ${format}`, broken);
      expect(stdout).toMatch(/bad\.ova: no descriptor[\s\S]*c\.ova: no manifest/);
      expect(stderr).not.toMatch(/bad\.ova|c\.ova/);
    }
    const partly = await follow('--wait -q --json', partial);
    expect(JSON.parse(partly.stdout)).toEqual([41]);
    expect(partly.exitCode).toBe(1);
    expect(partly.stderr.match(/bad\.ova|c\.ova/g)).toHaveLength(1);
    // The value is missing, but that is not the error.
    const { stderr: lines } = await follow('--wait --json', PENDING, DONE);
    expect(
      lines
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([{ progress: 'sync 41: PENDING' }, { progress: 'sync 41: PROCESSED' }]);
    expect((await follow('--get created_on', broken)).result).toEqual(failed(1, 'bad.ova'));
  });

  it.each([
    ['errors', 'bad.ova: no descriptor\n', 'warning: sync 41: c.ova: no manifest'],
    ['warnings', 'c.ova: no manifest\n', 'error: sync 41: bad.ova: no descriptor'],
  ])('reports what --get %s does not print', async (field, printed, reported) => {
    const { stdout, stderr } = await follow(`--get ${field}`, partial);
    expect(stdout).toBe(printed);
    expect(stderr.split('\n')[0]).toBe(`imgctl: ${reported}`);
  });

  it.each([
    ['C.UTF-8', '✓ sync 41 succeeded: nothing changed', [DONE]],
    ['C', 'ok: sync 41 succeeded in 2 s: nothing changed', [PENDING, DONE]],
    ['C.UTF-8', '! sync 41 succeeded with 1 warning: added a.ova', [warned]],
  ])('ends on a terminal in the locale %s with: %s', async (LANG, line, checks) => {
    const { env } = await scriptedUser({ [REQUEST]: checks }, { LANG });
    const io = fakeIo({ time: START, env, errorColumns: 80 });
    await runCli(['sync-status', '41', '--wait'], io);
    expect(io.stderr.text.split('\n').at(-2)).toBe(line);
  });

  it('--strict exits 1 after warnings, and --get with -q prints nothing else', async () => {
    const strict = /: sync request 41 succeeded with 1 error and 1 warning \(--strict\)\nhint: fix/;
    const { imgctl } = await scriptedUser({
      [SUBMIT]: SUBMITTED,
      [REQUEST]: [partial, partial, partial, DONE],
    });
    await expectSteps(
      imgctl,
      ['sync --strict --json', { id: 41, warnings: ['c.ova: no manifest'] }, /--strict/, 1],
      ['sync-status --strict --get state', 'succeeded\n', strict, 1],
      ['sync-status', /succeeded/, /warning[\s\S]*succeeded with 1 error\nhint: fix/, 1],
      ['sync --strict -q --get state', 'succeeded\n'],
    );
  });

  it.each<[string, ScriptedResponse, number, RegExp]>([
    ['-q', warned, 0, /^$/],
    ['', warned, 0, /^imgctl: warning: sync 41: c\.ova: no manifest\n$/],
    ['-q --strict', warned, 1, /warning: .* c\.ova[\s\S]*with 1 warning \(--strict\)/],
    [
      '-q',
      partial,
      1,
      /^imgctl: error: .*bad\.ova.*\nimgctl: .* succeeded with 1 error\nhint: fix/,
    ],
  ])('with %j and the record %j exits %d', async (flags, response, code, text) => {
    const { stderr, exitCode } = await follow(flags, response);
    expect({ stderr, exitCode }).toEqual({ stderr: expect.stringMatching(text), exitCode: code });
  });

  const silent = record({ status: 'PROCESSED', result: { failed: [{ file: 'a.ova' }] } });

  it('shows unknown errors as null, which --strict makes exit 1', async () => {
    const { stdout, exitCode } = await follow('--json', silent);
    expect(JSON.parse(stdout)).toMatchObject({ errors: null, warnings: null });
    expect(exitCode).toBe(0);
    const strict =
      /succeeded, but its errors are unknown \(--strict\)\nhint: show what the service sent: imgctl sync-status 41 --json\n$/;
    expect(await follow('--strict', silent)).toMatchObject({
      stderr: expect.stringMatching(strict),
      exitCode: 1,
    });
  });

  it.each([
    ['', true],
    ['-o csv', true],
    ['-o tsv', true],
    ['--get errors', true],
    ['--get response', false],
    ['--json', false],
  ])(
    'says with %j what a sync that failed without a reason sent, unless it is printed: %s',
    async (flags, isSaid) => {
      const failure = record({ status: 'ERROR', result: ['a.ova', 'x'.repeat(1_000)] });
      const { stderr, exitCode } = await follow(flags, failure);
      const said = /: sync 41 gives no reason: \{"data":.*"a\.ova","x+…\n/.test(stderr);
      expect({ said, exitCode }).toEqual({ said: isSaid, exitCode: 1 });
    },
  );

  it('does not wait for the end of the limit of token requests', async () => {
    const password = { IMGCTL_TOKEN: '', IMGCTL_USERNAME: 'demo', IMGCTL_PASSWORD: 'demo' };
    const { imgctl, requests } = await scriptedUser({ [TOKEN_REQUEST]: { status: 429 } }, password);
    expect((await imgctl('sync-status 41 --wait --retries 0')).exitCode).toBe(6);
    expect(requests()).toEqual([TOKEN_REQUEST]);
  });

  it('waits as long as a limit of the service asks, within --wait-timeout', async () => {
    const limited = (seconds: number) => ({
      status: 429,
      headers: { 'retry-after': `${seconds}` },
    });
    const { waited, exitCode, checks } = await follow('--wait', limited(1_800), limited(600), DONE);
    expect({ waited: waited(), exitCode, checks }).toEqual({
      waited: 2_400_000,
      exitCode: 0,
      checks: 3,
    });
    const late = await follow('--wait-timeout 10m', limited(1_800));
    expect(late).toMatchObject({ exitCode: 6, checks: 1 });
    expect({ waited: late.waited(), stderr: late.stderr }).toEqual({
      waited: 0,
      stderr: expect.stringContaining('(in 30 min)'),
    });
  });

  it('checks every 500 ms at most', async () => {
    const { result } = await follow('--poll-interval 499ms');
    expect(result).toEqual(failed(2, '--poll-interval must be at least 500ms (got 499ms)\n'));
  });
});

describe('sync-status', () => {
  const STORE =
    'IMGCTL_TOKEN= IMGCTL_TOKEN_STORE=redis://127.0.0.1:9 IMGCTL_TOKEN_STORE_KEY_FILE=gone';
  const NONE = 'imgctl: this profile has submitted no sync request from this machine\n';

  it.each([
    ['PENDING', '--json', 'waiting', 0],
    ['PENDING', '--json --strict', 'waiting', 0],
    ['PROCESSED', '--json', 'succeeded', 0],
    ['ERROR', '--json', 'failed', 1],
  ])('at %s, %s prints %s and exits %d after one request', async (status, line, state, code) => {
    const { stdout, exitCode, checks } = await follow(line, record({ status }));
    expect({ exitCode, checks }).toEqual({ exitCode: code, checks: 1 });
    expect(JSON.parse(stdout)).toMatchObject({ id: 41, status, state });
  });

  it('exits 1 if the service sends another request, which --wait retries', async () => {
    const other: ScriptedResponse = { json: { data: { id: 99, status: 'PROCESSED' } } };
    const message = 'the service sent sync request 99 instead of sync request 41';
    const { result } = await runWith('sync-status 41', other);
    expect(result).toEqual(failed(1, `imgctl: ${message}\nhint: try again; a cache or proxy`));
    const { stderr, exitCode } = await follow('--wait', other, DONE);
    expect({ stderr, exitCode }).toEqual({
      stderr: `sync 41: ${message}; retrying\nsync 41: PROCESSED\n`,
      exitCode: 0,
    });
  });

  it('accepts a word as an id and rejects a path', async () => {
    const request = 'GET /v2/request/image_sync/5f0c-a.b_c';
    const { imgctl, requests } = await scriptedUser({ [request]: { json: { status: 'DONE' } } });
    await expectSteps(imgctl, ['sync-status 5f0c-a.b_c -q', '5f0c-a.b_c\n']);
    for (const text of ['../41', '41?x=1', '']) {
      expect((await imgctl(['sync-status', text])).exitCode, text).toBe(2);
    }
    expect(requests()).toEqual([request]);
  });

  it('--list is empty before the first submit, and sync-status then exits 5', async () => {
    const { imgctl, requests } = await scriptedUser({ [REQUEST]: DONE });
    await expectSteps(
      imgctl,
      ['sync-status', '', `${NONE}hint: provide an id, or submit one with: imgctl sync\n`, 5],
      // Submitted elsewhere, so that it is not in the history.
      ['sync-status 41 -q', '41\n'],
      ['sync-status 41 --wait -q', '41\n'],
      ['sync-status --list'],
      ['IMGCTL_BASE_URL= sync-status --list', '', /^imgctl: no service address is set\n/, 2],
      // Works without the token store and its key.
      [`${STORE} sync-status --list --json`, '[]\n'],
      ...['41', '--wait', '--wait-timeout 1m', '--strict'].map(
        (options) => [`sync-status --list ${options}`, '', /--list/, 2] as const,
      ),
    );
    expect(requests()).toEqual([REQUEST, REQUEST]);
    const { stderr } = await noted(imgctl)('sync-status --list');
    expect(stderr).toBe(`${NONE}hint: submit one with: imgctl sync\n`);
  });

  it('prints the last request of the profile, and --list all with their last known status', async () => {
    const first = { json: { request: { id: 40 } } };
    const { imgctl, requests, server } = await scriptedUser({
      [SUBMIT]: [first, SUBMITTED],
      [REQUEST]: record({
        ...{ status: 'PROCESSED', added: ['c.ova', { id: 7, name: 'd.ova' }], deleted: 3 },
        message: { errors: ['a.ova: bad', 'b.ova: bad'] },
      }),
    });
    await imgctl('sync', { time: START });
    await imgctl('sync', { time: START + 60_000 });
    const unknown = { added: null, deleted: null, errors: null };
    const entry = { status: 'PENDING', state: 'waiting', ...unknown, base_url: server.baseUrl };
    const [old, last] = ['2026-01-05T12:00:00Z', '2026-01-05T12:01:00Z'].map((time, index) => ({
      ...{ ...entry, id: 40 + index, submitted_on: time, checked: time },
      ...(index === 0 ? { status: null } : {}),
    }));
    const time = START + 3_600_000;
    const later = (line: string | readonly string[]) => noted(imgctl)(line, { time });
    const note = /: waiting when last checked: 41, 40\nhint: check with: imgctl sync-status 41\n$/;
    const row = (id: number, minute: number, age: string) =>
      `${id}  waiting  2026-01-0\\d \\d\\d:\\d${minute}  ${age} ago +- +-\n`;
    const rows = row(41, 1, '59 minutes') + row(40, 0, '1 hour');
    await expectSteps(
      later,
      [
        'sync-status --list',
        new RegExp(`^id  state    submitted_on      checked         added  deleted\n${rows}$`),
        note,
      ],
      ['sync-status --list --json', [last, old]],
      [
        'sync-status --list -o csv',
        /^id,status,state,submitted_on,checked,errors,added,deleted\r\n41,PENDING,waiting,/,
      ],
      ['sync-status --list -q', '41\n40\n'],
      ['sync-status --list --get id', '41\n40\n'],
    );
    expect(requests()).toEqual([SUBMIT, SUBMIT]);
    await expectSteps(
      later,
      [
        'sync-status',
        /^id +41\nstate +succeeded with 2 errors\nadded +c\.ova, d\.ova\n/,
        /✗ sync 41: a.ova: bad/,
        1,
      ],
      [
        'sync-status --list',
        /^41 +succeeded with 2 errors +2026-01-0\d \d\d:\d1 {2}now {2,}c\.ova, d\.ova +3$/m,
        /waiting when last checked: 40\n/,
      ],
      ['sync-status --profile other', '', /no sync request/, 5],
      ['sync-status --base-url http://127.0.0.1:1', '', /no sync request/, 5],
    );
    const coloured = await imgctl('sync-status --list', { time, columns: 200, color: true });
    expect(coloured.stdout).toMatch(/\u001b\[\d+mwaiting\u001b\[/);
    const { stdout } = await imgctl('sync-status --list', { time, columns: 50 });
    expect(stdout).toMatch(
      /^id +41\nstate +succeeded with 2 errors\n[\s\S]*\nadded +c\.ova, d\.ova\ndeleted +3\n\nid +40\n/,
    );
    expect(requests().slice(2)).toEqual([REQUEST]);
  });

  it('--list holds the status at the limit of a wait, and long lists of images as their number', async () => {
    const added = Array.from({ length: 3 }, () => 'a'.repeat(400));
    const status = `SCHEDULED ${'x'.repeat(150)}`;
    const SCHEDULED = record({ status, added, deleted: ['c.ova'] });
    const { imgctl } = await scriptedUser({ [SUBMIT]: SUBMITTED, [REQUEST]: SCHEDULED });
    expect((await imgctl('sync --wait-timeout 5s')).exitCode).toBe(7);
    await expectSteps(imgctl, [
      'sync-status --list -o csv',
      /\n41,SCHEDULED x{89}…,.*,3,"\[""c\.ova""\]"\r\n$/,
    ]);
  });

  it('sync-status of a number needs no history that can be read', async () => {
    const { imgctl, env } = await scriptedUser({ [REQUEST]: DONE });
    writeFileSync(path.join(`${env.IMGCTL_CONFIG_DIR}`, 'sync-history.json'), '[');
    await expectSteps(imgctl, ['sync-status 41 --get status', 'PROCESSED\n']);
  });
});
