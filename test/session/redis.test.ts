// The lock and the keys in a real Redis server: only the owner of the lock renews and releases it.

import { expect, it, onTestFinished } from 'vitest';
import { connectStore } from '../../src/session/redis.ts';
import { SETTINGS } from '../../src/session/setting-table.ts';
import { fakeIo } from '../support/io.ts';
import { NO_REDIS, REDIS_REASON, STORE_PASSWORD, startRedis } from '../support/redis.ts';

const LOCK = 'imgctl:{x}:lock';
const KEY = 'imgctl:{x}:token';

async function connect() {
  const redis = await startRedis();
  const address = SETTINGS['token-store'].parse(redis.url);
  if (address === undefined) throw new Error('not an address');
  const io = fakeIo();
  const connection = await connectStore({ address, password: STORE_PASSWORD, ca: undefined, io });
  onTestFinished(connection.close);
  return { redis, connection };
}

it.skipIf(NO_REDIS)(`a lock belongs to one owner until it is released${REDIS_REASON}`, async () => {
  const { redis, connection } = await connect();
  const take = (owner: string) => connection.takeLock(LOCK, owner, 10_000);
  const renew = (owner: string) => connection.renewLock(LOCK, owner, 10_000);
  expect([await take('A'), await take('B')]).toEqual([true, false]);
  expect(await renew('B')).toBe(false);
  await connection.releaseLock(LOCK, 'B');
  expect(redis.cli('get', LOCK)).toBe('A');
  redis.cli('pexpire', LOCK, '3000');
  expect(await renew('A')).toBe(true);
  expect(Number(redis.cli('pttl', LOCK))).toBeGreaterThan(5_000);
  await connection.releaseLock(LOCK, 'A');
  expect(redis.cli('exists', LOCK)).toBe('0');
  // Expired, and nobody has taken it.
  expect(await renew('A')).toBe(true);
  expect(await take('B')).toBe(false);
});

it.skipIf(NO_REDIS)(`a key is read with the time until it expires${REDIS_REASON}`, async () => {
  const { redis, connection } = await connect();
  expect([await connection.get(KEY), await connection.timeLeft(KEY)]).toEqual([undefined, -2]);
  await connection.set(KEY, 'T', 60_000);
  const read = await connection.get(KEY);
  expect(read?.value).toBe('T');
  expect(read?.milliseconds).toBeGreaterThan(0);
  expect(read?.milliseconds).toBeLessThanOrEqual(60_000);
  redis.cli('persist', KEY);
  expect(await connection.timeLeft(KEY)).toBe(-1);
  expect([await connection.delete(KEY), await connection.delete(KEY)]).toEqual([true, false]);
});

it.skipIf(NO_REDIS)(`a database other than 0 is selected${REDIS_REASON}`, async () => {
  const { redis } = await connect();
  const address = SETTINGS['token-store'].parse(redis.url.replace(/0$/, '3'));
  if (address === undefined) throw new Error('not an address');
  const options = { address, password: STORE_PASSWORD, ca: undefined, io: fakeIo() };
  const connection = await connectStore(options);
  onTestFinished(connection.close);
  await connection.set(KEY, 'T', 60_000);
  expect([redis.cli('exists', KEY), redis.cli('-n', '3', 'exists', KEY)]).toEqual(['0', '1']);
});
