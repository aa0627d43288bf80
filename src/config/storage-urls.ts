// Parses the URLs of the token store and of the upload storage.

import { ImgctlError, tryOr } from '../errors.ts';
import { maskUrl, withoutBrackets } from '../http/url.ts';
import { builtin } from '../io.ts';
import { isDigits } from '../words.ts';

export type RedisAddress = NonNullable<ReturnType<typeof parseRedisAddress>>;

/** Returns undefined for `file`. @throws ImgctlError usage; the message never shows a password */
export function parseRedisAddress(given: string) {
  const text = given.trim();
  if (text === 'file') return undefined;
  if (!URL.canParse(text)) throw invalidRedisUrl(text);
  const url = new URL(text);
  const database = url.pathname.slice(1) || '0';
  const username = tryOr(() => decodeURIComponent(url.username), undefined);
  const isRedis = ['redis:', 'rediss:'].includes(url.protocol) && url.hostname !== '';
  const hasMore = url.search !== '' || url.hash !== '';
  const isNumber = isDigits(database) && database.length <= 4;
  if (!isRedis || hasMore || !isNumber || username === undefined) {
    throw invalidRedisUrl(text);
  }
  if (url.password !== '') {
    throw new ImgctlError('usage', 'token-store must not contain a password', {
      facts:
        'remove it from the URL and set IMGCTL_TOKEN_STORE_PASSWORD or token-store-password-command',
    });
  }
  return {
    tls: url.protocol === 'rediss:',
    host: withoutBrackets(url.hostname.toLowerCase()),
    port: Number(url.port || 6379),
    username: username || undefined,
    database: Number(database),
    /** The URL, for messages; it holds no password. */
    text,
  };
}

function invalidRedisUrl(text: string): ImgctlError {
  const advice = 'use file, or a URL such as rediss://imgctl@redis.example.com:6379/0';
  return invalid('token-store', maskUrl(text), advice);
}

export type UploadTarget =
  /** `url` has the scheme http or https and no slash at its end. */
  | { readonly kind: 's3' | 'dav'; readonly url: URL }
  /** A plain path may be relative to the working directory. */
  | { readonly kind: 'file'; readonly path: string };

const EXAMPLES =
  'use a URL such as dav+https://host/path or s3+https://host/bucket/prefix, or a folder such as /mnt/uploads';

/** True for a path; C: is a drive of Windows, and //alice:secret@host a URL without its scheme. */
function isPlainPath(text: string): boolean {
  const isUrl = /^(?:[a-z][a-z0-9+.-]+:|\/\/[^/]*@)/i.test(text);
  return text !== '' && text !== '/' && !isUrl;
}

/** Returns the URL of a folder. @throws ImgctlError usage: the root folder */
export function storedFolder(target: UploadTarget, _name: string, cwd: string): string | undefined {
  if (target.kind !== 'file') return undefined;
  const folder = builtin('node:path').resolve(cwd, target.path);
  const { href } = builtin('node:url').pathToFileURL(folder);
  // The working directory may be one that no URL can be of, such as /.
  parseUploadUrl(href);
  return href;
}

/** @throws ImgctlError usage: another scheme, credentials, query or fragment, no bucket */
export function parseUploadUrl(given: string): UploadTarget {
  const text = given.trim();
  // The name of a folder may end with a blank.
  if (isPlainPath(text)) return { kind: 'file', path: given.trimStart() };
  const [, scheme = '', address = text] = /^(s3|dav)\+(https?:.*)$/is.exec(text) ?? [];
  if (!URL.canParse(address)) throw invalidUploadUrl(text);
  const url = new URL(address);
  if (url.username || url.password || url.search || url.hash) {
    const advice = 'remove the user name, password, query and fragment from the URL';
    throw invalid('upload URL', maskUrl(text), advice);
  }
  // A URL has no relative paths: file:uploads would be /uploads.
  if (url.pathname !== '/' && url.host === '' && /^file:\//i.test(text)) {
    const path = tryOr(() => builtin('node:url').fileURLToPath(url), undefined);
    if (path !== undefined) return { kind: 'file', path };
  }
  url.pathname = url.pathname.replace(/\/+$/, '');
  const kind = scheme.toLowerCase();
  if (kind === 'dav' || (kind === 's3' && hasBucket(url))) return { kind, url };
  throw invalidUploadUrl(text);
}

function hasBucket({ pathname }: URL): boolean {
  return /^\/[^/]/.test(tryOr(() => decodeURIComponent(pathname), '/'));
}

function invalidUploadUrl(text: string): ImgctlError {
  const meant = meantUploadUrl(text);
  const advice = meant === undefined ? EXAMPLES : `did you mean ${meant}? Otherwise, ${EXAMPLES}`;
  return invalid('upload URL', maskUrl(text), advice);
}

/** URLs as other programs write them, and as imgctl does. None has a user name or password. */
const MEANT_URLS: readonly (readonly [RegExp, string])[] = [
  // s3://bucket/x
  [/^s3a?:\/\/([\w.-]+(?:\/[\w./-]*)?)$/i, 's3+https://s3.amazonaws.com/$1'],
  // https://bucket.s3.eu-west-1.amazonaws.com/x
  [/^https:\/\/([\w.-]+)\.(s3[\w.-]*\.amazonaws\.com)((?:\/[^@?#]*)?)$/i, 's3+https://$2/$1$3'],
  // https://s3.eu-west-1.amazonaws.com/bucket/x
  [/^(https:\/\/s3[\w.-]*\.amazonaws\.com\/[^@?#]*)$/i, 's3+$1'],
  [/^(https?:[^@?#]*)$/i, 'dav+$1'],
  // davs://host/x, webdav://host/x
  [/^(?:web)?davs:([^@?#]*)$/i, 'dav+https:$1'],
  [/^(?:web)?dav:([^@?#]*)$/i, 'dav+http:$1'],
];

function meantUploadUrl(text: string): string | undefined {
  const [written, meant = ''] = MEANT_URLS.find(([pattern]) => pattern.test(text)) ?? [];
  return written && text.replace(written, meant);
}

function invalid(what: string, text: string, advice: string): ImgctlError {
  return new ImgctlError('usage', `invalid ${what}: ${text}`, { facts: advice });
}
