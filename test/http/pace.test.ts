// Tests how a run slows down for a service that limits requests, and how long it waits for one that is down.

import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Client } from '../../src/api/client.ts';
import type { HttpResponse } from '../../src/http/message.ts';
import { Pace } from '../../src/http/pace.ts';
import { connect, GET, PATCH } from '../support/client.ts';
import { failure } from '../support/errors.ts';
import { DROP, type ScriptedResponse } from '../support/scripted-server.ts';

/** Connects to a service whose clock is moved by the client's sleeps alone. */
async function connectAt(
  respond: (time: number, index: number, path: string) => ScriptedResponse,
  retries?: number,
) {
  let time = 0;
  let active = 0;
  const sleeps: number[] = [];
  /** How many requests were at the service, when each came. */
  const together: number[] = [];
  const connected = await connect(
    async ({ url }, index) => {
      active += 1;
      together.push(active);
      const response = respond(time, index, url.pathname);
      await turn();
      await turn();
      active -= 1;
      return response;
    },
    {
      ...(retries === undefined ? {} : { retries }),
      elapsed: () => time,
      random: () => 0,
      sleep: async (milliseconds, signal) => {
        signal.throwIfAborted();
        sleeps.push(milliseconds);
        time += milliseconds;
      },
    },
  );
  return { ...connected, together, sleeps, elapsed: () => time };
}

/** Sends requests, up to six at a time. */
async function sendMany(client: Client, count: number): Promise<void> {
  let left = count;
  const worker = async () => {
    for (; left > 0; ) {
      left -= 1;
      await client.serviceRoot();
    }
  };
  await client.serviceRoot();
  await Promise.all(Array.from({ length: 6 }, worker));
}

/** A limit without a burst, as nginx has it: one request per so many milliseconds, refusals are not counted. */
function limitOf(status: number, interval: number, headers = {}) {
  let nextAt = 0;
  const refusals: number[] = [];
  const respond = (time: number, index: number): ScriptedResponse => {
    if (time < nextAt) {
      refusals.push(index);
      return { status, headers };
    }
    nextAt = time + interval;
    return { json: {} };
  };
  return { respond, refusals };
}

describe('a run', () => {
  it.each([
    [429, 100],
    [429, 200],
    [429, 500],
    [503, 100],
    [503, 200],
    [503, 500],
  ])(
    'at a limit that answers %i within %i ms has at most one request in five refused',
    async (status, interval) => {
      const { respond, refusals } = limitOf(status, interval);
      const { client, together, server, elapsed } = await connectAt(respond);
      await sendMany(client, 49);
      expect(server.requests.length - refusals.length).toBe(50);
      expect(refusals.length).toBeLessThanOrEqual(server.requests.length / 5);
      // Those that were under way at the first refusal, and then one at a time.
      expect(Math.max(...together.slice(13))).toBe(1);
      expect(elapsed()).toBeLessThan(40_000);
    },
  );

  it('waits once for what a limit asks', async () => {
    const { respond } = limitOf(429, 5_000, { 'retry-after': '5' });
    const { client, sleeps } = await connectAt(respond);
    await client.serviceRoot();
    await client.serviceRoot();
    expect(sleeps).toEqual([5_000]);
  });

  it.each([
    [429, 'rate-limited'],
    [503, 'server-error'],
  ])('gives up after a minute of %i, whatever retries says', async (status, code) => {
    const respond = (_: number, index: number) => (index === 0 ? { json: {} } : { status });
    const { client, elapsed, server } = await connectAt(respond, 1);
    await client.serviceRoot();
    const error = await failure(client.serviceRoot());
    expect(error).toMatchObject({ code, facts: { kind: 'limited' }, status });
    expect(elapsed()).toBe(60_000);
    expect(server.requests.length).toBeGreaterThan(10);
  });

  it('that is asked to wait for an hour ends, and the next request waits only for its turn', async () => {
    const hour = { status: 429, headers: { 'retry-after': '3600' } };
    const { client, sleeps } = await connectAt(() => hour);
    for (let sent = 0; sent < 2; sent += 1)
      expect((await failure(client.serviceRoot())).code).toBe('rate-limited');
    expect(sleeps).toEqual([250]);
  });

  it('is not slowed down by the limit of token requests', async () => {
    const limited = { status: 429, headers: { 'retry-after': '50' } };
    const { client, sleeps } = await connectAt((_, index) =>
      index === 0 ? limited : { json: {} },
    );
    expect((await failure(client.requestToken('ann', 'p:w'))).code).toBe('rate-limited');
    await sendMany(client, 3);
    expect(sleeps).toEqual([]);
  });

  it('gives up a request that is refused 20 times while others succeed', async () => {
    const { client, server } = await connectAt((_time, _index, path) =>
      path === '/v2/broken' ? { status: 503 } : { json: {} },
    );
    await client.serviceRoot();
    let isOver = false;
    const refused = client.send({ ...GET, path: '/v2/broken' }).finally(() => (isOver = true));
    while (!isOver) await client.serviceRoot();
    expect((await refused).status).toBe(503);
    expect(server.requests.filter(({ url }) => url.pathname === '/v2/broken')).toHaveLength(21);
  });

  it('starts the minute again after each success', async () => {
    const { respond } = limitOf(429, 50_000);
    const { client, elapsed } = await connectAt(respond);
    await client.serviceRoot();
    await client.serviceRoot();
    await client.serviceRoot();
    expect(elapsed()).toBeGreaterThan(100_000);
  });

  it('without retries never waits', async () => {
    const { respond } = limitOf(429, 1_000);
    const { client, sleeps } = await connectAt(respond, 0);
    await client.serviceRoot();
    expect((await failure(client.serviceRoot())).code).toBe('rate-limited');
    expect(sleeps).toEqual([]);
  });

  it('forgets the limits of an earlier run', async () => {
    const { respond } = limitOf(503, 1_000);
    const { client, sleeps } = await connectAt(respond);
    await client.serviceRoot();
    await client.serviceRoot();
    const before = sleeps.length;
    expect(before).toBeGreaterThan(0);
    expect((await client.startRun().send(PATCH)).status).toBe(503);
    expect(sleeps).toHaveLength(before);
  });

  const DOWN: readonly (readonly [string, ScriptedResponse])[] = [
    ['answers 502', { status: 502 }],
    ['answers 503', { status: 503 }],
    ['answers 504', { status: 504 }],
    ['closes connections', DROP],
  ];

  it.each(DOWN)('waits 15 s for a service that %s', async (_, response) => {
    // After a success, 503 is a limit.
    const isLost = response === DROP;
    const respond = (time: number, index: number) =>
      (isLost && index === 0) || time >= 15_000 ? { json: {} } : response;
    const { client, sleeps } = await connectAt(respond);
    if (isLost) await client.serviceRoot();
    await client.serviceRoot();
    expect(sleeps).toEqual([250, 1_000, 4_000, 10_000]);
  });

  it('fails within 4 s if the first connection is lost', async () => {
    const { client, elapsed, server } = await connectAt(() => DROP);
    expect((await failure(client.send(GET))).code).toBe('unreachable');
    expect(server.requests).toHaveLength(5);
    expect(elapsed()).toBeLessThan(4_000);
  });
});

