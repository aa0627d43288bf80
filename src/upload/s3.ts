// An S3 storage: multipart uploads, which become visible as a whole when they are completed.

import { createHash } from 'node:crypto';
import { AwsV4Signer } from 'aws4fetch';
import { type ErrorCode, ImgctlError } from '../errors.ts';
import { TransportError } from '../http/errors.ts';
import type { HttpResponse } from '../http/message.ts';
import { isSuccess } from '../http/retry.ts';
import { findAll, textOf, type XmlElement } from '../ovf/xml.ts';
import {
  bodyOf,
  createRequests,
  endlessList,
  readPages,
  type StorageRequest,
  statusError,
  xmlOf,
} from './requests.ts';
import type { Source } from './source.ts';
import {
  arrivedWrong,
  conflict,
  isHidden,
  mayContinue,
  nameTooLong,
  type Storage,
  type StorageOptions,
  storageFull,
  type Target,
} from './storage.ts';

const MIB = 2 ** 20;
const MAX_PARTS = 10_000;
/** Bytes. */
const MAX_KEY = 1_024;
const MAX_OBJECTS = 1_000_000;
/** Milliseconds. */
const SETTLING = 2_000;
/** Unfinished uploads of a file that are looked at, the last ones. */
const MAX_UPLOADS = 20;

interface S3Request extends Omit<StorageRequest, 'url'> {
  /** Of the bucket without it. */
  readonly name?: string;
  readonly query?: Readonly<Record<string, string>>;
}

interface StoredObject {
  readonly size: number;
  readonly tag: string;
  /** The ETag is no MD5, as with keys of the storage's own. */
  readonly isOpaque: boolean;
}

interface Upload {
  readonly id: string;
  /** The parts that the storage has, their MD5 by number. */
  readonly parts: ReadonlyMap<number, string>;
}

