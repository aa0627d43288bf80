// Sends one request, and reports a finding for each stage of the connection.

import { authorizationHeader, requestHeaders } from '../../api/auth.ts';
import { type ClientOptions, SERVICE } from '../../api/client.ts';
import { readJson, serviceMessage, statusError, utcTime } from '../../api/responses.ts';
import { describeDuration } from '../../duration.ts';
import { ImgctlError, valueOrError } from '../../errors.ts';
import { RENEW_CERTIFICATE, TransportError } from '../../http/errors.ts';
import type { HttpResponse } from '../../http/message.ts';
import type { ProxyChoice } from '../../http/proxy-env.ts';
import { httpDate } from '../../http/retry.ts';
import type { ConnectStage, StageName } from '../../http/stages.ts';
import { createTransport } from '../../http/transport.ts';
import { resolveUrl } from '../../http/url.ts';
import type { Io } from '../../io.ts';
import { type Finding, failed, notChecked, ok, warning } from './finding.ts';
import type { TokenVerdict } from './login.ts';

const DAY = 24 * 3_600_000;
const CERTIFICATE_NOTICE = 14 * DAY;
const MAX_CLOCK_SKEW = 5 * 60_000;

export const NETWORK_CHECKS = ['DNS', 'connection', 'TLS', 'service', 'clock'] as const;

type Inherited = 'baseUrl' | 'userAgent' | 'authScheme' | 'timeout' | 'maxBytes' | 'ca' | 'proxy';

type ProbeOptions = Pick<ClientOptions, Inherited | 'signal' | 'now' | 'onEvent'> & {
  readonly token: string | undefined;
};

interface Probe {
  /** undefined if the request could not be started. */
  readonly stage: ConnectStage | undefined;
  /** The response of any status, or why there is none. */
  readonly outcome: HttpResponse | TransportError;
}