/** A pace whose clock only sleeps move, and `send` for a request that is answered with a status. */
function paceAt(random = 0) {
  let time = 0;
  const sleeps: number[] = [];
  const pace = new Pace({
    elapsed: () => time,
    random: () => random,
    async sleep(milliseconds, signal) {
      sleeps.push(milliseconds);
      await turn();
      signal.throwIfAborted();
      time += milliseconds;
    },
  });
  const answer = (status: number, asked = 0) =>
    ({ status, headers: { 'retry-after': `${asked / 1_000}` } }) as unknown as HttpResponse;
  /** Returns how long the request waited. @param asked by its refusal, in milliseconds */
  const send = async (status: number, asked = 0, signal = new AbortController().signal) => {
    const before = time;
    await pace.send(signal, async () => answer(status, asked));
    return time - before;
  };
  const sendAll = async (count: number, status = 200) => {
    const waits: number[] = [];
    for (let sent = 0; sent < count; sent += 1) waits.push(await send(status));
    return waits;
  };
  return {
    pace,
    answer,
    send,
    sendAll,
    sleeps,
    pass: (milliseconds: number) => (time += milliseconds),
  };
}

describe('the pace', () => {
  it('has no gap before the first refusal, and halves it after ten successes', async () => {
    const { send, sendAll } = paceAt();
    expect(await sendAll(20)).toEqual(Array(20).fill(0));
    // Those that were sent before the refusal say nothing about the gap.
    await Promise.all([send(429), ...Array.from({ length: 10 }, () => send(200))]);
    // The gap after the tenth is still the whole one.
    expect(await sendAll(22)).toEqual([...Array(11).fill(250), ...Array(10).fill(125), 63]);
  });

  it('begins with a gap that random makes up to half longer', async () => {
    const { pace, send } = paceAt(1);
    await send(429);
    expect(pace.hasResponded).toBe(true);
    expect(await send(200)).toBe(375);
  });

  it('makes the gap half longer at each refusal, and at least as long as the last that was accepted', async () => {
    const { sendAll, send } = paceAt();
    expect(await sendAll(4, 429)).toEqual([0, 250, 375, 563]);
    expect(await sendAll(11)).toEqual(Array(11).fill(845));
    expect(await send(429)).toBe(423);
    expect(await sendAll(2, 429)).toEqual([845, 1_268]);
    // Only once, and ten successes count from the last refusal.
    expect(await sendAll(9)).toEqual(Array(9).fill(1_902));
    expect(await send(429)).toBe(1_902);
    expect(await sendAll(11)).toEqual(Array(11).fill(2_853));
    expect(await send(200)).toBe(1_427);
  });

  it('has a gap of at most 10 s, so that one broken request does not stop the others', async () => {
    const { send, sendAll } = paceAt();
    for (let round = 0; round < 20; round += 1) {
      await sendAll(5);
      await send(503);
    }
    expect(await send(200)).toBe(10_000);
  });

  it('waits as long as the longest refusal of those under way asked', async () => {
    const { send } = paceAt();
    await Promise.all([send(429, 5_000), send(429), send(429, 1_000)]);
    expect(await send(200)).toBe(5_000);
    expect(await send(200)).toBe(250);
  });

  it('waits as long as a refusal asked that came during a request that succeeds', async () => {
    const { pace, answer, send } = paceAt();
    const { signal } = new AbortController();
    let refuse = () => {};
    const refused = pace.send(signal, async () => {
      await new Promise<void>((resolve) => {
        refuse = resolve;
      });
      return answer(429, 5_000);
    });
    await send(429);
    await pace.send(signal, async () => {
      refuse();
      await refused;
      return answer(200);
    });
    expect(await send(200)).toBe(5_000);
  });

  it('waits at least the gap if a refusal asks for less', async () => {
    const { send } = paceAt();
    await send(429, 100);
    expect(await send(200)).toBe(250);
  });

  it('lets the next request go if one is aborted while it waits, or waits for its turn', async () => {
    const { send, sleeps } = paceAt();
    await send(429);
    const abort = new AbortController();
    const aborted = [send(200, 0, abort.signal), send(200, 0, abort.signal)];
    let isSent = false;
    const next = send(200).then(() => (isSent = true));
    await turn();
    abort.abort(new Error('stop'));
    const ends = aborted.map((each) => expect(each).rejects.toThrow('stop'));
    for (let turns = 0; turns < 9; turns += 1) await turn();
    expect(isSent).toBe(true);
    await Promise.all([...ends, next]);
    expect(sleeps).toEqual([250, 250]);
  });

  it('ends an aborted request before the one that has the turn, and the next request after that', async () => {
    const { pace, send, answer } = paceAt();
    await send(429);
    let respond = () => {};
    const responded = new Promise<void>((resolve) => (respond = resolve));
    const { signal } = new AbortController();
    const ended: string[] = [];
    const first = pace
      .send(signal, () => responded.then(() => answer(200)))
      .then(() => ended.push('first'));
    const abort = new AbortController();
    const second = send(200, 0, abort.signal).catch(() => ended.push('second'));
    abort.abort();
    const third = send(200).then(() => ended.push('third'));
    for (let turns = 0; turns < 9; turns += 1) await turn();
    respond();
    await Promise.all([first, second, third]);
    expect(ended).toEqual(['second', 'first', 'third']);
  });

  it('lets the next request go if one fails', async () => {
    const { pace, send } = paceAt();
    await send(429);
    const { signal } = new AbortController();
    const failed = pace.send(signal, () => Promise.reject(new Error('lost')));
    await expect(failed).rejects.toThrow('lost');
    let isSent = false;
    const next = send(200).then(() => (isSent = true));
    for (let turns = 0; turns < 9; turns += 1) await turn();
    expect(isSent).toBe(true);
    await next;
  });

  it('counts failures, and refusals of another limit, neither as successes nor as refusals', async () => {
    const { pace, answer, send, sendAll, pass } = paceAt();
    await send(429);
    expect(await sendAll(9)).toEqual(Array(9).fill(250));
    expect(await send(500)).toBe(250);
    expect(await sendAll(3)).toEqual([250, 250, 125]);
    await send(429);
    pass(59_000);
    await send(500);
    expect(pace.refusedFor).toBeLessThan(60_000);
    const { signal } = new AbortController();
    await pace.send(signal, async () => answer(429), true);
    pass(1_000);
    expect(pace.refusedFor).toBeGreaterThanOrEqual(60_000);
    await send(404);
    expect(pace.refusedFor).toBe(0);
  });

  it('takes 503 for a refusal only after a success', async () => {
    const { sendAll } = paceAt();
    expect(await sendAll(2, 503)).toEqual([0, 0]);
    expect(await sendAll(2, 204)).toEqual([0, 0]);
    expect(await sendAll(2, 500)).toEqual([0, 0]);
    expect(await sendAll(2, 503)).toEqual([0, 250]);
  });
});
