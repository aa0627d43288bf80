// The checks of doctor that ask the service: the connection, the clock, the token and the password.

import { clockSkew, readJson, serviceMessage, statusError } from '../../../api/responses.ts';
import { isToken } from '../../../api/token-request.ts';
import { requireBaseUrl } from '../../../config/addresses.ts';
import type { Context } from '../../../context.ts';
import { asImgctlError, attempt, type ImgctlError, tryOr } from '../../../errors.ts';
import { hint, imgctl, setting } from '../../../facts.ts';
import { unattendedPassword } from '../../../secrets/passwords.ts';
import { isNewToken, noValidToken, tokenState } from '../../../session/cached-token.ts';
import { givenToken, tokenOfEnvironment } from '../../../session/session.ts';
import { limitReached } from '../../../session/token-requests.ts';
import { describeDuration, utcTime } from '../../../words.ts';
import {
  type CheckResult,
  type CheckResults,
  type Diagnosis,
  notChecked,
  type ServiceResponse,
  warning,
} from './findings.ts';

const UNCONNECTED = notChecked('connection failed');

const REFUSED = { kind: 'token-refused' } as const;

/**
 * Sends one GET /v2, with the token if it is valid, without renewal or retry. A new token that a
 * node may not know yet is tried once more.
 * @throws ImgctlError
 */
export async function connect(diagnosis: Diagnosis): Promise<CheckResult> {
  const { context, options } = diagnosis;
  const account = tryOr(() => context.settings.account, undefined);
  if (options.login) diagnosis.loginError = await logIn(context);
  const files = account && context.tokenFiles(account);
  const cached = files?.read();
  diagnosis.cached = cached;
  diagnosis.limit = files?.readLimit();
  const own = tokenState(cached, context.io.now()) === 'valid' ? cached : undefined;
  const given = givenToken(context.io) ?? own?.token;
  const token = given && isToken(given) ? given : undefined;
  const tokens = {
    current: async () => token,
    renew: async () => undefined,
    isNew: () => own !== undefined && own.token === token && isNewToken(own, context.io.now()),
    factsIfRejected: REFUSED,
  };
  // Settings that this request does not need may be invalid.
  const unneeded = { concurrency: '1', username: '-', 'auth-scheme': token ? undefined : 'bearer' };
  const settings = context.settings.with({ retries: '0', ...unneeded });
  const { client, route } = await context.openSession(settings, tokens);
  const response = await client.send({
    method: 'GET',
    path: '/v2',
    anyStatus: true,
    asReceived: false,
  });
  const { proxy, variable, bypassReason } = route;
  const through = proxy ? `, through the proxy ${proxy.url.origin} from ${variable}` : '';
  const bypassed = bypassReason ? `; ${variable} is bypassed: ${bypassReason}` : '';
  const request = `GET ${context.settings.account.baseUrl}/v2${token ? '' : ' without a token'}`;
  const finding = `${request} returned ${response.status}${through}${bypassed}`;
  const result = connectionResult(context, response, finding);
  diagnosis.response = response;
  return result;
}

function connectionResult(
  context: Context,
  response: ServiceResponse,
  finding: string,
): CheckResult {
  const { error } = attempt(() => readJson(response));
  if (error && !(isRefusal(response) && error.code !== 'bad-answer')) {
    // A 404 for /v2 means that this is another service; not-found would mean a missing image.
    throw error.code === 'not-found' ? error.with({ code: 'failed' }) : error;
  }
  if (error && serviceMessage(response.body) === undefined) {
    const check = { kind: 'check-address', of: 'service' } as const;
    return warning(`${finding}, but not in the format of the service`, check);
  }
  const settings = context.settings.with({ 'allow-http': 'false' });
  if (tryOr(() => requireBaseUrl(settings), undefined)) return finding;
  const secure = setting('set', 'base-url', `https://${response.url.host}`);
  const risk = 'plain http sends the password and the token unencrypted';
  return warning(`${finding}; ${risk}`, secure);
}

