// The commands that a shared store needs from Redis; scripts compare and change a key in one step.

import { StoreError } from '../token-store.ts';
import { LEASE_TIME, type Leases } from './lease.ts';
import { type StoreConnection, UNEXPECTED } from './redis.ts';

/** KEYS[1] is the lease and ARGV[1] its owner. */
const RENEW = `local owner = redis.call('get', KEYS[1])
if owner and owner ~= ARGV[1] then return 0 end
redis.call('set', KEYS[1], ARGV[1], 'px', ARGV[2])
return 1`;
const RELEASE = `if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('del', KEYS[1]) end
return 1`;
const WRITE = `local owner = redis.call('get', KEYS[1])
if owner and owner ~= ARGV[1] then return 0 end
redis.call('set', KEYS[2], ARGV[2], 'px', ARGV[3])
return 1`;

export function leasesAt(name: string, connect: () => Promise<StoreConnection>): Leases {
  const call: StoreConnection['call'] = async (...words) => (await connect()).call(...words);
  return {
    acquire: async (owner) =>
      isDone(await call('SET', name, owner, 'NX', 'PX', LEASE_TIME), 'OK', null),
    renew: async (owner) => isDone(await call('EVAL', RENEW, 1, name, owner, LEASE_TIME), 1, 0),
    release: async (owner) => {
      await call('EVAL', RELEASE, 1, name, owner);
    },
  };
}

/** A server that answers anything must not look like one whose lease is always taken. */
function isDone(reply: unknown, yes: unknown, no: unknown): boolean {
  if (reply === yes || reply === no) return reply === yes;
  throw new StoreError(UNEXPECTED);
}

export interface Entry {
  readonly value: string;
  /** Until it expires. */
  readonly milliseconds: number;
}

export async function readKey(
  connection: StoreConnection,
  name: string,
): Promise<Entry | undefined> {
  const [value, milliseconds] = await Promise.all([
    connection.call('GET', name),
    connection.call('PTTL', name),
  ]);
  const isEntry = typeof value === 'string' && typeof milliseconds === 'number';
  return isEntry && milliseconds > 0 ? { value, milliseconds } : undefined;
}

/** Writes nothing if another process has taken the lease. */
export async function writeKey(
  connection: StoreConnection,
  name: string,
  { value, milliseconds }: Entry,
  lease: { readonly name: string; readonly owner: string },
): Promise<void> {
  const expiry = Math.max(1, Math.round(milliseconds));
  const keys = [lease.name, name];
  isDone(await connection.call('EVAL', WRITE, 2, ...keys, lease.owner, value, expiry), 1, 0);
}