/** Sends one GET /v2 without renewal or retry. @throws the signal's reason when it aborts */
export async function probe(options: ProbeOptions): Promise<Probe> {
  const { baseUrl, userAgent, authScheme, token, timeout, signal } = options;
  const { origin } = baseUrl;
  const settings = { origin, endpoint: SERVICE, connections: 1, recordCertificate: true };
  const transport = createTransport({ ...options, ...settings });
  const authorized = token === undefined ? undefined : authorizationHeader(authScheme, token);
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

interface Route {
  readonly baseUrl: URL;
  readonly proxy: URL | undefined;
  readonly caFile: string | undefined;
  readonly sentToken: boolean;
}

export function proxyFinding({ proxy, variable, bypassReason }: ProxyChoice): Finding {
  if (variable === undefined) return ok('proxy', 'none set');
  if (proxy === undefined) return ok('proxy', `${variable} is bypassed: ${bypassReason}`);
  const { protocol, host, username } = proxy.url;
  const credentials = username === '' ? '' : ', with a user name and password';
  return ok('proxy', `${protocol}//${host} from ${variable}${credentials}`);
}

/** The check that fails if a connection stops at this stage. */
const CHECK_BY_STAGE: Readonly<Record<StageName, (typeof NETWORK_CHECKS)[number]>> = {
  lookup: 'DNS',
  'proxy-lookup': 'DNS',
  connect: 'connection',
  'proxy-connect': 'connection',
  'proxy-tls': 'connection',
  tunnel: 'connection',
  tls: 'TLS',
  open: 'service',
};

export function networkFindings(probe: Probe, route: Route, io: Io): Finding[] {
  const { stage, outcome } = probe;
  const stopped =
    outcome instanceof ImgctlError ? CHECK_BY_STAGE[stage?.name ?? 'lookup'] : undefined;
  const end = stopped === undefined ? NETWORK_CHECKS.length : NETWORK_CHECKS.indexOf(stopped);
  return NETWORK_CHECKS.flatMap((check, index): Finding[] => {
    if (index > end) return [notChecked(check, `${stopped} failed`)];
    if (outcome instanceof ImgctlError && check === stopped) {
      return [check === 'TLS' ? tlsFailure(outcome, probe, io) : failed(check, outcome)];
    }
    if (check === 'DNS') return [lookupFinding(probe, route)];
    if (check === 'connection') return [connectionFinding(route)];
    if (check === 'TLS') return [tlsFinding(probe, route, io)];
    if (outcome instanceof ImgctlError) return [];
    return [check === 'service' ? serviceFinding(outcome, route) : clockFinding(outcome)];
  });
}

function lookupFinding({ stage }: Probe, { baseUrl, proxy }: Route): Finding {
  const addresses = stage?.addresses.join(', ') ?? '';
  const host = (proxy ?? baseUrl).hostname;
  if (addresses === host.replace(/^\[|\]$/g, '')) return ok('DNS', `${host} is an IP address`);
  return ok('DNS', `${proxy ? 'proxy ' : ''}${host} resolves to ${addresses}`);
}

function connectionFinding({ baseUrl, proxy }: Route): Finding {
  if (proxy === undefined) return ok('connection', `connected to ${baseUrl.host}`);
  // A proxy forwards plain http without a connection of its own to the service.
  const tunnel = baseUrl.protocol === 'https:' ? `${baseUrl.host} through ` : '';
  return ok('connection', `connected to ${tunnel}the proxy ${proxy.host}`);
}

function tlsFinding({ stage }: Probe, { baseUrl, caFile }: Route, io: Io): Finding {
  if (baseUrl.protocol === 'http:') return notChecked('TLS', 'the base URL is plain http');
  const trust = caFile === undefined ? '' : `; trusted by ca-file ${caFile}`;
  const finding = `${stage?.protocol}, ${certificateText(stage?.certificate)}${trust}`;
  const left = (stage?.certificate?.validUntil ?? Number.POSITIVE_INFINITY) - io.now();
  if (left > CERTIFICATE_NOTICE) return ok('TLS', finding);
  return warning('TLS', finding, 'ask the administrators of the service to renew the certificate');
}

function tlsFailure(error: ImgctlError, { stage }: Probe, io: Io): Finding {
  const certificate = stage?.certificate;
  const finding = failed('TLS', error);
  if (certificate === undefined) return finding;
  const expired = certificate.validUntil < io.now();
  const remedy = expired ? RENEW_CERTIFICATE : finding.remedy;
  return { ...finding, finding: `${error.message}; ${certificateText(certificate)}`, remedy };
}

function certificateText(certificate: NonNullable<Probe['stage']>['certificate']): string {
  if (certificate === undefined) return 'no certificate';
  const { subject, issuer, validUntil } = certificate;
  const until = Number.isNaN(validUntil) ? 'an unknown time' : utcTime(validUntil);
  return `certificate for ${subject} by ${issuer}, valid until ${until}`;
}

function serviceFinding(response: HttpResponse, { sentToken }: Route): Finding {
  const { status, body } = response;
  if (status === 401 || status === 403) {
    const finding = `GET /v2 returned ${status}${sentToken ? '' : ' without a token, as expected'}`;
    if (serviceMessage(body) !== undefined) return ok('service', finding);
    return warning(
      'service',
      `GET /v2 returned ${status}, but not in the format of the service`,
      'check that the base URL is correct: imgctl config list',
    );
  }
  const result = valueOrError(() => readJson(response));
  if (!('error' in result)) return ok('service', `GET /v2 returned ${status}`);
  const finding = failed('service', result.error);
  // A 404 for /v2 means that this is another service; not-found would mean a missing image.
  return finding.code === 'not-found' ? { ...finding, code: 'failed' } : finding;
}

function clockFinding({ headers, receivedAt }: HttpResponse): Finding {
  const date = httpDate(headers.date ?? '');
  if (date === undefined) return notChecked('clock', 'the service sent no valid date');
  const skew = receivedAt - date;
  if (Math.abs(skew) <= MAX_CLOCK_SKEW) return ok('clock', 'agrees with the service');
  const direction = skew > 0 ? 'ahead of' : 'behind';
  return warning(
    'clock',
    `${describeDuration(Math.abs(skew))} ${direction} the service`,
    'set the clock of this machine, on Linux: sudo timedatectl set-ntp true',
  );
}

export function tokenVerdict({ outcome }: Probe): TokenVerdict {
  if (outcome instanceof ImgctlError) return 'unknown';
  if (outcome.status === 401 || outcome.status === 403) return statusError(outcome);
  return 'error' in valueOrError(() => readJson(outcome)) ? 'unknown' : 'accepted';
}
