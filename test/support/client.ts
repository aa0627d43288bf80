// A client and a scripted server for one test, with sleeps that take no time but are written down.

import { onTestFinished } from 'vitest';
import type { ClientEvent, TokenSource } from '../../src/api/auth.ts';
import { type Client, type ClientOptions, createClient } from '../../src/api/client.ts';
import {
  type Handler,
  type Script,
  type ScriptedResponse,
  type ScriptedServer,
  scriptedServer,
} from './scripted-server.ts';

export const GET = { method: 'GET', path: '/v2' };
export const PATCH = { method: 'PATCH', path: '/v2/user/image/vm' };

export const LENGTH_10 = 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n';
export const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';

/** An answer of just these bytes. */
export function bytes(text: string, hangUp = false): ScriptedResponse {
  return { raw: (socket) => (hangUp ? socket.end(text) : socket.write(text)) };
}

/** Tokens T1, T2, ...: as many as there are renewals to be had. */
export class TestTokens implements TokenSource {
  readonly remedy = 'log in again';
  /** Each refused token that came in, and whether it had been accepted before. */
  readonly refusals: [string, boolean][] = [];
  #number = 1;
  readonly #last: number;

  constructor(renewals: number) {
    this.#last = 1 + renewals;
  }

  async current(): Promise<string> {
    return `T${this.#number}`;
  }

  async renew(refused: string, accepted: boolean): Promise<string | undefined> {
    this.refusals.push([refused, accepted]);
    if (refused !== `T${this.#number}`) return `T${this.#number}`;
    if (this.#number === this.#last) return undefined;
    this.#number += 1;
    return `T${this.#number}`;
  }
}

export interface ClientUnderTest {
  readonly client: Client;
  readonly tokens: TestTokens;
  readonly sleeps: readonly number[];
  readonly events: readonly ClientEvent[];
}

/** A client that is closed when the test ends. */
export function clientOf(
  baseUrl: string,
  changes: Partial<ClientOptions> & { readonly renewals?: number } = {},
): ClientUnderTest {
  const { renewals = 0, ...options } = changes;
  const tokens = new TestTokens(renewals);
  const sleeps: number[] = [];
  const events: ClientEvent[] = [];
  const client = createClient({
    baseUrl: new URL(baseUrl),
    userAgent: 'imgctl-test',
    tokens,
    authScheme: 'bearer',
    timeout: 20_000,
    retries: 4,
    connections: 6,
    maxBytes: 2 ** 20,
    signal: new AbortController().signal,
    now: Date.now,
    sleep: async (milliseconds, signal) => {
      signal.throwIfAborted();
      sleeps.push(milliseconds);
    },
    random: () => 1,
    onEvent: (event) => events.push(event),
    ...options,
  });
  onTestFinished(() => client.close());
  return { client, tokens, sleeps, events };
}

/** Both, the client pointed at the server. */
export async function start(
  script: Handler | Script,
  changes?: Parameters<typeof clientOf>[1],
): Promise<ClientUnderTest & { readonly server: ScriptedServer }> {
  const server = await scriptedServer(script);
  return { server, ...clientOf(server.baseUrl, changes) };
}
