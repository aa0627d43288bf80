// Signs requests to an S3 storage, and says what its errors mean.

import { AwsV4Signer } from 'aws4fetch';
import { type ErrorCode, ImgctlError } from '../errors.ts';
import type { HttpResponse } from '../http/message.ts';
import { isSuccess } from '../http/retry.ts';
import { createRequests, type StorageRequest, statusError } from './requests.ts';
import { type StorageOptions, storageFull, type Target } from './storage.ts';
import { type Element, parseXml, textOf } from './xml.ts';

type S3Target = Extract<Target, { kind: 's3' }>;

interface S3Request extends Omit<StorageRequest, 'url'> {
  /** Of the bucket without it. */
  readonly name?: string;
  readonly query?: Readonly<Record<string, string>>;
}

export interface S3Requests {
  readonly bucket: string;
  /** Empty, or ends with a slash. */
  readonly prefix: string;
  /** Returns any response. */
  send(request: S3Request): Promise<HttpResponse>;
  /** Returns the XML and the headers of a success. @throws ImgctlError, also for an error with status 200 */
  ask(request: S3Request): Promise<{ root: Element; headers: HttpResponse['headers'] }>;
  close(): Promise<void>;
}

export function createS3Requests(
  { url: target, credentials }: S3Target,
  options: StorageOptions,
): S3Requests {
  const [bucket = '', ...folders] = target.pathname.slice(1).split('/').map(decodeURIComponent);
  const prefix = folders.map((folder) => `${folder}/`).join('');
  const { accessKey, secret, region } = credentials;
  const requests = createRequests(target, options, async ({ method, url, headers = {} }) => {
    const datetime = new Date(options.clock.now()).toISOString().replace(/[:-]|\.\d{3}/g, '');
    const signer = new AwsV4Signer({
      ...{ method, url: url.href, headers: { ...headers }, region, datetime, service: 's3' },
      accessKeyId: accessKey,
      secretAccessKey: secret,
    });
    return Object.fromEntries((await signer.sign()).headers);
  });
  const send = ({ name, query, ...request }: S3Request) => {
    const url = new URL(target.origin);
    const key = name === undefined ? [] : `${prefix}${name}`.split('/');
    url.pathname = `/${[bucket, ...key].map(encode).join('/')}`;
    const parameters = Object.entries(query ?? {});
    url.search = parameters.map((pair) => pair.map(encode).join('=')).join('&');
    return requests.send({ ...request, url });
  };
  return {
    bucket,
    prefix,
    send,
    async ask(request) {
      const response = await send(request);
      const root = parseXml(response.body);
      // A request that takes long has its status before its error.
      if (!isSuccess(response) || root?.name === 'Error') throw s3Error(response);
      if (root) return { root, headers: response.headers };
      throw new ImgctlError('bad-answer', `${target.host} did not answer as S3`, {
        hint: 'check the URL: imgctl config get upload-url',
      });
    },
    close: requests.close,
  };
}

/** As signatures encode (RFC 3986). */
function encode(text: string): string {
  const code = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(text).replace(/[!'()*]/g, code);
}

const SETTINGS = 'check its settings: imgctl config list';

/** What some of S3's own codes mean, which say more than the status. */
const CODES: ReadonlyMap<string, readonly [ErrorCode, string, string]> = new Map([
  [
    'NoSuchBucket',
    ['not-found', 'the bucket does not exist', 'check the URL: imgctl config get upload-url'],
  ],
  [
    'InvalidAccessKeyId',
    ['wrong-credentials', 'the storage does not know the access key', SETTINGS],
  ],
  ['SignatureDoesNotMatch', ['wrong-credentials', 'the storage refused the secret key', SETTINGS]],
  [
    'RequestTimeTooSkewed',
    [
      'not-permitted',
      'the clock of this machine is wrong',
      'set the clock, then run the command again',
    ],
  ],
  [
    'AuthorizationHeaderMalformed',
    ['config', 'the region is wrong', 'run: imgctl config set upload-region REGION'],
  ],
  [
    'EntityTooLarge',
    [
      'failed',
      'the storage does not take files of this size',
      'ask its administrators to raise the limit',
    ],
  ],
]);

/** Returns the error of a response that is no success. */
export function s3Error(response: HttpResponse): ImgctlError {
  const root = parseXml(response.body);
  const error = root?.name === 'Error' ? root : undefined;
  const code = textOf(error, 'Code') ?? '';
  const message = textOf(error, 'Message') ?? '';
  const { status, url } = response;
  const known = CODES.get(code);
  if (known) {
    return new ImgctlError(known[0], `${known[1]} (${code})`, { hint: known[2], status });
  }
  if (/Quota|StorageFull|InsufficientStorage/i.test(code)) return storageFull(url.host, code);
  const detail = [code, message].filter(Boolean).join(': ').slice(0, 200);
  // The status of an error that came with 200 says nothing.
  return statusError(status === 200 ? { ...response, status: 500 } : response, detail);
}
