// Checks the service: its base URL, the connection to it, and the login.

import { tokenSecrets } from '../../api/auth.ts';
import type { Context } from '../../context.ts';
import { valueOr, valueOrError } from '../../errors.ts';
import { chooseProxy, proxySecrets } from '../../http/proxy-env.ts';
import { baseUrlText, isLoopback } from '../../http/url.ts';
import { readCertificates, requireBaseUrl } from '../../session/session.ts';
import type { Settings } from '../../session/settings.ts';
import { TokenCache } from '../../session/token-cache.ts';
import type { Account } from '../../session/token-store.ts';
import { type Finding, failed, notChecked, ok, warning } from './finding.ts';
import { checkToken, limitFinding, passwordFinding, type TokenVerdict } from './login.ts';
import { NETWORK_CHECKS, networkFindings, probe, proxyFinding, tokenVerdict } from './network.ts';
import { storeFindings } from './stores.ts';

const FALLBACK_TIMEOUT = 30_000;
const MAX_BYTES = 2 ** 20;

/** Checks everything that depends on the base URL; sends one GET /v2 if the settings are valid. */
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
  // The unreadable file may hold a base URL, so a login would not help.
  const mayBeInFile = isConfigBroken && valueOr(() => settings.text('base-url'), '') === undefined;
  return [
    mayBeInFile ? notChecked('base URL', 'configuration failed') : failed('base URL', url.error),
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
  const finding = `${text}: plain http sends the password and the token unencrypted`;
  const remedy = `imgctl config set base-url https://${baseUrl.host}${profileFlag}`;
  return warning('base URL', finding, remedy);
}

async function checkAt(baseUrl: URL, context: Context, settings: Settings): Promise<Finding[]> {
  const { io, paths } = context;
  const account = accountOf(settings, baseUrlText(baseUrl));
  const cacheWarnings: Finding[] = [];
  const cache = new TokenCache(paths.config, account, io.system, (message, hint) =>
    cacheWarnings.push(warning('token', message, hint ?? settings.loginCommand)),
  );
  const store = await storeFindings(context, settings);
  const token = checkToken(settings, account, cache, io);
  const login = (verdict: TokenVerdict) => [
    token.finding(verdict),
    ...cacheWarnings,
    ...store,
    passwordFinding(settings, account, io),
    limitFinding(cache, io),
  ];
  const choice = valueOrError(() => chooseProxy(baseUrl, io.env));
  const ca = valueOrError(() => readCertificates(settings, io));
  const proxyResult =
    'error' in choice ? failed('proxy', choice.error) : proxyFinding(choice.value);
  if ('error' in choice || 'error' in ca) {
    return [
      proxyResult,
      ...('error' in ca ? [failed('ca-file', ca.error)] : []),
      ...NETWORK_CHECKS.map((check) =>
        notChecked(check, `${'error' in choice ? 'proxy' : 'ca-file'} failed`),
      ),
      ...login('unknown'),
    ];
  }
  const { proxy } = choice.value;
  const target = { baseUrl, proxy, ca: ca.value, token: token.token };
  const result = await sendProbe(context, settings, target);
  const route = {
    baseUrl,
    proxy: proxy?.url,
    caFile: settings.text('ca-file'),
    sentToken: token.token !== undefined,
  };
  return [proxyResult, ...networkFindings(result, route, io), ...login(tokenVerdict(result))];
}

type Target = Pick<Parameters<typeof probe>[0], 'baseUrl' | 'proxy' | 'ca' | 'token'>;

async function sendProbe(context: Context, settings: Settings, target: Target) {
  const { console, io, userAgent } = context;
  const { baseUrl, proxy, token } = target;
  const secrets = [
    ...(token === undefined ? [] : tokenSecrets(token)),
    ...(proxy === undefined ? [] : proxySecrets(proxy)),
  ];
  for (const secret of secrets) console.redaction.add(secret);
  const progress = console.startProgress({ lines: false });
  progress.update(`connecting to ${baseUrl.host}`);
  const result = await probe({
    ...target,
    userAgent,
    authScheme: valueOr(() => settings.text('auth-scheme'), '') === 'basic' ? 'basic' : 'bearer',
    timeout: valueOr(() => settings.duration('timeout'), FALLBACK_TIMEOUT),
    maxBytes: MAX_BYTES,
    signal: io.signal,
    now: io.now,
    onEvent: context.onEvent,
  });
  await progress.stop();
  return result;
}
