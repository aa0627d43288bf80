// sync --wait and sync-status --wait: statuses, output and the ways a wait ends.

import { describe, expect, it } from 'vitest';
import { type FakeIo, runCli } from '../support/io.ts';
import { type ScriptedResponse, scriptedServer } from '../support/scripted-server.ts';
import {
  beforeSleep,
  DONE,
  followed,
  IMAGES,
  images,
  REQUEST,
  record,
  START,
  SUBMIT,
  SUBMITTED,
  userOf,
  WAIT,
} from './sync-harness.ts';

describe('sync-status --wait', () => {
  it.each([
    ['PROCESSED', 'succeeded', 0],
    ['ERROR', 'failed', 1],
  ])('ends at %s: %s, exit %d', async (status, state, code) => {
    const response = record({ status });
    const { stdout, exitCode, checks } = await followed([response], '--json');
    expect(JSON.parse(stdout)).toMatchObject({ id: 41, status, state, response: response.json });
    expect({ exitCode, checks }).toEqual({ exitCode: code, checks: 1 });
  });

  it.each<[string, ScriptedResponse, string]>([
    ['PENDING', record({ status: 'PENDING' }), 'PENDING'],
    ['an unknown status', { json: { id: 41, status: 'BREWING' } }, 'BREWING'],
    ['a status that is not a text', record({ status: 3 }), 'unknown status'],
  ])('keeps waiting at %s and shows it', async (_what, response, shown) => {
    const { stdout, stderr, exitCode, checks } = await followed([response, DONE]);
    expect(stdout).toMatch(/^status +PROCESSED$/m);
    expect(stderr).toBe(`sync 41: ${shown}\nsync 41: PROCESSED\n`);
    expect({ exitCode, checks }).toEqual({ exitCode: 0, checks: 2 });
  });

  it('prints every field, even if the service sends none', async () => {
    const { stdout } = await followed([{ json: { status: 'DONE' } }], '--json');
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
});

describe('sync-status --wait with errors and warnings', () => {
  const message = { errors: ['bad.ova: no descriptor'], warnings: ['c.ova: no manifest'] };
  const failed = record({ status: 'ERROR', message });

  it('prints them once, on stderr, with a table', async () => {
    const { stdout, stderr, exitCode } = await followed([failed]);
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
    const { stdout, stderr, exitCode } = await followed([failed], '-o', format);
    expect(stdout).toContain('bad.ova: no descriptor');
    expect(stdout).toContain('c.ova: no manifest');
    expect(stderr).not.toMatch(/bad\.ova|c\.ova/);
    expect(exitCode).toBe(1);
  });

  it('prints them on stderr with -q', async () => {
    const { stdout, stderr } = await followed([failed], '-q', '--json');
    expect(stdout).not.toMatch(/bad\.ova|c\.ova/);
    expect(stderr.match(/bad\.ova|c\.ova/g)).toHaveLength(2);
  });

  it('exits 0 for a sync that partly failed', async () => {
    const partly = record({ status: 'PROCESSED', message });
    const { stdout, stderr, exitCode } = await followed([partly], '-q');
    expect(stdout).toBe('41\n');
    expect(stderr.match(/bad\.ova/g)).toHaveLength(1);
    expect(exitCode).toBe(0);
  });
});

describe('sync-status --wait', () => {
  const waiting = Array.from({ length: 8 }, () => record({ status: 'PENDING' }));

  it('waits 2 s at first and at most 15 s between checks', async () => {
    const { io } = await followed([...waiting, DONE]);
    expect(io.sleeps).toEqual([2_000, 3_000, 4_500, 6_750, 10_125, 15_000, 15_000, 15_000]);
  });

  it('is implied by --poll-interval, which sets a fixed interval', async () => {
    const service = await scriptedServer({ [REQUEST]: [...waiting, DONE] });
    const io = userOf(service.baseUrl);
    await runCli(['sync-status', '41', '--poll-interval', '500ms'], io);
    expect(io.sleeps).toEqual(waiting.map(() => 500));
  });

  it.each([
    [[], 3_600_000, '1 h'],
    [['--wait-timeout', '10s'], 10_000, '10 s'],
    [['--wait-timeout', '100ms'], 100, '100 ms'],
  ])('exits 7 at its limit with the command that resumes: %j', async (options, limit, shown) => {
    const { io, stdout, stderr, exitCode } = await followed(waiting, ...options);
    expect(io.now() - START).toBe(limit);
    expect(stderr).toContain(
      `imgctl: sync request 41 did not finish within ${shown} (status: PENDING)\n` +
        'hint: keep waiting with: imgctl sync-status 41 --wait\n',
    );
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 7 });
  });
});

