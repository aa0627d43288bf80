// The service: where it is, the way there, and what it says of the login.

import { tokenSecrets } from '../../api/auth.ts';
import type { Context } from '../../context.ts';
import { valueOr, valueOrError } from '../../errors.ts';
import { chooseProxy, proxySecrets } from '../../http/proxy-env.ts';
import { baseUrlText, isLoopback } from '../../http/url.ts';
import { readCertificates, requireBaseUrl } from '../../session/session.ts';
import type { Settings } from '../../session/settings.ts';
import { type Account, TokenCache } from '../../session/token-cache.ts';
import { type Finding, failed, notChecked, ok, warning } from './finding.ts';
import { findToken, limitFinding, passwordFinding, type TokenVerdict } from './login.ts';
import { NETWORK_CHECKS, networkFindings, proxyFinding, tokenVerdict } from './network.ts';
import { probe } from './probe.ts';

const FALLBACK_TIMEOUT = 30_000;
const LARGEST_ANSWER = 2 ** 20;

/** Everything that depends on the base URL; sends one GET /v2 where settings let it. */
export async function checkService(
  context: Context,
  settings: Settings,
  isConfigBroken: boolean,
): Promise<Finding[]> {
  const url = valueOrError(() => requireBaseUrl(settings));
  if ('value' in url) {
    return [baseUrlFinding(url.value, settings), ...(await checkAt(url.value, context, settings))];
  }
  const dependent = ['proxy', ...NETWORK_CHECKS, 'token', 'token requests'];
  // One that the broken file may well have; a login would not be able to keep another.
  const isUnread = isConfigBroken && valueOr(() => settings.text('base-url'), '') === undefined;
  return [
    isUnread ? notChecked('base URL', 'configuration failed') : failed('base URL', url.error),
    ...dependent.map((check) => notChecked(check, 'base URL failed')),
    passwordFinding(settings, accountOf(settings, ''), context.io),
  ];
}

function accountOf(settings: Settings, baseUrl: string): Account {
  const username = valueOr(() => settings.text('username'), undefined) ?? '';
  return { profile: settings.profile, baseUrl, username };
}

function baseUrlFinding(baseUrl: URL, { profileFlag }: Settings): Finding {
  const text = baseUrlText(baseUrl);
  if (baseUrl.protocol === 'https:' || isLoopback(baseUrl.hostname)) return ok('base URL', text);
  const finding = `${text}: plain http sends the password and the token unprotected`;
  const remedy = `imgctl config set base-url https://${baseUrl.host}${profileFlag}`;
  return warning('base URL', finding, remedy);
}

async function checkAt(baseUrl: URL, context: Context, settings: Settings): Promise<Finding[]> {
  const { io, paths } = context;
  const account = accountOf(settings, baseUrlText(baseUrl));
  const broken: Finding[] = [];
  const cache = new TokenCache(paths.config, account, io.system, (message) =>
    broken.push(warning('token', message, settings.loginCommand)),
  );
  const token = findToken(settings, account, cache, io);
  const login = (verdict: TokenVerdict) => [
    token.finding(verdict),
    ...broken,
    passwordFinding(settings, account, io),
    limitFinding(cache, io),
  ];
  const choice = valueOrError(() => chooseProxy(baseUrl, io.env));
  const ca = valueOrError(() => readCertificates(settings, io));
  const proxyRow = 'error' in choice ? failed('proxy', choice.error) : proxyFinding(choice.value);
  if ('error' in choice || 'error' in ca) {
    return [
      proxyRow,
      ...('error' in ca ? [failed('ca-file', ca.error)] : []),
      ...NETWORK_CHECKS.map((check) => notChecked(check, 'another setting is wrong')),
      ...login('unknown'),
    ];
  }
  const { proxy } = choice.value;
  const looked = await ask(context, settings, { baseUrl, proxy, ca: ca.value, token: token.token });
  const way = {
    baseUrl,
    proxy,
    caFile: settings.text('ca-file'),
    withToken: token.token !== undefined,
  };
  return [proxyRow, ...networkFindings(looked, way, io), ...login(tokenVerdict(looked))];
}

interface Question {
  readonly baseUrl: URL;
  readonly proxy: URL | undefined;
  readonly ca: string | undefined;
  readonly token: string | undefined;
}

async function ask(context: Context, settings: Settings, question: Question) {
  const { console, io, userAgent } = context;
  const { baseUrl, proxy, token } = question;
  const secrets = [
    ...(token === undefined ? [] : tokenSecrets(token)),
    ...(proxy === undefined ? [] : proxySecrets(proxy)),
  ];
  for (const secret of secrets) console.redaction.add(secret);
  const progress = console.startProgress({ lines: false });
  progress.update(`asking ${baseUrl.host}`);
  const looked = await probe({
    ...question,
    userAgent,
    authScheme: valueOr(() => settings.text('auth-scheme'), '') === 'basic' ? 'basic' : 'bearer',
    timeout: valueOr(() => settings.duration('timeout'), FALLBACK_TIMEOUT),
    maxBytes: LARGEST_ANSWER,
    signal: io.signal,
    now: io.now,
    onEvent: context.onEvent,
  });
  await progress.stop();
  return looked;
}
