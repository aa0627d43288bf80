// The settings of the storage that push uploads to, and the forms of its URL.

import { ImgctlError } from '../errors.ts';
import { hideUserInfo, isLoopback } from '../http/url.ts';
import { builtin } from '../io.ts';
import { invalid, nonEmpty, userName } from './setting-values.ts';

export const UPLOAD_SETTINGS = {
  'upload-url': {
    summary: 'storage that push uploads to',
    parse(text: string): string {
      parseUploadUrl(text, true);
      return text;
    },
    shown: hideUserInfo,
  },
  'upload-username': {
    summary: 'user name for a WebDAV storage',
    ...userName('upload-username'),
  },
  'upload-password-command': {
    summary: 'command that prints the WebDAV password',
    parse: nonEmpty('upload-password-command'),
  },
  'upload-access-key': {
    summary: 'access key id for an S3 storage',
    parse: nonEmpty('upload-access-key'),
  },
  'upload-secret-command': {
    summary: 'command that prints the S3 secret key',
    parse: nonEmpty('upload-secret-command'),
  },
  'upload-region': {
    summary: 'region of an S3 storage',
    fallback: 'us-east-1',
    parse(text: string): string {
      if (/^[\w-]{1,64}$/.test(text)) return text;
      throw invalid('upload-region', text, 'use a region such as us-east-1');
    },
  },
  'upload-ca-file': {
    summary: 'additional trusted certificates for the storage (PEM)',
    parse: nonEmpty('upload-ca-file'),
  },
} as const;

export type UploadTarget =
  /** `url` has the scheme http or https and no slash at its end. */
  | { readonly kind: 's3' | 'dav'; readonly url: URL }
  | { readonly kind: 'file'; readonly path: string };

const EXAMPLES =
  'use a URL such as dav+https://host/path, s3+https://host/bucket/prefix or file:///mnt/uploads';

/**
 * @param allowHttpHow the command that allows plain http, for the hint
 * @throws ImgctlError usage: another scheme, credentials, query or fragment, no bucket; config: plain http
 */
export function parseUploadUrl(
  text: string,
  allowHttp: boolean,
  allowHttpHow = 'imgctl config set allow-http true',
): UploadTarget {
  const shown = hideUserInfo(text);
  const [, scheme = '', rest = ''] = /^(?:(s3|dav)\+)?(?=https?:|file:)(.*)$/is.exec(text) ?? [];
  const url = URL.canParse(rest) ? new URL(rest) : undefined;
  if (!url) throw invalid('upload-url', shown, EXAMPLES);
  if (url.username !== '' || url.password !== '') {
    throw invalid('upload-url', shown, 'remove the user name and password from the URL');
  }
  if (url.search !== '' || url.hash !== '') {
    throw invalid('upload-url', shown, 'remove the query and fragment from the URL');
  }
  if (url.protocol === 'file:') {
    if (scheme !== '' || url.host !== '') throw invalid('upload-url', shown, EXAMPLES);
    return { kind: 'file', path: builtin('node:url').fileURLToPath(url) };
  }
  const kind = scheme.toLowerCase();
  if (kind !== 's3' && kind !== 'dav') {
    const hint = `say which protocol it speaks: dav+${shown} or s3+${shown}`;
    throw invalid('upload-url', shown, hint);
  }
  url.pathname = url.pathname.replace(/\/+$/, '');
  if (kind === 's3' && url.pathname === '/') {
    throw invalid('upload-url', shown, 'add the bucket, as in s3+https://host/bucket/prefix');
  }
  if (url.protocol === 'http:' && !allowHttp && !isLoopback(url.hostname)) {
    throw new ImgctlError('config', `plain http would expose credentials sent to ${url.host}`, {
      hint: `use ${kind}+https://${url.host}, or allow plain http: ${allowHttpHow}`,
    });
  }
  return { kind, url };
}
