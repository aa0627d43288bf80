// sync-status: the status of a request, and --list.

import { describe, expect, it } from 'vitest';
import { formatTimestamp } from '../../src/query/timestamp.ts';
import { scriptedUser } from '../support/users.ts';
import { REQUEST, record, START, SUBMIT, SUBMITTED } from './sync-harness.ts';

const NONE = 'imgctl: this profile has submitted no sync request from this machine\n';

/** Returns a user who submitted 40, and 41 a minute later. */
async function submittedTwo() {
  const first = { json: { request: { id: 40, status: 'PENDING' } } };
  const user = await scriptedUser({
    [SUBMIT]: [first, SUBMITTED],
    [REQUEST]: record({ status: 'PROCESSED' }),
  });
  await user.imgctl('sync', { time: START });
  await user.imgctl('sync', { time: START + 60_000 });
  return user;
}

describe('sync-status', () => {
  it('prints the last request of the profile and stores its status', async () => {
    const { imgctl, requests } = await submittedTwo();
    expect(await imgctl('sync-status', { time: START + 60_000 })).toEqual({
      stdout: expect.stringMatching(/^id +41\nstatus +PROCESSED\nstate +succeeded\nadded +-\n/),
      stderr: '',
      exitCode: 0,
    });
    expect(requests().at(-1)).toBe(REQUEST);
    const { stdout } = await imgctl('sync-status --list');
    expect(stdout).toMatch(/^41 +PROCESSED +succeeded +2026-01-0\d \d\d:\d1$/m);
  });

  it.each([
    ['PENDING', 0],
    ['ERROR', 1],
  ])('at %s exits %d after one request', async (status, code) => {
    const { imgctl, requests } = await scriptedUser({ [REQUEST]: record({ status }) });
    expect((await imgctl('sync-status 41')).exitCode).toBe(code);
    expect(requests()).toEqual([REQUEST]);
  });

  it('accepts a word as an id and rejects a path', async () => {
    const request = 'GET /v2/request/image_sync/5f0c-a.b_c';
    const { imgctl, requests } = await scriptedUser({ [request]: { json: { status: 'DONE' } } });
    const word = await imgctl('sync-status 5f0c-a.b_c -q');
    expect(word).toMatchObject({ stdout: '5f0c-a.b_c\n', exitCode: 0 });
    for (const text of ['../41', '41?x=1', '']) {
      expect((await imgctl(['sync-status', text])).exitCode, text).toBe(2);
    }
    expect(requests()).toEqual([request]);
  });

  it('exits 5 without an id if nothing was submitted', async () => {
    const { imgctl, requests } = await scriptedUser({});
    const stderr = `${NONE}hint: provide an id, or submit one with: imgctl sync\n`;
    expect(await imgctl('sync-status')).toEqual({ stdout: '', stderr, exitCode: 5 });
    expect(requests()).toEqual([]);
  });

  it('ignores requests of other profiles and services', async () => {
    const { imgctl } = await submittedTwo();
    for (const options of ['--profile other', '--base-url http://127.0.0.1:1']) {
      expect((await imgctl(`sync-status ${options}`)).exitCode).toBe(5);
    }
  });
});

describe('sync-status --list', () => {
  it('lists the requests of the profile, newest first, without a request', async () => {
    const { imgctl, server, requests } = await submittedTwo();
    const show = async (options: string) => (await imgctl(`sync-status --list ${options}`)).stdout;
    expect(await show('')).toBe(
      'id  status   state    submitted_on\n' +
        `41  PENDING  waiting  ${formatTimestamp('2026-01-05T12:01:00Z', 'local', 0)}\n` +
        `40  PENDING  waiting  ${formatTimestamp('2026-01-05T12:00:00Z', 'local', 0)}\n`,
    );
    const entry = (id: number, time: number) => ({
      id,
      status: 'PENDING',
      state: 'waiting',
      submitted_on: new Date(time).toISOString(),
      base_url: server.baseUrl,
    });
    const entries = [entry(41, START + 60_000), entry(40, START)];
    expect(JSON.parse(await show('--json'))).toEqual(entries);
    const lines = (await show('-o ndjson')).trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual(entries);
    expect(await show('-o csv')).toMatch(/^id,status,state,submitted_on\r\n41,PENDING,waiting,/);
    expect(await show('-q')).toBe('41\n40\n');
    expect(requests()).toEqual([SUBMIT, SUBMIT]);
  });

  it('is empty before the first submit', async () => {
    const { imgctl } = await scriptedUser({});
    const stderr = `${NONE}hint: submit one with: imgctl sync\n`;
    expect(await imgctl('sync-status --list')).toEqual({ stdout: '', stderr, exitCode: 0 });
    const json = await imgctl('sync-status --list --json');
    expect(json).toEqual({ stdout: '[]\n', stderr: '', exitCode: 0 });
  });

  it.each(['41', '--wait', '--wait-timeout 1m'])('is rejected with %s', async (options) => {
    const { imgctl } = await scriptedUser({});
    expect((await imgctl(`sync-status --list ${options}`)).exitCode).toBe(2);
  });
});
