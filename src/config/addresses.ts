// The addresses and certificates that settings name, as commands may use them.

import fs from 'node:fs';
import path from 'node:path';
import { errorReason, ImgctlError, permissionAdvice, tryOr } from '../errors.ts';
import { type Facts, hint, imgctl, setting } from '../facts.ts';
import { MAX_FILE_SIZE } from '../files/atomic-file.ts';
import { isLoopback, refusePlainHttp } from '../http/url.ts';
import type { Io } from '../io.ts';
import { nearest } from '../spelling.ts';
import { quoted } from '../words.ts';
import type { Settings } from './settings.ts';
import type { RedisAddress, UploadTarget } from './storage-urls.ts';
import { certificateFlaw } from './values.ts';

/** @throws ImgctlError config: no base-url, or invalid, or plain http beyond loopback */
export function requireBaseUrl(settings: Settings): URL {
  const url = settings.get('base-url');
  if (url === undefined) throw missingAddress(settings);
  if (!settings.get('allow-http')) refusePlainHttp(url);
  return url;
}

function missingAddress({ config, profile, isUnknown, otherProfile }: Settings): ImgctlError {
  const error = (message: string, facts: Facts) => new ImgctlError('config', message, { facts });
  if (config.isHomeless) {
    const facts = hint`${{ kind: 'no-home' }}; without settings, set IMGCTL_BASE_URL`;
    return error('no service address is set, because HOME is not set', facts);
  }
  if (isUnknown) {
    const meant = nearest(profile, [...config.profiles.keys()]);
    const instead = meant ? `did you mean ${meant}? Otherwise, ` : '';
    const facts = hint`${instead}create it with: ${imgctl('login')}`;
    return error(`unknown profile ${quoted(profile)}`, facts);
  }
  const facts = otherProfile
    ? hint`use another profile: ${imgctl('profile', 'use', otherProfile)}, or run: ${imgctl('login')}`
    : hint`run: ${imgctl('login')}, or to try without an account: ${imgctl('demo')}`;
  return error('no service address is set', facts);
}

const ALLOW_HTTP = setting('set', 'allow-http', 'true');

/** Returns undefined for `file`. @throws ImgctlError config: plain redis beyond loopback */
export function requireRedisAddress(settings: Settings): RedisAddress | undefined {
  const address = settings.get('token-store');
  if (address === undefined || address.tls || settings.get('allow-http')) return address;
  const { host, text } = address;
  if (isLoopback(host)) return address;
  const secure = `rediss${text.slice('redis'.length)}`;
  const facts = hint`use ${secure}, or allow it: ${ALLOW_HTTP}`;
  throw new ImgctlError('config', `plain redis:// would expose tokens sent to ${host}`, { facts });
}

/** @throws ImgctlError config: no upload-url, or invalid, or plain http beyond loopback */
export function requireUploadTarget(settings: Settings): UploadTarget {
  const target = settings.get('upload-url');
  if (target === undefined) {
    const message = 'no upload storage is set';
    throw new ImgctlError('config', message, { facts: { kind: 'storage-needed' } });
  }
  if (target.kind !== 'file' && !settings.get('allow-http')) {
    refusePlainHttp(target.url, `${target.kind}+`);
  }
  return target;
}

/**
 * Returns the certificates of ca-file, and of NODE_EXTRA_CA_CERTS, which Node ignores beside them.
 * @throws ImgctlError config: unreadable, or without a certificate
 */
export function readCertificates(
  settings: Settings,
  io: Io,
  key: 'ca-file' | 'upload-ca-file' = 'ca-file',
): string | undefined {
  const value = settings.get(key);
  if (value === undefined) return undefined;
  try {
    const certificates = readPem(path.resolve(io.cwd, value));
    const flaw = certificateFlaw(certificates);
    if (flaw !== undefined) throw new Error(flaw);
    const extra = io.env.NODE_EXTRA_CA_CERTS ?? '';
    return `${certificates}\n${tryOr(() => readPem(extra), '')}`;
  } catch (cause) {
    const message = `cannot read the ${key} ${value}: ${errorReason(cause)}`;
    const another = hint`use another file: ${setting('set', key, '/path/to/ca.pem')}, or none: ${setting('unset', key)}`;
    throw new ImgctlError('config', message, {
      facts: permissionAdvice(cause, value) ?? another,
      cause,
    });
  }
}

/** Reading a pipe might never end. */
function readPem(file: string): string {
  const stat = fs.statSync(file);
  if (!stat.isFile()) throw new Error('it is not a regular file');
  if (stat.size > MAX_FILE_SIZE) throw new Error('it is too large');
  return fs.readFileSync(file, 'utf8');
}
