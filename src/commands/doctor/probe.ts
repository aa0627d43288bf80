// Sends one GET /v2 without renewal or retry, and records how far the connection came.

import { authorization, requestHeaders } from '../../api/auth.ts';
import { type ClientOptions, SERVICE } from '../../api/client.ts';
import { TransportError } from '../../http/errors.ts';
import type { HttpResponse } from '../../http/message.ts';
import type { ConnectStage } from '../../http/stages.ts';
import { createTransport } from '../../http/transport.ts';
import { resolveUrl } from '../../http/url.ts';

type Inherited = 'baseUrl' | 'userAgent' | 'authScheme' | 'timeout' | 'maxBytes' | 'ca' | 'proxy';

export type ProbeOptions = Pick<ClientOptions, Inherited | 'signal' | 'now' | 'onEvent'> & {
  /** Sent if there is one. */
  readonly token: string | undefined;
};

export interface Probe {
  /** undefined if the request could not be started. */
  readonly stage: ConnectStage | undefined;
  /** The response of any status, or why there is none. */
  readonly outcome: HttpResponse | TransportError;
}

/** @throws the signal's reason when it aborts */
export async function probe(options: ProbeOptions): Promise<Probe> {
  const { baseUrl, userAgent, authScheme, token, timeout, signal } = options;
  const { origin } = baseUrl;
  const settings = { origin, endpoint: SERVICE, connections: 1, recordCertificate: true };
  const transport = createTransport({ ...options, ...settings });
  const authorized = token === undefined ? undefined : authorization(authScheme, token);
  const headers = requestHeaders(userAgent, authorized);
  const url = resolveUrl(baseUrl, '/v2');
  try {
    const outcome = await transport.send({ method: 'GET', url, headers, timeout, signal });
    return { stage: transport.latest(), outcome };
  } catch (error) {
    if (!(error instanceof TransportError)) throw error;
    return { stage: transport.latest(), outcome: error };
  } finally {
    await transport.close();
  }
}
