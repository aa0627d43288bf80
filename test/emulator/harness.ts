// Starts the embedded service for one test, with a clock of its own, and talks to it by Node's own fetch.

import type { TokenRecord } from '../../src/api/types.ts';
import type { EmulatorOptions } from '../../src/emulator/options.ts';
import type { Emulator } from '../../src/emulator/server.ts';
import { serve } from '../support/emulator.ts';

/** Where the clock of each test stands at first: 2025-01-15 Wed 07:00:00 EST. */
export const START = Date.UTC(2025, 0, 15, 12);

export interface Reply<Body> {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed; undefined where there was none. */
  readonly body: Body;
}

export interface Service {
  readonly emulator: Emulator;
  readonly baseUrl: string;
  /** Moves the service's clock on by so many milliseconds. */
  advance(milliseconds: number): void;
  /** A request without credentials unless the headers have some; redirects are not followed. */
  send<Body = unknown>(
    method: string,
    path: string,
    headers?: Record<string, string>,
  ): Promise<Reply<Body>>;
  /** A token request. */
  requestToken<Body = unknown>(name: string, password: string): Promise<Reply<Body>>;
  /** The headers that show a new token of that user (demo), whose password is the user's name. */
  login(name?: string): Promise<{ Authorization: string }>;
}

/** A service on a port that the system chose; it is closed when the test has finished. */
export async function startService(options: EmulatorOptions = {}): Promise<Service> {
  let now = START;
  const emulator = await serve({ now: () => now, ...options });
  const { baseUrl } = emulator;

  const send = async <Body>(method: string, path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${baseUrl}${path}`, { method, headers, redirect: 'manual' });
    const text = await response.text();
    const body = (text === '' ? undefined : JSON.parse(text)) as Body;
    return { status: response.status, headers: response.headers, body };
  };

  const requestToken = <Body>(name: string, password: string) =>
    send<Body>('POST', '/auth/request-token', basic(name, password));

  return {
    emulator,
    baseUrl,
    advance: (milliseconds) => {
      now += milliseconds;
    },
    send,
    requestToken,
    login: async (name = 'demo') => {
      const { body } = await requestToken<TokenRecord>(name, name);
      return { Authorization: `Bearer ${body.token}` };
    },
  };
}

/** HTTP Basic credentials as a header. */
export function basic(name: string, password: string): { Authorization: string } {
  const pair = Buffer.from(`${name}:${password}`).toString('base64');
  return { Authorization: `Basic ${pair}` };
}