function isRefusal({ status }: ServiceResponse): boolean {
  return status === 401 || status === 403;
}

const MAX_CLOCK_SKEW = 5 * 60_000;

export function clockResult({ response }: Diagnosis): CheckResult {
  if (!response) return UNCONNECTED;
  const skew = clockSkew(response);
  if (skew === undefined) return notChecked('the service sent no valid date');
  if (Math.abs(skew) <= MAX_CLOCK_SKEW) return 'agrees with the service';
  const finding = `${describeDuration(Math.abs(skew))} ${skew > 0 ? 'ahead of' : 'behind'} the service`;
  return warning(finding, 'set the clock of this machine, on Linux: sudo timedatectl set-ntp true');
}

/**
 * Requests a token, since a valid one says nothing about the password. Returns why the login
 * failed.
 */
async function logIn(context: Context): Promise<ImgctlError | undefined> {
  const { settings, io } = context;
  try {
    const { client, tokens } = await context.openSession(settings.with({ retries: '0' }));
    const passwordSource = tokens && unattendedPassword(settings, io);
    if (passwordSource) await tokens.login({ passwordSource });
    else await client.serviceRoot();
    return undefined;
  } catch (error) {
    return asImgctlError(error);
  }
}

export function tokenResult(diagnosis: Diagnosis): CheckResult {
  const { context, cached, limit, response, loginError } = diagnosis;
  if (!response) return UNCONNECTED;
  if (loginError) return loginError;
  const { io, settings } = context;
  const fixed = givenToken(io);
  const mayLogIn = !fixed && settings.account.username !== '';
  const source = mayLogIn ? unattendedPassword(settings, io) : undefined;
  const next = source && `the next command logs in with the password from ${source.origin}`;
  const state = tokenState(cached, io.now());
  if (!fixed && state !== 'valid') {
    if (!next) return noValidToken(state);
    const stateText = state === 'none' ? 'no token yet' : state;
    if (limit?.remaining === 0) {
      const { message, facts } = limitReached(limit, io.now());
      return { state: 'warning', finding: `${stateText}; ${message}`, hint: facts };
    }
    const finding = `${stateText}; ${next}`;
    return notChecked(finding, hint`check it with: ${imgctl('doctor', '--login')}`);
  }
  const facts = tokenOfEnvironment(io)?.factsIfRejected ?? REFUSED;
  if (!isRefusal(response)) {
    const origin = fixed ? 'from IMGCTL_TOKEN' : `valid until ${utcTime(cached?.expiresAt ?? 0)}`;
    return `${origin}, accepted by the service`;
  }
  const refusal = statusError(response);
  if (refusal.code === 'not-permitted') return refusal;
  if (next) return warning(`${refusal.message}; ${next}`, facts);
  return refusal.with({ code: 'token-refused', facts });
}

/**
 * Names the source of the password, and reads it if that is asked for. Nothing if the login failed,
 * or there is none and nobody asked for it.
 */
export async function passwordResult({
  context,
  options,
  loginError,
}: Diagnosis): Promise<CheckResults> {
  const { io, settings, console } = context;
  const isUnused = givenToken(io) !== undefined;
  const source = isUnused ? undefined : unattendedPassword(settings, io);
  if (source === undefined) {
    const why = isUnused ? 'IMGCTL_TOKEN is used instead' : 'none is set; a login prompts for it';
    return options.checkPassword ? notChecked(why) : [];
  }
  const { origin } = source;
  if (options.login && !loginError) return `${origin}, accepted by the service`;
  const check = hint`check it with: ${imgctl('doctor', '--check-password')}`;
  if (!options.checkPassword) return options.login ? [] : notChecked(origin, check);
  console.redaction.add(await source.read(), settings.account.username);
  return `${origin} gives a password`;
}
