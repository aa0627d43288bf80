// The one way to start the emulator in this process, and requests to it by Node's own fetch.

import { onTestFinished } from 'vitest';
import { defaultSettings } from '../../src/commands/automation/emulator.ts';
import { type Emulator, startEmulator } from '../../src/emulator/emulator.ts';
import { parseFault } from '../../src/emulator/faults.ts';
import type { EmulatorSettings, RequestRecord } from '../../src/emulator/settings.ts';

type Credentials = { Authorization: string };

interface ServiceResponse<Body> {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed JSON; undefined if empty. */
  readonly body: Body;
}

/** Settings, with faults as `imgctl emulator --fault` takes them. */
export type ServeOptions = Partial<Omit<EmulatorSettings, 'faults'>> & {
  readonly faults?: readonly string[];
};

export interface TestEmulator extends Emulator {
  /** Every request so far. */
  readonly requests: readonly RequestRecord[];
  /** Sends a request without credentials of its own; redirects are not followed. */
  send<Body = unknown>(
    method: string,
    path: string,
    headers?: Record<string, string>,
  ): Promise<ServiceResponse<Body>>;
  requestToken<Body = { token: string }>(
    name: string,
    password: string,
  ): Promise<ServiceResponse<Body>>;
  /** Returns the headers with a new token of a user whose password is the name (demo). */
  login(name?: string): Promise<Credentials>;
}

/** The last day of the catalogue, so that its names and dates are the same on every day. */
export const END = Date.UTC(2025, 6, 31);

/** Starts a service on a free port for the running test. */
export async function serve({ faults = [], ...options }: ServeOptions = {}): Promise<TestEmulator> {
  const requests: RequestRecord[] = [];
  const emulator = await startEmulator({
    ...{ ...defaultSettings(), port: 0, until: END, faults: faults.map(parseFault) },
    ...{ now: Date.now, log: () => {}, ...options },
    onRequest: (record) => {
      requests.push(record);
      return options.onRequest?.(record);
    },
  });
  onTestFinished(() => emulator.close());
  const send: TestEmulator['send'] = async (method, path, headers = {}) => {
    const url = `${emulator.baseUrl}${path}`;
    const response = await fetch(url, { method, headers, redirect: 'manual' });
    const text = await response.text();
    const body = text === '' ? undefined : JSON.parse(text);
    return { status: response.status, headers: response.headers, body };
  };
  const requestToken: TestEmulator['requestToken'] = (name, password) =>
    send('POST', '/auth/request-token', basic(name, password));
  const login: TestEmulator['login'] = async (name = 'demo') => {
    const { body } = await requestToken(name, name);
    return { Authorization: `Bearer ${body.token}` };
  };
  return { ...emulator, requests, send, requestToken, login };
}

/** Where the clock of `serveWithClock` starts: 2025-01-15 Wed 07:00:00 EST. */
export const CLOCK_START = Date.UTC(2025, 0, 15, 12);

/** Starts a service for the running test whose clock stands still until `advance` moves it. */
export async function serveWithClock(options: ServeOptions = {}) {
  let now = CLOCK_START;
  const service = await serve({ now: () => now, ...options });
  const advance = (milliseconds: number) => {
    now += milliseconds;
  };
  return { ...service, advance };
}

/** HTTP Basic credentials as a header. */
export function basic(name: string, password: string): Credentials {
  const pair = Buffer.from(`${name}:${password}`).toString('base64');
  return { Authorization: `Basic ${pair}` };
}
