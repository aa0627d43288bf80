// sync --wait and sync-status --wait: what each status means, what shows, and how a wait ends.

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

describe('the status of a request', () => {
  const forms: [string, (status: string) => ScriptedResponse][] = [
    ['wrapped', (status) => record({ status })],
    ['bare', (status) => ({ json: { id: 41, status } })],
  ];
  const good = 'PROCESSED Processed processed COMPLETED COMPLETE DONE SUCCESS SUCCEEDED FINISHED';
  const bad = 'ERROR error ERROR_RETRY CANCELLED CANCELED FAILED FAILURE REJECTED DENIED';
  const words: [string, number][] = [
    ...good.split(' ').map((word): [string, number] => [word, 0]),
    ...bad.split(' ').map((word): [string, number] => [word, 1]),
  ];

  describe.each(forms)('%s', (_form, answer) => {
    it.each(words)('%s ends the wait with %d', async (word, code) => {
      const { stdout, exitCode, looks } = await followed([answer(word)], '--json');
      expect(JSON.parse(stdout)).toMatchObject({
        id: 41,
        status: word,
        state: code === 0 ? 'succeeded' : 'failed',
        response: answer(word).json,
      });
      expect({ exitCode, looks }).toEqual({ exitCode: code, looks: 1 });
    });

    it.each(['PENDING', 'IN_PROGRESS', 'APPROVAL_REQUIRED', 'SCHEDULED', 'pending', 'BREWING'])(
      '%s goes on waiting and is shown as it is',
      async (word) => {
        const { stdout, stderr, exitCode, looks } = await followed([answer(word), DONE]);
        expect(stdout).toMatch(/^status +PROCESSED$/m);
        expect(stderr).toBe(`sync 41: ${word}\nsync 41: PROCESSED\n`);
        expect({ exitCode, looks }).toEqual({ exitCode: 0, looks: 2 });
      },
    );
  });

  it.each<[string, unknown]>([
    ['none', { data: { id: 41 } }],
    ['null', { data: { id: 41, status: null } }],
    ['a number', { data: { id: 41, status: 3 } }],
    ['an empty record', {}],
  ])('that is %s counts as an unknown word', async (_what, json) => {
    const { stderr, exitCode } = await followed([{ json }, DONE]);
    expect(stderr).toBe('sync 41: no status given\nsync 41: PROCESSED\n');
    expect(exitCode).toBe(0);
  });

  it('has its fields told as the contract says, whatever is missing', async () => {
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

describe('errors and warnings of the service', () => {
  const message = { errors: ['bad.ova: no descriptor'], warnings: ['c.ova: no manifest'] };
  const failed = record({ status: 'ERROR', message });

  it('show once on stderr beside a table', async () => {
    const { stdout, stderr, exitCode } = await followed([failed]);
    expect(stdout).not.toMatch(/bad\.ova|c\.ova/);
    expect(stderr).toBe(
      [
        'sync 41: ERROR',
        'imgctl: warning: sync 41: c.ova: no manifest',
        'imgctl: warning: sync 41: error: bad.ova: no descriptor',
        'imgctl: the sync request 41 ended with status ERROR',
        'hint: mend what it names, upload it again, then: imgctl sync',
        '',
      ].join('\n'),
    );
    expect(exitCode).toBe(1);
  });

  it.each(['json', 'ndjson', 'yaml', 'csv', 'tsv'])(
    'show once in the record: %s',
    async (format) => {
      const { stdout, stderr, exitCode } = await followed([failed], '-o', format);
      expect(stdout).toContain('bad.ova: no descriptor');
      expect(stdout).toContain('c.ova: no manifest');
      expect(stderr).not.toMatch(/bad\.ova|c\.ova/);
      expect(exitCode).toBe(1);
    },
  );

  it.each(['table', 'json', 'csv'])('show on stderr with -q: %s', async (format) => {
    const { stdout, stderr } = await followed([failed], '-q', '-o', format);
    expect(stdout).not.toMatch(/bad\.ova|c\.ova/);
    expect(stderr.match(/bad\.ova|c\.ova/g)).toHaveLength(2);
  });

  it('do not fail a sync of which only a part failed', async () => {
    const { stdout, stderr, exitCode } = await followed(
      [record({ status: 'PROCESSED', message })],
      '-q',
    );
    expect(stdout).toBe('41\n');
    expect(stderr.match(/bad\.ova/g)).toHaveLength(1);
    expect(exitCode).toBe(0);
  });
});

describe('the time between looks', () => {
  const waiting = Array.from({ length: 8 }, () => record({ status: 'PENDING' }));

  it('grows from 2 s to 15 s', async () => {
    const { io } = await followed([...waiting, DONE]);
    expect(io.sleeps).toEqual([2_000, 3_000, 4_500, 6_750, 10_125, 15_000, 15_000, 15_000]);
  });

  it('is fixed when it is given, which asks for a wait by itself', async () => {
    const service = await scriptedServer({ [REQUEST]: [...waiting, DONE] });
    const io = userOf(service.baseUrl);
    await runCli(['sync-status', '41', '--poll-interval', '500ms'], io);
    expect(io.sleeps).toEqual(waiting.map(() => 500));
  });

  it.each([
    [[], 3_600_000, '1 h'],
    [['--wait-timeout', '10s'], 10_000, '10 s'],
    [['--wait-timeout', '100ms'], 100, '100 ms'],
  ])('ends at the limit with 7 and the command that resumes: %j', async (options, limit, told) => {
    const { io, stdout, stderr, exitCode } = await followed(waiting, ...options);
    expect(io.now() - START).toBe(limit);
    expect(stderr).toContain(
      `imgctl: the sync request 41 has not ended within ${told}; last seen: PENDING\n` +
        'hint: go on waiting with: imgctl sync-status 41 --wait\n',
    );
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 7 });
  });
});

describe('the history', () => {
  const listed = (env: FakeIo['env']) => runCli(['sync-status', '--list', '-o', 'csv'], { env });

  it.each([
    ['PROCESSED', 0],
    ['SCHEDULED', 7],
  ])('has what a wait saw last: %s', async (status, code) => {
    const answer = record({ status });
    const service = await scriptedServer({ [SUBMIT]: SUBMITTED, [REQUEST]: answer });
    const io = userOf(service.baseUrl);
    const { exitCode } = await runCli(['sync', '--wait-timeout', '5s'], io);
    expect(exitCode).toBe(code);
    expect((await listed(io.env)).stdout).toContain(`\n41,${status},`);
  });

  it('has nothing of a request that was submitted elsewhere', async () => {
    const { io } = await followed([DONE]);
    expect((await listed(io.env)).stdout).toBe('id,status,state,submitted_on\r\n');
  });
});

describe('a wait that ends early says that the request goes on', () => {
  it.each([
    ['interrupted', 130],
    ['terminated', 143],
  ] as const)('when it is %s', async (signal, code) => {
    const service = await scriptedServer({ [REQUEST]: record({ status: 'PENDING' }) });
    const io = userOf(service.baseUrl);
    const { stderr, exitCode } = await runCli(
      WAIT,
      beforeSleep(io, () => io.interrupt(signal)),
    );
    expect(stderr).toBe(
      `sync 41: PENDING\nimgctl: ${signal}; the sync request 41 goes on\n` +
        'hint: follow it with: imgctl sync-status 41 --wait\n',
    );
    expect(exitCode).toBe(code);
  });

  it('when the service says to come back in an hour', async () => {
    const limited = { status: 429, headers: { 'retry-after': '3600' } };
    const { stderr, exitCode } = await followed([limited]);
    expect(stderr).toContain('try again after 2026-01-05T13:00:00Z; then follow it with: imgctl');
    expect(exitCode).toBe(6);
  });
});

it('a request that the service does not know ends with 5', async () => {
  const { stderr, exitCode } = await followed([{ status: 404 }]);
  expect(stderr).toBe(
    'imgctl: the service knows no sync request 41\n' +
      'hint: those submitted from this machine: imgctl sync-status --list\n',
  );
  expect(exitCode).toBe(5);
});

it('as cron runs it, without HOME, TERM and locale: JSON, and no escape sequences', async () => {
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
