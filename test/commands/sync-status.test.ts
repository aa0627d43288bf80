// sync-status: the status of a request, and --list.

import { describe, expect, it } from 'vitest';
import { type FakeIo, runCli } from '../support/io.ts';
import { requestsTo, type ScriptedServer, scriptedServer } from '../support/scripted-server.ts';
import { REQUEST, record, START, SUBMIT, SUBMITTED, userOf } from './sync-harness.ts';

const submitted = (id: number) => ({ json: { request: { id, status: 'PENDING' } } });

/** Returns a user who submitted 40, and 41 a minute later. */
async function submittedTwo(
  status = 'PROCESSED',
): Promise<{ io: FakeIo; service: ScriptedServer }> {
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

/** Empties the streams. */
function again(io: FakeIo): FakeIo {
  io.stdout.pieces.length = 0;
  io.stderr.pieces.length = 0;
  return io;
}

describe('sync-status', () => {
  it('prints the last request of the profile and stores its status', async () => {
    const { io, service } = await submittedTwo();
    const { stdout, stderr, exitCode } = await runCli(['sync-status'], io);
    expect(stdout).toMatch(/^id +41\nstatus +PROCESSED\nstate +succeeded\nadded +-\n/);
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    expect(requestsTo(service).at(-1)).toBe(REQUEST);
    const list = await runCli(['sync-status', '--list'], again(io));
    expect(list.stdout).toMatch(/^41 +PROCESSED +succeeded +2026-01-05T12:01:00\.000Z$/m);
  });

  it('exits 0 for a waiting request and 1 for a failed one', async () => {
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

  it('accepts a word as an id and rejects a path', async () => {
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

  it('exits 5 without an id if nothing was submitted', async () => {
    const service = await scriptedServer({});
    const { stderr, exitCode } = await runCli(['sync-status'], userOf(service.baseUrl));
    expect(stderr).toBe(
      'imgctl: this profile has submitted no sync request from this machine\n' +
        'hint: provide an id, or submit one with: imgctl sync\n',
    );
    expect(exitCode).toBe(5);
    expect(service.requests).toEqual([]);
  });

  it('ignores requests of other profiles and services', async () => {
    const { io } = await submittedTwo();
    expect((await runCli(['sync-status', '--profile', 'other'], again(io))).exitCode).toBe(5);
    const elsewhere = ['sync-status', '--base-url', 'http://127.0.0.1:1'];
    expect((await runCli(elsewhere, again(io))).exitCode).toBe(5);
  });
});

describe('sync-status --list', () => {
  it('lists the requests of the profile, newest first, without a request', async () => {
    const { io, service } = await submittedTwo();
    const before = service.requests.length;
    const show = async (...options: string[]) =>
      (await runCli(['sync-status', '--list', ...options], again(io))).stdout;
    expect(await show()).toBe(
      'id  status   state    submitted_on\n' +
        '41  PENDING  waiting  2026-01-05T12:01:00.000Z\n' +
        '40  PENDING  waiting  2026-01-05T12:00:00.000Z\n',
    );
    const entry = (id: number, time: number) => ({
      id,
      status: 'PENDING',
      state: 'waiting',
      submitted_on: new Date(time).toISOString(),
      base_url: service.baseUrl,
    });
    const entries = [entry(41, START + 60_000), entry(40, START)];
    expect(JSON.parse(await show('--json'))).toEqual(entries);
    const lines = (await show('-o', 'ndjson')).trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual(entries);
    expect(await show('-o', 'csv')).toMatch(/^id,status,state,submitted_on\r\n41,PENDING,waiting,/);
    expect(await show('-q')).toBe('41\n40\n');
    expect(service.requests).toHaveLength(before);
  });

  it('is empty before the first submit', async () => {
    const io = userOf('http://127.0.0.1:1');
    expect(await runCli(['sync-status', '--list'], io)).toEqual({
      stdout: '',
      stderr:
        'imgctl: this profile has submitted no sync request from this machine\n' +
        'hint: submit one with: imgctl sync\n',
      exitCode: 0,
    });
    const json = await runCli(['sync-status', '--list', '--json'], again(io));
    expect(json).toEqual({ stdout: '[]\n', stderr: '', exitCode: 0 });
  });

  it.each([[['--list', '41']], [['--list', '--wait']], [['--list', '--wait-timeout', '1m']]])(
    'rejects %j',
    async (options) => {
      const result = await runCli(['sync-status', ...options], userOf('http://127.0.0.1:1'));
      expect(result.exitCode).toBe(2);
    },
  );
});