/** @throws ImgctlError as `Storage`, after a look at the bucket */
export async function openS3(
  { url: target, credentials }: Extract<Target, { kind: 's3' }>,
  options: StorageOptions,
): Promise<Storage> {
  const { clock, parallel } = options;
  const [bucket = '', ...folders] = target.pathname.slice(1).split('/').map(decodeURIComponent);
  const prefix = folders.map((folder) => `${folder}/`).join('');
  const address = `bucket ${bucket} at ${target.host}`;
  const { accessKey, secret, region } = credentials;
  const requests = createRequests(target, options, async ({ method, url, headers = {} }) => {
    const datetime = new Date(clock.now()).toISOString().replace(/[:-]|\.\d{3}/g, '');
    const signer = new AwsV4Signer({
      ...{ method, url: url.href, headers: { ...headers }, region, datetime, service: 's3' },
      accessKeyId: accessKey,
      secretAccessKey: secret,
    });
    return Object.fromEntries((await signer.sign()).headers);
  });

  const send = ({ name, query, ...request }: S3Request): Promise<HttpResponse> => {
    const url = new URL(target.origin);
    const key = name === undefined ? [] : `${prefix}${name}`.split('/');
    url.pathname = `/${[bucket, ...key].map(encode).join('/')}`;
    const parameters = Object.entries(query ?? {});
    url.search = parameters.map((pair) => pair.map(encode).join('=')).join('&');
    return requests.send({ ...request, url });
  };

  /** Returns the XML of a success. @throws ImgctlError, also for an error with status 200 */
  const rootOf = (response: HttpResponse): XmlElement => {
    const root = xmlOf(response);
    // A request that takes long has its status before its error.
    if (!isSuccess(response) || root?.name === 'Error') throw s3Error(response);
    if (root) return root;
    throw new ImgctlError('bad-answer', `${target.host} did not answer as S3`, { hint: URL_HINT });
  };

  const ask = async (request: S3Request) => rootOf(await send(request));

  const statOf = async (name: string): Promise<StoredObject | undefined> => {
    const response = await send({ method: 'HEAD', name });
    if (response.status === 404) return undefined;
    if (!isSuccess(response)) throw s3Error(response);
    const tag = plainTag(response.headers.etag);
    const isOpaque = isEncrypted(response) || !/^[0-9a-f]{32}(-\d+)?$/.test(tag);
    return { size: Number(response.headers['content-length']), tag, isOpaque };
  };

  /** Returns the ids of the unfinished uploads of a file. */
  const findUploads = async (name: string): Promise<string[]> => {
    const key = `${prefix}${name}`;
    const ids: string[] = [];
    await readPages(target, async (marker) => {
      const query = { uploads: '', prefix: key, ...(marker ? JSON.parse(marker) : {}) };
      const response = await send({ method: 'GET', query });
      // Without them nothing is continued.
      if ([403, 405, 501].includes(response.status)) return undefined;
      const root = rootOf(response);
      for (const upload of findAll(root, 'Upload'))
        if (textOf(upload, 'Key') === key) ids.push(textOf(upload, 'UploadId') ?? '');
      const next = {
        'key-marker': textOf(root, 'NextKeyMarker') ?? '',
        'upload-id-marker': textOf(root, 'NextUploadIdMarker') ?? '',
      };
      return nextPage(root, () => JSON.stringify(next));
    });
    return ids.filter((id) => id !== '').slice(-MAX_UPLOADS);
  };

  /** Returns the parts of an upload if each is a part of the source: another machine may be writing that upload. */
  const partsOf = async (
    name: string,
    uploadId: string,
    source: Source,
    partSize: number,
  ): Promise<Map<number, string> | undefined> => {
    const parts = new Map<number, string>();
    await readPages(target, async (marker) => {
      const query = { uploadId, 'part-number-marker': marker ?? '0' };
      const response = await send({ method: 'GET', name, query });
      // It was completed or removed meanwhile, or belongs to another user.
      if (response.status === 404 || response.status === 403) return undefined;
      const root = rootOf(response);
      for (const part of findAll(root, 'Part'))
        parts.set(Number(textOf(part, 'PartNumber')), plainTag(textOf(part, 'ETag')));
      if (parts.size > MAX_PARTS) throw endlessList(target);
      return nextPage(root, () => textOf(root, 'NextPartNumberMarker') ?? '');
    });
    if (parts.size === 0) return undefined;
    for (const [number, tag] of parts) {
      const start = (number - 1) * partSize;
      const end = Math.min(start + partSize, source.size);
      if ((await md5Of(source, start, end)) !== tag) return undefined;
    }
    return parts;
  };

  const startUpload = async (name: string): Promise<Upload> => {
    const root = await ask({ method: 'POST', name, query: { uploads: '' } });
    const id = textOf(root, 'UploadId');
    if (id) return { id, parts: new Map() };
    throw new ImgctlError('bad-answer', 'the storage started an upload without an id', {
      hint: 'ask the administrators of the storage',
    });
  };

  const abort = async (name: string, uploadId: string): Promise<void> => {
    const request = { method: 'DELETE', name, query: { uploadId }, repeatable: true };
    const response = await send(request);
    if (!isSuccess(response) && response.status !== 404) throw s3Error(response);
  };

  /** Sends the parts that are missing, and returns the ETags of all parts and that of the whole, if it is an MD5. */
  const sendParts = async (
    name: string,
    { id: uploadId, parts }: Upload,
    source: Source,
    partSize: number,
    onProgress: (bytes: number) => void,
  ) => {
    const { size } = source;
    const sizeOf = (number: number) => Math.min(partSize, size - (number - 1) * partSize);
    const tags: string[] = [];
    const md5s: string[] = [];
    const sent = new Map([...parts.keys()].map((number) => [number, sizeOf(number)]));
    let isOpaque = false;
    let total = [...sent.values()].reduce((sum, bytes) => sum + bytes, 0);
    const report = (number: number, bytes: number) => {
      total += bytes - (sent.get(number) ?? 0);
      sent.set(number, bytes);
      onProgress(total);
    };
    const sendPart = async (number: number, md5: string): Promise<void> => {
      const start = (number - 1) * partSize;
      const length = sizeOf(number);
      const chunks = async function* () {
        let position = 0;
        for await (const chunk of source.read(start, start + length)) {
          yield chunk;
          position += chunk.length;
          report(number, position);
        }
      };
      const response = await send({
        method: 'PUT',
        name,
        query: { partNumber: `${number}`, uploadId },
        headers: { 'content-md5': Buffer.from(md5, 'hex').toString('base64') },
        body: { length, chunks },
        repeatable: true,
      });
      if (codeOf(response) === 'NoSuchUpload') throw uploadGone(name);
      if (!isSuccess(response)) throw s3Error(response);
      const tag = plainTag(response.headers.etag);
      if (tag !== md5 && !isEncrypted(response))
        throw arrivedWrong(name, `part ${number} has the wrong ETag`);
      isOpaque ||= tag !== md5;
      tags[number - 1] = tag;
    };

    onProgress(total);
    const sending = new Set<Promise<void>>();
    let failure: unknown;
    let md5 = createHash('md5');
    let position = 0;
    const endPart = async (): Promise<void> => {
      const number = md5s.push(md5.digest('hex'));
      md5 = createHash('md5');
      const digest = md5s[number - 1] ?? '';
      if (parts.get(number) === digest) {
        tags[number - 1] = digest;
        return;
      }
      if (sending.size >= parallel) await Promise.race(sending);
      if (failure) return;
      const part: Promise<void> = sendPart(number, digest)
        .catch((error: unknown) => {
          failure ??= error;
        })
        .finally(() => sending.delete(part));
      sending.add(part);
    };
    try {
      for await (const chunk of source.readAll()) {
        if (failure) break;
        md5.update(chunk);
        position += chunk.length;
        if (position % partSize === 0 || position === size) await endPart();
      }
      // S3 takes an empty object as one empty part.
      if (size === 0) await endPart();
    } finally {
      await Promise.all(sending);
    }
    if (failure) throw failure;
    return { tags, tag: isOpaque ? undefined : multipartTag(md5s) };
  };

  /** Completes the upload, which makes the object visible, and checks it. */
  const complete = async (
    name: string,
    { size }: Source,
    { id: uploadId, tags, tag }: { id: string; tags: readonly string[]; tag: string | undefined },
    replace: boolean,
  ): Promise<void> => {
    const parts = tags.map(
      (each, index) =>
        `<Part><PartNumber>${index + 1}</PartNumber><ETag>&quot;${each}&quot;</ETag></Part>`,
    );
    const body = bodyOf(
      `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${parts.join('')}</CompleteMultipartUpload>`,
    );
    const condition: Record<string, string> = replace ? {} : { 'if-none-match': '*' };
    const headers = { 'content-type': 'application/xml', ...condition };
    let ownTag: string | undefined;
    let failure: unknown;
    try {
      const root = await ask({ method: 'POST', name, query: { uploadId }, headers, body });
      ownTag = plainTag(textOf(root, 'ETag'));
      const others = (await findUploads(name).catch(() => [])).filter((id) => id !== uploadId);
      // What killed runs left, and other pushes, which are told.
      for (const other of others) await abort(name, other).catch(() => {});
      // If one of them was being completed, and the storage ignores If-None-Match, that shows below.
      if (others.length > 0) await clock.sleep(SETTLING, clock.signal);
    } catch (error) {
      if (!(error instanceof ImgctlError)) throw error;
      if (error.status === 412 || error.status === 409) throw conflict(name, address);
      const isGone = error.code === 'not-found';
      const isLost = error instanceof TransportError ? error.sent : error.code === 'server-error';
      if (!isGone && !isLost) throw error;
      failure = isGone ? uploadGone(name) : error;
    }
    const stored = await statOf(name);
    const isRight = stored?.size === size && (tag === undefined || stored.tag === tag);
    // If the response was lost, what is there says whether the upload was completed.
    if (failure && !(isRight && tag)) throw failure;
    if (isRight) return;
    if (!stored) throw arrivedWrong(name, 'it is missing');
    // It is surely ours if it has the ETag that the storage gave it when it was completed.
    const removal = { method: 'DELETE', name, repeatable: true };
    const isRemoved = stored.tag === ownTag && (await send(removal).then(isSuccess, () => false));
    const what = stored.size === size ? `its ETag is ${stored.tag}` : `its size is ${stored.size}`;
    throw arrivedWrong(name, `${what}${isRemoved ? '' : ', and it stays there'}`);
  };

  const storage: Storage = {
    address,
    async list() {
      const names: string[] = [];
      await readPages(target, async (marker) => {
        const next = marker === undefined ? {} : { 'continuation-token': marker };
        const query = { 'list-type': '2', delimiter: '/', prefix, ...next };
        const root = await ask({ method: 'GET', query });
        for (const object of findAll(root, 'Contents')) {
          // A copy, since a slice would keep the whole page in memory.
          const name = `${Buffer.from((textOf(object, 'Key') ?? '').slice(prefix.length))}`;
          if (name !== '' && !isHidden(name)) names.push(name);
        }
        if (names.length > MAX_OBJECTS) throw endlessList(target);
        return nextPage(root, () => textOf(root, 'NextContinuationToken') ?? '');
      });
      return names;
    },
    async compare(name, source) {
      const { size } = source;
      if (Buffer.byteLength(`${prefix}${name}`) > MAX_KEY) throw nameTooLong(name, address);
      const stored = await statOf(name);
      if (!stored) return { state: 'absent' };
      if (stored.size !== size) return { state: 'different' };
      if (stored.isOpaque) {
        return { state: 'same', note: 'only its size was compared: its ETag is no MD5' };
      }
      const partSize = partSizeFor(size, options.partSize);
      const [, count] = stored.tag.split('-');
      if (count !== undefined && Number(count) !== countParts(size, partSize)) {
        const note = 'the same file in parts of another size counts as different, see --part-size';
        return { state: 'different', note };
      }
      // Without a number it is the MD5 of the whole.
      const step = count === undefined ? Math.max(size, 1) : partSize;
      const md5s: string[] = [];
      for (let start = 0; start < Math.max(size, 1); start += step)
        md5s.push(await md5Of(source, start, Math.min(start + step, size)));
      const tag = count === undefined ? md5s[0] : multipartTag(md5s);
      return { state: tag === stored.tag ? 'same' : 'different' };
    },
    async put(name, source, onProgress) {
      const partSize = partSizeFor(source.size, options.partSize);
      let upload: Upload | undefined;
      for (const id of await findUploads(name)) {
        const parts = await partsOf(name, id, source, partSize);
        if (parts) {
          upload = { id, parts };
          break;
        }
      }
      upload ??= await startUpload(name);
      const { id } = upload;
      const discard = async (error: unknown) => {
        if (!mayContinue(error)) await abort(name, id);
      };
      try {
        const { tags, tag } = await sendParts(name, upload, source, partSize, onProgress);
        return {
          async finish(replace) {
            if (!replace && (await statOf(name))) throw conflict(name, address);
            await complete(name, source, { id, tags, tag }, replace);
          },
          discard,
        };
      } catch (error) {
        await discard(error).catch(() => {});
        throw error;
      }
    },
    // What killed runs left of a file is continued or removed when that file is sent.
    async sweep() {},
    close: requests.close,
  };

  try {
    await ask({ method: 'GET', query: { 'list-type': '2', 'max-keys': '1', prefix } });
    return storage;
  } catch (error) {
    await requests.close();
    throw error;
  }
}

