// Options of the embedded service and their defaults.

import type { IncomingHttpHeaders } from 'node:http';
import type { Image } from '../api/types.ts';
import type { Fault } from './faults.ts';

export interface User {
  readonly name: string;
  readonly password: string;
}

export interface RequestRecord {
  readonly method: string;
  /** Path and query as sent. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
}

/** Durations are in milliseconds; resolveOptions has the defaults. */
export interface EmulatorOptions {
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly images?: number | undefined;
  /** Images to serve instead of generated ones. */
  readonly catalogue?: readonly Partial<Image>[] | undefined;
  /** Selects the catalogue (1). */
  readonly seed?: number | undefined;
  /** The day on which the catalogue ends, in milliseconds since the epoch (now). */
  readonly until?: number | undefined;
  /** Folder with one sub-folder per user. */
  readonly uploads?: string | undefined;
  /** Users who may log in (demo with password demo). */
  readonly users?: readonly User[] | undefined;
  /** Users with an account but without access to the API. */
  readonly deniedUsers?: readonly User[] | undefined;
  readonly tokenTtl?: number | undefined;
  /** Token requests per user and window (5). */
  readonly tokenLimit?: number | undefined;
  readonly tokenWindow?: number | undefined;
  readonly latency?: number | undefined;
  /** Time from submitting a sync to its end (2 seconds). */
  readonly syncDelay?: number | undefined;
  readonly faults?: readonly Fault[] | undefined;
  /** Receives the mails that a real service would send, and defects. */
  readonly log?: ((line: string) => void) | undefined;
  readonly onRequest?: ((record: RequestRecord) => void) | undefined;
  /** Clock for tokens and syncs, in milliseconds since the epoch. */
  readonly now: () => number;
}

export type EmulatorSettings = ReturnType<typeof resolveOptions>;

const MINUTE = 60_000;

/** Fills in the defaults. @throws Error for an invalid user name */
export function resolveOptions(options: EmulatorOptions) {
  const users = options.users ?? [];
  const deniedUsers = options.deniedUsers ?? [];
  for (const { name } of [...users, ...deniedUsers]) {
    // A user name is also the name of an upload folder, and HTTP Basic ends it at a colon.
    if (name === '' || name === '.' || name === '..' || /[/\\:\0]/.test(name)) {
      throw new Error(
        `user name ${JSON.stringify(name)} must not be empty, . or .., or contain / \\ :`,
      );
    }
  }
  return {
    host: options.host ?? '127.0.0.1',
    port: options.port ?? 0,
    images: options.images ?? 250,
    catalogue: options.catalogue,
    seed: options.seed ?? 1,
    until: options.until ?? options.now(),
    uploads: options.uploads,
    users: users.length > 0 ? users : [{ name: 'demo', password: 'demo' }],
    deniedUsers,
    tokenTtl: options.tokenTtl ?? 24 * 60 * MINUTE,
    tokenLimit: options.tokenLimit ?? 5,
    tokenWindow: options.tokenWindow ?? MINUTE,
    latency: options.latency ?? 0,
    syncDelay: options.syncDelay ?? 2000,
    faults: options.faults ?? [],
    log: options.log ?? (() => undefined),
    onRequest: options.onRequest,
    now: options.now,
  };
}
