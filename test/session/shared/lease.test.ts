// The lease, by the model: two and three machines that crash or are delayed at every step.

import { expect, it } from 'vitest';
import { takeLeasedTurn } from '../../../src/session/shared/lease.ts';
import { fakeIo } from '../../support/io.ts';
import { explore, type Limits, type StoreFault } from './lease-model.ts';

it.each<Limits & { readonly states: number }>([
  { machines: 2, crashes: 1, delays: 2, states: 1_000 },
  { machines: 3, crashes: 0, delays: 1, states: 500 },
  { machines: 3, crashes: 1, delays: 0, states: 100 },
])(
  'never lets two requests fly under live leases, and always ends: %o',
  { timeout: 120_000 },
  async (limits) => {
    const { states, flaws } = await explore(limits);
    expect(flaws).toEqual([]);
    expect(states).toBeGreaterThan(limits.states);
  },
);

it.each<[StoreFault, string]>([
  ['acquires a taken lease', 'two requests under live leases'],
  ['renews for anyone', 'two requests under live leases'],
  ['releases for anyone', 'two requests under live leases'],
])('needs a store that never %s', async (fault, flaw) => {
  const { flaws } = await explore({ machines: 2, crashes: 0, delays: 1 }, fault);
  expect(flaws).toContain(flaw);
});

it('is renewed again after a renewal failed', async () => {
  let renewals = 0;
  const leases = {
    acquire: async () => true,
    renew: async () => {
      renewals += 1;
      if (renewals === 1) throw new Error('no reply');
      return true;
    },
    release: async () => {},
  };
  const action = async () => {
    while (renewals < 2) await new Promise(setImmediate);
    return 'a token';
  };
  const turn = { isAttended: false, instead: async () => undefined, action };
  const io = fakeIo({ time: 0 });
  expect(await takeLeasedTurn(leases, turn, () => 'owner', io)).toBe('a token');
});

it('gives up after two minutes', async () => {
  let now = 0;
  const sleep = async (milliseconds: number) => {
    now += milliseconds;
  };
  const io = { ...fakeIo(), now: () => now, sleep };
  const leases = {
    acquire: async () => false,
    renew: async () => false,
    release: async () => {},
  };
  const turn = {
    isAttended: false,
    instead: async () => undefined,
    action: async () => 'a token',
  };
  await expect(takeLeasedTurn(leases, turn, () => 'owner', io)).rejects.toMatchObject({
    code: 'timeout',
    message: 'another imgctl has requested a token for 120 s',
  });
});
