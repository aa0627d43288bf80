// A look at the way to the service: one GET /v2 without renewal or another try, and how far it came.

import type { Received } from './answers.ts';
import type { Attempt } from './attempt.ts';
import { resolveUrl } from './base-url.ts';
import { authorizationOf } from './credentials.ts';
import { type HttpOptions, requestHeaders, tryOnce } from './http.ts';
import { NoAnswer } from './network-errors.ts';
import { createTransport } from './transport.ts';

export type ProbeOptions = Pick<
  HttpOptions,
  | 'baseUrl'
  | 'userAgent'
  | 'authScheme'
  | 'timeout'
  | 'maxBytes'
  | 'ca'
  | 'proxy'
  | 'signal'
  | 'now'
  | 'onEvent'
> & {
  /** Sent where there is one. */
  readonly token: string | undefined;
};

export interface Probe {
  /** undefined where the request could not even be begun. */
  readonly attempt: Attempt | undefined;
  /** The answer, of any status, or why there is none. */
  readonly outcome: Received | NoAnswer;
}

/** GET /v2 (section 4.2), sent once. @throws the signal's reason when it aborts */
export async function probe(options: ProbeOptions): Promise<Probe> {
  const { baseUrl, userAgent, authScheme, token, timeout, signal } = options;
  const transport = createTransport({
    ...options,
    origin: baseUrl.origin,
    connections: 1,
    keepCertificate: true,
  });
  const url = resolveUrl(baseUrl, '/v2');
  const authorization = token === undefined ? undefined : authorizationOf(authScheme, token);
  const headers = requestHeaders(userAgent, authorization);
  try {
    const request = { method: 'GET', url, headers, timeout, signal };
    const outcome = await tryOnce(transport, request, options);
    return { attempt: transport.latest(), outcome };
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    return { attempt: transport.latest(), outcome: error };
  } finally {
    await transport.close();
  }
}
