// imgctl sync-status: one look at a request, the last one of this profile, and the list of those remembered.

import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type FakeIo, runCli } from '../support/io.ts';
import { requestsTo, type ScriptedServer, scriptedServer } from '../support/scripted-server.ts';
import { REQUEST, record, START, SUBMIT, SUBMITTED, userOf } from './sync-harness.ts';

const submitted = (id: number) => ({ json: { request: { id, status: 'PENDING' } } });

/** A user who has submitted 40 and 41, the second a minute after the first. */
async function experienced(status = 'PROCESSED'): Promise<{ io: FakeIo; service: ScriptedServer }> {
  const service = await scriptedServer({
    [SUBMIT]: [submitted(40), SUBMITTED],
    [REQUEST]: record({ status }),
  });
  const io = userOf(service.baseUrl);
  await runCli(['sync'], io);
  io.advance(60_000);
  await runCli(['sync'], io);
  return { service, io: again(io) };
}

/** The same user with nothing on the screen. */
function again(io: FakeIo): FakeIo {
  io.stdout.pieces.length = 0;
  io.stderr.pieces.length = 0;
  return io;
}

describe('imgctl sync-status', () => {
  it('shows the last request of this profile, and remembers its status', async () => {
    const { io, service } = await experienced();
    const { stdout, stderr, exitCode } = await runCli(['sync-status'], io);
    expect(stdout).toMatch(/^id +41\nstatus +PROCESSED\nstate +succeeded\nadded +-\n/);
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    expect(requestsTo(service).at(-1)).toBe(REQUEST);
    const list = await runCli(['sync-status', '--list'], again(io));
    expect(list.stdout).toMatch(/^41 +PROCESSED +succeeded +2026-01-05T12:01:00\.000Z$/m);
  });

  it('ends with 0 while the request waits and with 1 when it failed', async () => {
    for (const [status, code] of [
      ['PENDING', 0],
      ['ERROR', 1],
    ] as const) {
      const service = await scriptedServer({ [REQUEST]: record({ status }) });
      const { exitCode } = await runCli(['sync-status', '41'], userOf(service.baseUrl));
      expect(exitCode, status).toBe(code);
      expect(requestsTo(service)).toEqual([REQUEST]);
    }
  });

  it('takes an id that is a word, and refuses what is none', async () => {
    const path = '/v2/request/image_sync/5f0c-a.b_c';
    const service = await scriptedServer({ [`GET ${path}`]: { json: { status: 'DONE' } } });
    const word = await runCli(['sync-status', '5f0c-a.b_c', '-q'], userOf(service.baseUrl));
    expect(word).toMatchObject({ stdout: '5f0c-a.b_c\n', exitCode: 0 });
    for (const text of ['../41', '41?x=1', '']) {
      const wrong = await runCli(['sync-status', text], userOf(service.baseUrl));
      expect(wrong.exitCode, text).toBe(2);
    }
    expect(service.requests).toHaveLength(1);
  });

  it('ends with 5 without an id where nothing was submitted', async () => {
    const service = await scriptedServer({});
    const { stderr, exitCode } = await runCli(['sync-status'], userOf(service.baseUrl));
    expect(stderr).toBe(
      'imgctl: no sync request was submitted from this machine with this profile\n' +
        'hint: give its id, or submit one with: imgctl sync\n',
    );
    expect(exitCode).toBe(5);
    expect(service.requests).toEqual([]);
  });

  it('knows the requests of its own profile and service alone', async () => {
    const { io } = await experienced();
    expect((await runCli(['sync-status', '--profile', 'other'], again(io))).exitCode).toBe(5);
    const elsewhere = ['sync-status', '--base-url', 'http://127.0.0.1:1'];
    expect((await runCli(elsewhere, again(io))).exitCode).toBe(5);
  });
});

describe('imgctl sync-status --list', () => {
  const entries = (baseUrl: string) => [
    {
      id: 41,
      status: 'PENDING',
      state: 'waiting',
      submitted_on: '2026-01-05T12:01:00.000Z',
      base_url: baseUrl,
    },
    {
      id: 40,
      status: 'PENDING',
      state: 'waiting',
      submitted_on: new Date(START).toISOString(),
      base_url: baseUrl,
    },
  ];

  it('lists in every format, newest first, and asks nobody', async () => {
    const { io, service } = await experienced();
    const before = service.requests.length;
    const show = async (...options: string[]) =>
      (await runCli(['sync-status', '--list', ...options], again(io))).stdout;
    const expected = entries(service.baseUrl);
    expect(await show()).toBe(
      'id  status   state    submitted_on\n' +
        '41  PENDING  waiting  2026-01-05T12:01:00.000Z\n' +
        '40  PENDING  waiting  2026-01-05T12:00:00.000Z\n',
    );
    expect(JSON.parse(await show('--json'))).toEqual(expected);
    expect(parse(await show('-o', 'yaml'))).toEqual(expected);
    const lines = (await show('-o', 'ndjson')).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual(expected);
    expect(await show('-o', 'csv')).toMatch(/^id,status,state,submitted_on\r\n41,PENDING,waiting,/);
    expect(await show('-o', 'tsv')).toMatch(/^id\tstatus\tstate\tsubmitted_on\n41\tPENDING\t/);
    expect(await show('-q')).toBe('41\n40\n');
    expect(service.requests).toHaveLength(before);
  });

  it('is empty before the first submit', async () => {
    const io = userOf('http://127.0.0.1:1');
    expect(await runCli(['sync-status', '--list'], io)).toEqual({
      stdout: '',
      stderr:
        'imgctl: no sync request was submitted from this machine with this profile\n' +
        'hint: submit one with: imgctl sync\n',
      exitCode: 0,
    });
    const json = await runCli(['sync-status', '--list', '--json'], again(io));
    expect(json).toEqual({ stdout: '[]\n', stderr: '', exitCode: 0 });
  });

  it.each([[['--list', '41']], [['--list', '--wait']], [['--list', '--wait-timeout', '1m']]])(
    'is a usage error with %j',
    async (options) => {
      const result = await runCli(['sync-status', ...options], userOf('http://127.0.0.1:1'));
      expect(result.exitCode).toBe(2);
    },
  );
});