/** The push that finishes first removes the other uploads of a file. */
function uploadGone(name: string): ImgctlError {
  return new ImgctlError('conflict', `another push removed the upload of ${name}`, {
    hint: 'run the command again',
  });
}

/** As signatures encode (RFC 3986). */
function encode(text: string): string {
  const code = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(text).replace(/[!'()*]/g, code);
}

/** Returns the marker of the next page, or undefined after the last. */
function nextPage(root: XmlElement, marker: () => string): string | undefined {
  return textOf(root, 'IsTruncated') === 'true' ? marker() : undefined;
}

/** Returns the size of a part, so that the file has at most 10,000. */
function partSizeFor(size: number, wanted: number): number {
  return Math.max(wanted, Math.ceil(size / MAX_PARTS / MIB) * MIB);
}

function countParts(size: number, partSize: number): number {
  return Math.max(1, Math.ceil(size / partSize));
}

/** Returns the ETag of an object of parts with these MD5s. */
function multipartTag(md5s: readonly string[]): string {
  const bytes = Buffer.from(md5s.join(''), 'hex');
  return `${createHash('md5').update(bytes).digest('hex')}-${md5s.length}`;
}

async function md5Of(source: Source, start: number, end: number): Promise<string> {
  const hash = createHash('md5');
  for await (const chunk of source.read(start, end)) hash.update(chunk);
  return hash.digest('hex');
}

function plainTag(etag: string | undefined): string {
  return (etag ?? '').replace(/^W\/|"/g, '').toLowerCase();
}

/** An ETag is no MD5 if the storage encrypts with keys of its own. */
function isEncrypted({ headers }: HttpResponse): boolean {
  const kind = headers['x-amz-server-side-encryption'] ?? '';
  return kind.includes('kms') || 'x-amz-server-side-encryption-customer-algorithm' in headers;
}

const URL_HINT = 'check the URL: imgctl config get upload-url';
const SETTINGS = 'check its settings: imgctl config list';
const CLOCK = 'set the clock, then run the command again';
const REGION = 'run: imgctl config set upload-region REGION';
const LIMIT = 'ask its administrators to raise the limit';

/** What some of S3's own codes mean, which say more than the status. */
const CODES: Readonly<Record<string, readonly [ErrorCode, string, string]>> = {
  NoSuchBucket: ['not-found', 'the bucket does not exist', URL_HINT],
  InvalidAccessKeyId: ['wrong-credentials', 'the storage does not know the access key', SETTINGS],
  SignatureDoesNotMatch: ['wrong-credentials', 'the storage refused the secret key', SETTINGS],
  RequestTimeTooSkewed: ['not-permitted', 'the clock of this machine is wrong', CLOCK],
  AuthorizationHeaderMalformed: ['config', 'the region is wrong', REGION],
  EntityTooLarge: ['failed', 'the storage does not take files of this size', LIMIT],
};

/** Returns S3's own code of an error, or an empty text. */
function codeOf(response: HttpResponse): string {
  const root = xmlOf(response);
  return root?.name === 'Error' ? (textOf(root, 'Code') ?? '') : '';
}

/** Returns the error of a response that is no success. */
function s3Error(response: HttpResponse): ImgctlError {
  const code = codeOf(response);
  const { status, url } = response;
  const known = Object.hasOwn(CODES, code) ? CODES[code] : undefined;
  if (known) {
    return new ImgctlError(known[0], `${known[1]} (${code})`, { hint: known[2], status });
  }
  if (/Quota|StorageFull|InsufficientStorage/i.test(code)) return storageFull(url.host, code);
  const root = code === '' ? undefined : xmlOf(response);
  const message = root ? (textOf(root, 'Message') ?? '') : '';
  const detail = [code, message].filter(Boolean).join(': ').slice(0, 200);
  // The status of an error that came with 200 says nothing.
  return statusError(status === 200 ? { ...response, status: 500 } : response, detail);
}
