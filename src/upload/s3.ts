// An S3 storage: multipart uploads, which become visible as a whole when they are completed.

import { AwsV4Signer } from 'aws4fetch';
import { hasCode } from '../errors.ts';
import type { HttpResponse } from '../http/message.ts';
import { isHidden } from './part-names.ts';
import { readBack } from './read-back.ts';
import { createRequests, type StorageRequest } from './requests.ts';
import {
  ENCODED,
  findObject,
  listItems,
  removeObject,
  type S3,
  type S3Request,
  tagOf,
} from './s3-bucket.ts';
import { publishUpload } from './s3-publish.ts';
import { DIGEST, listOf, regionError, requireS3Success } from './s3-responses.ts';
import { abortUpload, openUpload, removeUploads, sendParts } from './s3-upload.ts';
import type { OnBytes, Storage, StorageOptions, StoredFile } from './storage.ts';
import { nameTooLong } from './storage-errors.ts';
import type { UploadSource } from './upload-file.ts';

const MAX_KEY_BYTES = 1_024;
/** Codes of errors after which parts are of no use to a later run, and the upload is removed. */
const DISCARD_CODES = ['invalid-package', 'storage-full', 'conflict', 'failed'] as const;

interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly region: string;
}

export function s3Storage(url: URL, credentials: S3Credentials, options: StorageOptions): Storage {
  const { host, origin, pathname } = url;
  const [bucket = '', ...folders] = pathname.slice(1).split('/').map(decodeURIComponent);
  const prefix = folders.map((folder) => `${folder}/`).join('');
  const sign = async ({ method, url: { href }, headers }: StorageRequest) => {
    const datetime = new Date(options.clock.now()).toISOString().replace(/[:-]|\.\d{3}/g, '');
    const request = { method, url: href, headers: { ...headers }, datetime, service: 's3' };
    const signed = await new AwsV4Signer({ ...request, ...credentials }).sign();
    return Object.fromEntries(signed.headers);
  };
  const explain = (response: HttpResponse) => regionError(response, credentials.region);
  const requests = createRequests(url, options, sign, explain);
  const send = ({ name, query = {}, ...request }: S3Request) => {
    const key = name === undefined ? [] : `${prefix}${name}`.split('/');
    const target = new URL(`/${[bucket, ...key].map(encode).join('/')}`, origin);
    const pairs = Object.entries(query).map((pair) => pair.map(encode).join('='));
    target.search = pairs.join('&');
    return requests.send({ method: 'GET', ...request, url: target });
  };
  const address = `bucket ${bucket} at ${host}`;
  const s3: S3 = { ...options, send, address, prefix, found: { lacksConditions: false } };
  return {
    address,
    async check() {
      // A whole page: s3rver fails on Node 17 and later if there is a next one.
      listOf(await send({ query: { 'list-type': '2', prefix, ...ENCODED } }));
    },
    async list() {
      const names: string[] = [];
      const query = { 'list-type': '2', delimiter: '/', prefix, ...ENCODED };
      for await (const { Key = '' } of listItems(s3, 'Contents', { query })) {
        // A copy, since a slice would keep the whole page in memory.
        const name = `${Buffer.from(Key.slice(prefix.length))}`;
        if (name !== '' && !isHidden(name)) names.push(name);
      }
      return names;
    },
    async look(name) {
      if (Buffer.byteLength(`${prefix}${name}`) > MAX_KEY_BYTES) throw nameTooLong(name, address);
      return findObject(s3, name);
    },
    compareContent: (name, file, stored) => compareContent(s3, name, file, stored),
    put: (name, file, onProgress) => uploadParts(s3, name, file, onProgress),
    async remove(name) {
      const response = await removeObject(s3, name);
      // Most storages answer 204 if there is none.
      if (response.status !== 404) requireS3Success(response);
      await removeUploads(s3, name);
    },
    /** What killed runs left of a file is continued or removed when that file is sent. */
    async removeDeadParts() {},
    close: requests.close,
  };
}

async function compareContent(s3: S3, name: string, file: UploadSource, stored: StoredFile) {
  const { tag } = stored;
  const isSame = DIGEST.test(tag) && tag === (await tagOf(s3, file, !tag.includes('-')));
  if (isSame) return { state: 'same', stored: { ...stored, isSettled: true } } as const;
  // The ETag may be no digest, or that of parts of another size.
  return readBack(file, stored, async (rules) =>
    requireS3Success(await s3.send({ name, ...rules })),
  );
}

/** Uploads the parts that are missing. After some errors they stay, for a later run. */
async function uploadParts(s3: S3, name: string, file: UploadSource, onProgress: OnBytes) {
  const upload = await openUpload(s3, name, file);
  const discard = async (error: unknown) => {
    if (hasCode(error, ...DISCARD_CODES)) await abortUpload(s3, name, upload.id);
  };
  try {
    const sent = await sendParts(upload, onProgress);
    return { publish: (replace: boolean) => publishUpload(sent, replace), discard };
  } catch (error) {
    await discard(error).catch(() => {});
    throw error;
  }
}

/** As signatures encode (RFC 3986). */
function encode(text: string): string {
  const code = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(text).replace(/[!'()*]/g, code);
}
