// An S3 storage: multipart uploads, which become visible as a whole when they are completed.

import { AwsV4Signer } from 'aws4fetch';
import type { HttpResponse } from '../http/message.ts';
import { readBack } from './read-back.ts';
import { createRequests, type StorageRequest } from './requests.ts';
import {
  digestsOf,
  ENCODED,
  findStored,
  listItems,
  multipartTag,
  partSizeOf,
  removeObject,
  type S3,
  type S3Request,
} from './s3-bucket.ts';
import { DIGEST, regionError, requireS3Success, rootOf } from './s3-responses.ts';
import { put } from './s3-upload.ts';
import {
  type Comparison,
  isHidden,
  nameTooLong,
  type Storage,
  type StorageOptions,
} from './storage.ts';
import type { UploadSource } from './upload-file.ts';

/** Bytes. */
const MAX_KEY = 1_024;

interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly region: string;
}

async function compare(
  s3: S3,
  name: string,
  file: UploadSource,
  proved: string | undefined,
): Promise<Comparison> {
  if (Buffer.byteLength(`${s3.prefix}${name}`) > MAX_KEY) throw nameTooLong(name, s3.address);
  const stored = await findStored(s3, name);
  if (!stored) return { state: 'absent' };
  if (stored.size !== file.size) return { state: 'different' };
  const { text } = stored;
  if (text === proved) return { state: 'same', stored: { text, isProof: true } };
  const form = DIGEST.exec(stored.tag);
  if (form) {
    // Without a number, the ETag is the MD5 of the whole.
    const isWhole = form[1] === undefined;
    const parts: string[] = [];
    const partSize = isWhole ? file.size : partSizeOf(s3, file);
    for await (const part of digestsOf(file.read(), partSize)) parts.push(part);
    const tag = isWhole ? parts[0] : multipartTag(parts);
    if (stored.tag === tag) return { state: 'same', stored: { text, isProof: true } };
  }
  // The ETag may be no digest, or the parts may have another size.
  return readBack(file, stored, async (rules) =>
    requireS3Success(await s3.send({ name, ...rules })),
  );
}

/** As signatures encode (RFC 3986). */
function encode(text: string): string {
  const code = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(text).replace(/[!'()*]/g, code);
}

export function s3Storage(url: URL, credentials: S3Credentials, options: StorageOptions): Storage {
  const { clock, limit, parallel, partSize, onWarning } = options;
  const { host, origin, pathname } = url;
  const [bucket = '', ...folders] = pathname.slice(1).split('/').map(decodeURIComponent);
  const prefix = folders.map((folder) => `${folder}/`).join('');
  const authorize = async ({ method, url: { href }, headers }: StorageRequest) => {
    const datetime = new Date(clock.now()).toISOString().replace(/[:-]|\.\d{3}/g, '');
    const request = { method, url: href, headers: { ...headers }, datetime, service: 's3' };
    const signed = await new AwsV4Signer({ ...request, ...credentials }).sign();
    return Object.fromEntries(signed.headers);
  };
  const explain = (response: HttpResponse) => regionError(response, credentials.region);
  const requests = createRequests(url, options, authorize, explain);
  const send = ({ name, query = {}, ...request }: S3Request) => {
    const key = name === undefined ? [] : `${prefix}${name}`.split('/');
    const target = new URL(`/${[bucket, ...key].map(encode).join('/')}`, origin);
    const pairs = Object.entries(query).map((pair) => pair.map(encode).join('='));
    target.search = pairs.join('&');
    return requests.send({ method: 'GET', ...request, url: target });
  };
  const address = `bucket ${bucket} at ${host}`;
  const s3: S3 = {
    clock,
    limit,
    parallel,
    partSize,
    onWarning,
    send,
    host,
    address,
    prefix,
    found: { lacksConditions: false },
  };
  return {
    address,
    keepsParts: true,
    async check() {
      // A whole page: with fewer keys, s3rver makes a token for the next one, which it cannot on Node 17 and later.
      rootOf(await send({ query: { 'list-type': '2', prefix, ...ENCODED } }));
    },
    async list() {
      const names: string[] = [];
      const query = { 'list-type': '2', delimiter: '/', prefix, ...ENCODED };
      const markers = { 'continuation-token': 'NextContinuationToken' };
      for await (const textIn of listItems(s3, 'Contents', { query }, markers)) {
        // A copy, since a slice would keep the whole page in memory.
        const name = `${Buffer.from(textIn('Key').slice(prefix.length))}`;
        if (name !== '' && !isHidden(name)) names.push(name);
      }
      return names;
    },
    compare: (name, file, proved) => compare(s3, name, file, proved),
    look: async (name) => (await findStored(s3, name))?.text,
    put: (name, file, onProgress) => put(s3, name, file, onProgress),
    remove: async (name) => void requireS3Success(await removeObject(s3, name)),
    /** What killed runs left of a file is continued or removed when that file is sent. */
    async removeDeadParts() {},
    close: requests.close,
  };
}
