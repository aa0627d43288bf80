// Connects a client to a scripted server for one test; its sleeps take no time but are recorded.

import { onTestFinished } from 'vitest';
import type { ClientEvent, TokenSource } from '../../src/api/auth.ts';
import { createServiceClient, type ServiceClientOptions } from '../../src/api/client.ts';
import { chooseProxy } from '../../src/http/proxy-route.ts';
import {
  type Handler,
  type Script,
  type ScriptedResponse,
  scriptedServer,
} from './scripted-server.ts';

export const ENDPOINT = { of: 'service' } as const;

export const GET = { method: 'GET', path: '/v2' };
export const PATCH = { method: 'PATCH', path: '/v2/user/image/vm' };

export const LENGTH_10 = 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n';
export const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';

/** A response of just these bytes. */
export function bytes(text: string, closes = false): ScriptedResponse {
  return { raw: (socket) => (closes ? socket.end(text) : socket.write(text)) };
}

/** Tokens T1, T2 and so on; each renewal returns the next. */
class TestTokens implements TokenSource {
  readonly factsIfRejected = { kind: 'token-refused' } as const;
  /** Each refused token, and whether the service had accepted it before. */
  readonly refusals: [string, boolean][] = [];
  /** True if the tokens were received a moment ago. */
  isYoung = false;
  #number = 1;
  readonly #last: number;

  constructor(renewals: number) {
    this.#last = 1 + renewals;
  }

  isNew(): boolean {
    return this.isYoung;
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

export type ScriptedClientOptions = Partial<ServiceClientOptions> & { readonly renewals?: number };

/** Returns the proxy at a URL, as HTTPS_PROXY or HTTP_PROXY sets it for a service. */
export function proxyFor(service: string, url: string) {
  return chooseProxy(new URL(service), { HTTPS_PROXY: url, HTTP_PROXY: url }).proxy;
}

/** Creates a client that is closed when the test ends. */
export function clientOf(baseUrl: string, changes: ScriptedClientOptions = {}) {
  const { renewals = 0, ...options } = changes;
  const tokens = new TestTokens(renewals);
  const sleeps: number[] = [];
  const events: ClientEvent[] = [];
  /** Sleeps move the clock, and take no time. */
  let slept = 0;
  const client = createServiceClient({
    baseUrl: new URL(baseUrl),
    userAgent: 'imgctl-test',
    tokens,
    authScheme: 'bearer',
    timeout: 20_000,
    retries: 4,
    connections: 6,
    maxBytes: 2 ** 20,
    signal: new AbortController().signal,
    now: () => Date.now() + slept,
    elapsed: () => Date.now() + slept,
    sleep: async (milliseconds, signal) => {
      signal.throwIfAborted();
      sleeps.push(milliseconds);
      slept += milliseconds;
    },
    random: () => 1,
    onEvent: (event) => events.push(event),
    ...options,
  });
  onTestFinished(() => client.close());
  return { client, tokens, sleeps, events };
}

/** Starts a scripted server and creates its client. */
export async function connect(script: Handler | Script, options?: ScriptedClientOptions) {
  const server = await scriptedServer(script);
  return { server, ...clientOf(server.baseUrl, options) };
}
