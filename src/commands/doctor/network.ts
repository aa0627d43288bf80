// The way to the service, check by check, as one request found it.

import { readJson, serviceMessage, statusError, utcTime } from '../../api/responses.ts';
import { ImgctlError, valueOrError } from '../../errors.ts';
import { RENEW_CERTIFICATE } from '../../http/errors.ts';
import type { HttpResponse } from '../../http/message.ts';
import type { ProxyChoice } from '../../http/proxy-env.ts';
import { httpDate } from '../../http/retry.ts';
import type { StageName } from '../../http/stages.ts';
import type { Io } from '../../io.ts';
import { describeDuration } from '../../session/settings.ts';
import { type Finding, failed, notChecked, ok, warning } from './finding.ts';
import type { TokenVerdict } from './login.ts';
import type { Probe } from './probe.ts';

const DAY = 24 * 3_600_000;
/** A certificate this close to its end is worth a word. */
const SOON = 14 * DAY;
const TOLERATED_SKEW = 5 * 60_000;

export const NETWORK_CHECKS = ['DNS', 'connection', 'TLS', 'service', 'clock'] as const;

export interface Way {
  readonly baseUrl: URL;
  readonly proxy: URL | undefined;
  /** The file of own certificates, where one is used. */
  readonly caFile: string | undefined;
  /** A token was sent along. */
  readonly withToken: boolean;
}

export function proxyFinding({ proxy, variable, bypassReason }: ProxyChoice): Finding {
  if (variable === undefined) return ok('proxy', 'none is set');
  if (proxy === undefined) return ok('proxy', `${variable} is passed by: ${bypassReason}`);
  const credentials = proxy.username === '' ? '' : ', with a user name and password';
  return ok('proxy', `${proxy.protocol}//${proxy.host} from ${variable}${credentials}`);
}

/** The check that fails where a connection gets no further than this stage. */
const CHECK_OF: Readonly<Record<StageName, (typeof NETWORK_CHECKS)[number]>> = {
  lookup: 'DNS',
  'proxy-lookup': 'DNS',
  connect: 'connection',
  'proxy-connect': 'connection',
  'proxy-tls': 'connection',
  tunnel: 'connection',
  tls: 'TLS',
  open: 'service',
};

export function networkFindings(probe: Probe, way: Way, io: Io): Finding[] {
  const { stage, outcome } = probe;
  const stopped = outcome instanceof ImgctlError ? CHECK_OF[stage?.name ?? 'lookup'] : undefined;
  const end = stopped === undefined ? NETWORK_CHECKS.length : NETWORK_CHECKS.indexOf(stopped);
  return NETWORK_CHECKS.flatMap((check, index): Finding[] => {
    if (index > end) return [notChecked(check, `${stopped} failed`)];
    if (outcome instanceof ImgctlError && check === stopped) {
      return [check === 'TLS' ? refusedCertificate(outcome, probe, io) : failed(check, outcome)];
    }
    if (check === 'DNS') return [lookupFinding(probe, way)];
    if (check === 'connection') return [connectionFinding(way)];
    if (check === 'TLS') return [tlsFinding(probe, way, io)];
    if (outcome instanceof ImgctlError) return [];
    return [check === 'service' ? serviceFinding(outcome, way) : clockFinding(outcome)];
  });
}

function lookupFinding({ stage }: Probe, { baseUrl, proxy }: Way): Finding {
  const addresses = stage?.addresses.join(', ') ?? '';
  const host = (proxy ?? baseUrl).hostname;
  if (addresses === host.replace(/^\[|\]$/g, '')) return ok('DNS', `${host} is an address itself`);
  return ok('DNS', `${proxy ? 'the proxy ' : ''}${host} is ${addresses}`);
}

function connectionFinding({ baseUrl, proxy }: Way): Finding {
  return ok('connection', `to ${baseUrl.host}${proxy ? ` through the proxy ${proxy.host}` : ''}`);
}

function tlsFinding({ stage }: Probe, { baseUrl, caFile }: Way, io: Io): Finding {
  if (baseUrl.protocol === 'http:') return notChecked('TLS', 'the base URL is plain http');
  const own = caFile === undefined ? '' : `; trusted with ca-file ${caFile}`;
  const finding = `${stage?.protocol}, ${certificateText(stage?.certificate)}${own}`;
  const left = (stage?.certificate?.validUntil ?? Number.POSITIVE_INFINITY) - io.now();
  if (left > SOON) return ok('TLS', finding);
  return warning('TLS', finding, 'ask the administrators of the service to renew it');
}

function refusedCertificate(error: ImgctlError, { stage }: Probe, io: Io): Finding {
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
  return `a certificate of ${subject} by ${issuer}, valid until ${until}`;
}

function serviceFinding(response: HttpResponse, { withToken }: Way): Finding {
  const { status, body } = response;
  if (status === 401 || status === 403) {
    const finding = `GET /v2 answers ${status}${withToken ? '' : ' without a token, as it should'}`;
    if (serviceMessage(body) !== undefined) return ok('service', finding);
    return warning(
      'service',
      `GET /v2 answers ${status}, but not as the service does`,
      'check that the base URL is correct: imgctl config list',
    );
  }
  const result = valueOrError(() => readJson(response));
  if (!('error' in result)) return ok('service', `GET /v2 answers ${status}`);
  const finding = failed('service', result.error);
  // Nobody asked for something that need not be there: without /v2 it is not the service.
  return finding.code === 'not-found' ? { ...finding, code: 'failed' } : finding;
}

function clockFinding({ headers, receivedAt }: HttpResponse): Finding {
  const date = httpDate(headers.date ?? '');
  if (date === undefined) return notChecked('clock', 'the service tells no time');
  const skew = receivedAt - date;
  if (Math.abs(skew) <= TOLERATED_SKEW) return ok('clock', 'agrees with that of the service');
  const direction = skew > 0 ? 'ahead of' : 'behind';
  return warning(
    'clock',
    `${describeDuration(Math.abs(skew))} ${direction} that of the service`,
    'set the clock of this machine, on Linux: sudo timedatectl set-ntp true',
  );
}

/** What the service says of the token that was sent; nothing where another answer came, or none. */
export function tokenVerdict({ outcome }: Probe): TokenVerdict {
  if (outcome instanceof ImgctlError) return 'unknown';
  if (outcome.status === 401 || outcome.status === 403) return statusError(outcome);
  return 'error' in valueOrError(() => readJson(outcome)) ? 'unknown' : 'taken';
}
