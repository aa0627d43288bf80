// The settings of the emulator; src/commands/automation/emulator.ts declares their defaults.

import type { IncomingHttpHeaders } from 'node:http';
import type { Image } from '../api/types.ts';
import type { Fault } from './faults.ts';

export interface User {
  readonly name: string;
  readonly password: string;
}

export interface RequestRecord {
  readonly method: string;
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
}

/** Durations are in milliseconds. */
export interface EmulatorSettings {
  readonly host: string;
  readonly port: number;
  readonly images: number;
  readonly catalogue?: readonly Partial<Image>[] | undefined;
  readonly seed: number;
  /** The day on which the catalogue ends, in milliseconds since the epoch [now]. */
  readonly until?: number | undefined;
  /** Folder with one sub-folder per user. */
  readonly uploads?: string | undefined;
  readonly users: readonly User[];
  /** Users with an account but without access to the API. */
  readonly deniedUsers?: readonly User[] | undefined;
  readonly tokenTtl: number;
  readonly tokenLimit: number;
  readonly tokenWindow: number;
  readonly latency?: number | undefined;
  readonly syncDelay: number;
  readonly faults?: readonly Fault[] | undefined;
  /** Receives the mails that a real service would send, and defects. */
  readonly log: (line: string) => void;
  readonly onRequest?: (record: RequestRecord) => unknown;
  /** Clock for tokens and syncs, in milliseconds since the epoch. */
  readonly now: () => number;
}
