// What the embedded service can be told at its start, and what it does when it is told nothing.

import type { IncomingHttpHeaders } from 'node:http';
import type { Fault } from './faults.ts';

export interface User {
  readonly name: string;
  readonly password: string;
}

/** A request as it arrived, before anything was done with it. */
export interface RequestRecord {
  readonly method: string;
  /** Path and query as they were sent. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
}

/** Durations are milliseconds. What is left out, or undefined, takes its default. */
export interface EmulatorOptions {
  /** Address to listen on; 127.0.0.1. */
  readonly host?: string | undefined;
  /** Port to listen on; 0, the default, lets the system choose. */
  readonly port?: number | undefined;
  /** Number of images in the public catalogue; 250. */
  readonly images?: number | undefined;
  /** Chooses the catalogue; 1. */
  readonly seed?: number | undefined;
  /** Folder with one sub-folder a user; without it, nobody has uploaded anything. */
  readonly uploads?: string | undefined;
  /** Who may log in; demo with password demo. */
  readonly users?: readonly User[] | undefined;
  /** Who has an account, but no permission to use the API. */
  readonly deniedUsers?: readonly User[] | undefined;
  /** Lifetime of a token; 24 hours. */
  readonly tokenTtl?: number | undefined;
  /** Token requests a user may make in a window; 5. */
  readonly tokenLimit?: number | undefined;
  /** Length of that window; one minute. */
  readonly tokenWindow?: number | undefined;
  /** Waited before each answer; 0. */
  readonly latency?: number | undefined;
  /** From the submit of a sync to its end; 2 seconds. */
  readonly syncDelay?: number | undefined;
  readonly faults?: readonly Fault[] | undefined;
  /** Takes the lines that tell what a real service would send by mail, and defects. */
  readonly log?: ((line: string) => void) | undefined;
  readonly onRequest?: ((record: RequestRecord) => void) | undefined;
  /** The clock of tokens and syncs, milliseconds since the epoch. */
  readonly now?: (() => number) | undefined;
}

type Optional = 'uploads' | 'onRequest';

/** All options with their values; only what has no default may be undefined. */
export type Settings = {
  readonly [Name in keyof EmulatorOptions]-?: Name extends Optional
    ? EmulatorOptions[Name]
    : Exclude<EmulatorOptions[Name], undefined>;
};

const MINUTE = 60_000;

/** The options with their defaults filled in; a plain Error when they can't be used. */
export function settingsOf(options: EmulatorOptions): Settings {
  const users = options.users ?? [];
  const deniedUsers = options.deniedUsers ?? [];
  for (const { name } of [...users, ...deniedUsers]) checkUserName(name);
  return {
    host: options.host ?? '127.0.0.1',
    port: options.port ?? 0,
    images: options.images ?? 250,
    seed: options.seed ?? 1,
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
    now: options.now ?? Date.now,
  };
}

/** A user's name is also that of a folder inside the uploads folder, and HTTP Basic ends it at a colon. */
function checkUserName(name: string): void {
  if (name === '' || name === '.' || name === '..' || /[/\\:\0]/.test(name)) {
    throw new Error(
      `user name ${JSON.stringify(name)} is empty or holds one of / \\ : or is . or ..`,
    );
  }
}