describe('the sync history', () => {
  const listed = (env: FakeIo['env']) => runCli(['sync-status', '--list', '-o', 'csv'], { env });

  it.each([
    ['PROCESSED', 0],
    ['SCHEDULED', 7],
  ])('holds the last known status: %s', async (status, code) => {
    const service = await scriptedServer({ [SUBMIT]: SUBMITTED, [REQUEST]: record({ status }) });
    const io = userOf(service.baseUrl);
    const { exitCode } = await runCli(['sync', '--wait-timeout', '5s'], io);
    expect(exitCode).toBe(code);
    expect((await listed(io.env)).stdout).toContain(`\n41,${status},`);
  });

  it('holds no request that was submitted elsewhere', async () => {
    const { io } = await followed([DONE]);
    expect((await listed(io.env)).stdout).toBe('id,status,state,submitted_on\r\n');
  });
});

describe('sync-status --wait', () => {
  it.each([
    ['interrupted', 130],
    ['terminated', 143],
  ] as const)('names the command that resumes when it is %s', async (signal, code) => {
    const service = await scriptedServer({ [REQUEST]: record({ status: 'PENDING' }) });
    const io = userOf(service.baseUrl);
    const { stderr, exitCode } = await runCli(
      WAIT,
      beforeSleep(io, () => io.interrupt(signal)),
    );
    expect(stderr).toBe(
      `sync 41: PENDING\nimgctl: ${signal}; sync request 41 continues\n` +
        'hint: follow it with: imgctl sync-status 41 --wait\n',
    );
    expect(exitCode).toBe(code);
  });

  it('exits 6 if the service asks it to wait for an hour', async () => {
    const limited = { status: 429, headers: { 'retry-after': '3600' } };
    const { stderr, exitCode } = await followed([limited]);
    expect(stderr).toContain('try again after 2026-01-05T13:00:00Z; then follow it with: imgctl');
    expect(exitCode).toBe(6);
  });

  it('exits 5 for an unknown request', async () => {
    const { stderr, exitCode } = await followed([{ status: 404 }]);
    expect(stderr).toBe(
      'imgctl: sync request 41 does not exist\n' +
        'hint: list your requests with: imgctl sync-status --list\n',
    );
    expect(exitCode).toBe(5);
  });

  it('prints JSON and no escape sequences without HOME, TERM and locale', async () => {
    const service = await scriptedServer({
      [SUBMIT]: SUBMITTED,
      [IMAGES]: images(),
      [REQUEST]: [record({ status: 'PENDING' }), record({ status: 'SC\u001b[31mHEDULED' }), DONE],
    });
    const io = userOf(service.baseUrl, { IMGCTL_TOKEN: 'token', IMGCTL_CONFIG_DIR: undefined });
    const { stdout, stderr, exitCode } = await runCli(['sync', '--wait', '--json'], io);
    expect(JSON.parse(stdout)).toMatchObject({ id: 41, state: 'succeeded' });
    expect(stdout + stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    expect(stderr).toContain('sync 41: PENDING\n');
    expect(exitCode).toBe(0);
  });
});
