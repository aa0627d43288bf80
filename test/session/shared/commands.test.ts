// The lease and the keys in a real Redis server: only the owner of the lease renews, releases and writes.

import { expect, it } from 'vitest';
import { parseStoreAddress } from '../../../src/session/setting-values.ts';
import { leasesAt, readKey, writeKey } from '../../../src/session/shared/commands.ts';
import { LEASE_TIME } from '../../../src/session/shared/lease.ts';
import { connectStore } from '../../../src/session/shared/redis.ts';
import { fakeIo } from '../../support/io.ts';
import { NO_REDIS, REDIS_REASON, STORE_PASSWORD, startRedis } from '../../support/redis.ts';

const LEASE = 'imgctl:{x}:lease';
const KEY = 'imgctl:{x}:token';

async function connect() {
  const redis = await startRedis();
  const address = parseStoreAddress(redis.url);
  if (address === undefined) throw new Error('not an address');
  const io = fakeIo();
  const connection = await connectStore({ address, password: STORE_PASSWORD, ca: undefined, io });
  return { redis, connection, leases: leasesAt(LEASE, async () => connection) };
}

it.skipIf(NO_REDIS)(
  `a lease belongs to one owner until it is released${REDIS_REASON}`,
  async () => {
    const { redis, connection, leases } = await connect();
    expect([await leases.acquire('A'), await leases.acquire('B')]).toEqual([true, false]);
    expect(await leases.renew('B')).toBe(false);
    await leases.release('B');
    expect(redis.cli('get', LEASE)).toBe('A');
    redis.cli('pexpire', LEASE, '5000');
    expect(await leases.renew('A')).toBe(true);
    expect(Number(redis.cli('pttl', LEASE))).toBeGreaterThan(LEASE_TIME / 2);
    await leases.release('A');
    expect(redis.cli('exists', LEASE)).toBe('0');
    // Expired, and nobody has taken it.
    expect(await leases.renew('A')).toBe(true);
    expect(await leases.acquire('B')).toBe(false);
    connection.close();
  },
);

it.skipIf(NO_REDIS)(`a key is written unless another has the lease${REDIS_REASON}`, async () => {
  const { redis, connection, leases } = await connect();
  const entry = { value: 'T', milliseconds: 60_000 };
  expect(await readKey(connection, KEY)).toBeUndefined();
  await leases.acquire('A');
  await writeKey(connection, KEY, entry, { name: LEASE, owner: 'B' });
  expect(redis.cli('exists', KEY)).toBe('0');
  await writeKey(connection, KEY, entry, { name: LEASE, owner: 'A' });
  const read = await readKey(connection, KEY);
  expect(read?.value).toBe('T');
  expect(read?.milliseconds).toBeGreaterThan(0);
  expect(read?.milliseconds).toBeLessThanOrEqual(60_000);
  await leases.release('A');
  await writeKey(connection, KEY, { ...entry, value: 'U' }, { name: LEASE, owner: 'B' });
  expect(redis.cli('get', KEY)).toBe('U');
  connection.close();
});
