// An S3 storage: multipart uploads, which become visible as a whole when they are completed.

import { AwsV4Signer } from 'aws4fetch';
import { hasCode, ImgctlError } from '../errors.ts';
import { TransportError } from '../http/errors.ts';
import type { HttpResponse } from '../http/message.ts';
import { isSuccess } from '../http/retry.ts';
import { findAll, textOf, type XmlElement } from '../ovf/xml.ts';
import { isSettled, readBack } from './read-back.ts';
import { createRequests, type StorageRequest, streamBody, textBody } from './requests.ts';
import { chunksOf, createBuffers, type Digests, digestsOf, multipartTag } from './s3-parts.ts';
import { isEncrypted, notS3, plainTag, requireS3Success, rootOf, s3Code } from './s3-responses.ts';
import {
  arrivedWrong,
  type Comparison,
  conflict,
  isHidden,
  nameTooLong,
  type OnBytes,
  type Storage,
  type StorageOptions,
} from './storage.ts';
import { samePlace, type UploadFile } from './upload-file.ts';

const MIB = 2 ** 20;
const MAX_PARTS = 10_000;
/** Bytes. */
const MAX_KEY = 1_024;
const MAX_LIST_PAGES = 1_000;
/** Maximum number of bytes of parts in memory. */
const MAX_BUFFERS = 64 * MIB;
const MAX_ITEMS = 1_000_000;
/** Milliseconds: joining the parts of a large object takes some storages minutes. */
const COMPLETION = 600_000;
/** Milliseconds in which an upload that was just removed may still complete. */
const SETTLING = 2_000;
/** Maximum number of unfinished uploads of a file to compare, the last ones. */
const MAX_UPLOADS = 20;

/** Codes of errors after which an upload is aborted: its parts would be of no use. */
const ABORT_CODES = ['invalid-package', 'storage-full', 'conflict', 'failed'] as const;

/** Without a checksum, some storages read the whole file again for one of their own. */
const WITH_CRC = { 'x-amz-checksum-algorithm': 'CRC32' };

type Query = Readonly<Record<string, string>>;

interface S3Request extends Partial<Omit<StorageRequest, 'url'>> {
  /** Of the bucket without it. */
  readonly name?: string;
  readonly query?: Query;
}

/** A bucket, or a folder in it. */
interface S3 extends Pick<StorageOptions, 'clock' | 'parallel' | 'partSize'> {
  readonly send: (request: S3Request) => Promise<HttpResponse>;
  readonly host: string;
  readonly address: string;
  /** Empty, or ends with a slash. */
  readonly prefix: string;
}

/** An unfinished upload. */
interface Upload {
  readonly s3: S3;
  readonly name: string;
  readonly id: string;
  readonly file: UploadFile;
  /** Bytes of each part but the last. */
  readonly partSize: number;
  /** Its parts have a CRC-32. */
  readonly hasCrc: boolean;
  /** The ETags of the parts that the storage has, by number from 1. */
  readonly tags: Map<number, string>;
}

async function compare(
  s3: S3,
  name: string,
  file: UploadFile,
  proved: string | undefined,
): Promise<Comparison> {
  if (Buffer.byteLength(`${s3.prefix}${name}`) > MAX_KEY) throw nameTooLong(name, s3.address);
  const stored = await findStored(s3, name);
  if (!stored) return { state: 'absent' };
  if (stored.size !== file.size) return { state: 'different' };
  if (proved !== undefined && stored.state === proved) return { state: 'same', stored: proved };
  // Without a number, the ETag is the MD5 of the whole.
  const [, count = '1'] = stored.tag.split('-');
  const bytes = file.read(0, file.size, samePlace());
  const parts: Digests[] = [];
  for await (const part of digestsOf(bytes, count === '1' ? file.size : partSizeOf(s3, file)))
    parts.push(part);
  if ([parts[0]?.md5, multipartTag(parts)].includes(stored.tag))
    return { state: 'same', stored: stored.state };
  // The ETag may be no digest, or the parts may have another size.
  return readBack(file, stored, async (headers) =>
    requireS3Success(await s3.send({ name, headers })),
  );
}

async function put(s3: S3, name: string, file: UploadFile, onProgress: OnBytes) {
  const upload = (await findUpload(s3, name, file)) ?? (await startUpload(s3, name, file));
  const discard = async (error: unknown) => {
    if (hasCode(error, ...ABORT_CODES)) await abort(s3, name, upload.id);
  };
  try {
    const parts = await sendParts(upload, onProgress);
    return { publish: (replace: boolean) => finishUpload(upload, parts, replace), discard };
  } catch (error) {
    await discard(error).catch(() => {});
    throw error;
  }
}

/** Returns what the storage says of a stored file. */
async function findStored(s3: S3, name: string) {
  const response = await s3.send({ method: 'HEAD', name });
  if (response.status === 404) return undefined;
  const { headers } = requireS3Success(response);
  const { etag = '', 'last-modified': modified = '', date } = headers;
  const tag = plainTag(etag);
  const size = Number(headers['content-length']);
  const state = tag === '' ? undefined : [tag, modified, size].join(' ');
  return { size, tag, state, isSettled: isSettled(etag, modified, date) };
}

/** Returns an upload whose parts are parts of the file: another machine may be writing the others. */
async function findUpload(s3: S3, name: string, file: UploadFile): Promise<Upload | undefined> {
  const markers = { 'part-number-marker': 'NextPartNumberMarker' };
  for (const id of await listUploads(s3, name)) {
    const tags = new Map<number, string>();
    let hasCrc = false;
    const request = { name, query: { uploadId: id, 'part-number-marker': '0' } };
    // It was completed or removed meanwhile, or belongs to another user.
    for await (const part of listItems(s3, 'Part', request, markers, [403, 404])) {
      tags.set(Number(textOf(part, 'PartNumber')), plainTag(textOf(part, 'ETag')));
      hasCrc ||= textOf(part, 'ChecksumCRC32') !== undefined;
    }
    const upload = { s3, name, id, file, partSize: partSizeOf(s3, file), hasCrc, tags };
    let isSame = tags.size > 0;
    for (const [number, tag] of tags) {
      if (!isSame) break;
      const { start, end } = rangeOf(upload, number);
      for await (const { md5 } of digestsOf(file.read(start, end, samePlace())))
        isSame = md5 === tag;
    }
    if (isSame) return upload;
  }
  return undefined;
}

/** Returns the ids of the unfinished uploads of a file. */
async function listUploads(s3: S3, name: string): Promise<string[]> {
  const key = `${s3.prefix}${name}`;
  const query = { uploads: '', prefix: key };
  const markers = { 'key-marker': 'NextKeyMarker', 'upload-id-marker': 'NextUploadIdMarker' };
  const ids: string[] = [];
  // Without permission to list them nothing is continued.
  for await (const upload of listItems(s3, 'Upload', { query }, markers, [403, 405, 501]))
    if (textOf(upload, 'Key') === key) ids.push(textOf(upload, 'UploadId') ?? '');
  return ids.filter((id) => id !== '').slice(-MAX_UPLOADS);
}

async function startUpload(s3: S3, name: string, file: UploadFile): Promise<Upload> {
  const request = { method: 'POST', name, query: { uploads: '' }, headers: WITH_CRC };
  const response = await s3.send(request);
  const id = textOf(rootOf(response), 'UploadId') || notS3(response);
  // A storage that does not confirm it may refuse the checksums.
  const hasCrc = response.headers['x-amz-checksum-algorithm'] === 'CRC32';
  return { s3, name, id, file, partSize: partSizeOf(s3, file), hasCrc, tags: new Map() };
}

async function abort(s3: S3, name: string, uploadId: string): Promise<void> {
  const response = await s3.send({ method: 'DELETE', name, query: { uploadId }, idempotent: true });
  if (response.status !== 404) requireS3Success(response);
}

/**
 * Reads the file for the digests of its parts, which it returns, and sends those that are missing: from the memory that
 * they were read into, unless they are too large, which are read again.
 */
async function sendParts(upload: Upload, onProgress: OnBytes): Promise<Digests[]> {
  const { s3, file, partSize, tags } = upload;
  const parts: Digests[] = [];
  const sending = new Set<Promise<void>>();
  let total = 0;
  const count = (bytes: number) => {
    total += bytes;
    onProgress(total);
  };
  for (const number of tags.keys()) total += rangeOf(upload, number).length;
  onProgress(total);
  const isSmall = partSize * s3.parallel <= MAX_BUFFERS;
  const buffers = isSmall
    ? createBuffers(partSize, file.size, s3.parallel, () => Promise.race(sending))
    : undefined;
  const place = buffers?.place ?? samePlace();
  try {
    for await (const digests of digestsOf(file.readAll(place), partSize)) {
      const number = parts.push(digests);
      const buffer = buffers?.take();
      if (tags.get(number) === digests.md5) {
        buffers?.release(buffer);
        continue;
      }
      if (sending.size >= s3.parallel) await Promise.race(sending);
      const sent = sendPart(upload, number, digests, count, buffer);
      const part = sent.then(() => {
        sending.delete(part);
        buffers?.release(buffer);
      });
      // A part that failed stays, and ends the next wait.
      part.catch(() => {});
      sending.add(part);
    }
    await Promise.all(sending);
  } finally {
    await Promise.allSettled(sending);
  }
  return parts;
}

/**
 * @param count receives by how many more bytes are under way, negative if the part is sent again
 * @param buffer its bytes, or else they are read
 */
async function sendPart(
  upload: Upload,
  number: number,
  { md5, crc }: Digests,
  count: OnBytes,
  buffer: Buffer | undefined,
) {
  const { s3, name, id, file, hasCrc, tags } = upload;
  const { start, end, length } = rangeOf(upload, number);
  let counted = 0;
  // A chunk is sent before the next is read, as it is larger than what a socket buffers.
  const read = () =>
    buffer ? chunksOf(buffer.subarray(0, length)) : file.read(start, end, samePlace());
  const body = streamBody(length, read, (bytes) => {
    count(bytes - counted);
    counted = bytes;
  });
  const query = { partNumber: `${number}`, uploadId: id };
  const headers = {
    'content-md5': Buffer.from(md5, 'hex').toString('base64'),
    ...(hasCrc && { 'x-amz-checksum-crc32': crc }),
  };
  const response = await s3.send({ method: 'PUT', name, query, headers, body, idempotent: true });
  if (s3Code(response) === 'NoSuchUpload') throw uploadGone(name);
  const tag = plainTag(requireS3Success(response).headers.etag);
  if (tag !== md5 && !isEncrypted(response))
    throw arrivedWrong(name, `part ${number} has the wrong ETag`);
  tags.set(number, tag);
}

/** Completes the upload, which makes the object visible, and checks it. */
async function finishUpload(upload: Upload, parts: readonly Digests[], replace: boolean) {
  const { s3, name, file, tags } = upload;
  if (!replace && (await findStored(s3, name))) throw conflict(name, s3.address);
  const { ownTag, failure } = await joinParts(upload, parts, replace);
  const stored = await findStored(s3, name);
  // With keys of the storage's own, ETags are no MD5: then only the response has that of the object.
  const hasMd5 = parts.every(({ md5 }, index) => tags.get(index + 1) === md5);
  const tag = hasMd5 ? multipartTag(parts) : ownTag;
  if (stored?.size === file.size) {
    if (stored.tag === tag) return stored.state;
    if (tag === undefined && !failure) return undefined;
  }
  if (failure) throw stored && !replace ? conflict(name, s3.address) : failure;
  if (!stored) throw arrivedWrong(name, 'it is missing');
  const flaw =
    stored.size === file.size ? `ETag is ${stored.tag || 'missing'}` : `size is ${stored.size}`;
  // It is surely ours if it has the ETag that the storage gave it when it was completed.
  const removal = { method: 'DELETE', name, idempotent: true };
  const isRemoved = stored.tag === ownTag && (await s3.send(removal).then(isSuccess, () => false));
  throw arrivedWrong(name, `its ${flaw}${isRemoved ? '' : ', and it was not removed'}`);
}

/** Returns the ETag of the object, or a failure after which it may be there: what is stored says whether it is. */
async function joinParts(upload: Upload, parts: readonly Digests[], replace: boolean) {
  const { s3, name, id, hasCrc, tags } = upload;
  const list = parts.map(({ md5, crc }, index) => {
    const tag = `<ETag>&quot;${tags.get(index + 1) ?? md5}&quot;</ETag>`;
    const checksum = hasCrc ? `<ChecksumCRC32>${crc}</ChecksumCRC32>` : '';
    return `<Part><PartNumber>${index + 1}</PartNumber>${tag}${checksum}</Part>`;
  });
  const body = textBody(
    `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${list.join('')}</CompleteMultipartUpload>`,
  );
  const headers = { 'content-type': 'application/xml', ...(!replace && { 'if-none-match': '*' }) };
  const query = { uploadId: id };
  try {
    const request = { method: 'POST', name, query, headers, body, patience: COMPLETION };
    const ownTag = plainTag(textOf(rootOf(await s3.send(request)), 'ETag')) || undefined;
    await removeOtherUploads(s3, name, id);
    return { ownTag };
  } catch (error) {
    if (!(error instanceof ImgctlError)) throw error;
    if (error.status === 412 || error.status === 409) throw conflict(name, s3.address);
    // A later run would continue the upload, which would be refused again.
    if (error.code === 'bad-answer') await abort(s3, name, id).catch(() => {});
    if (error.code === 'not-found') return { failure: uploadGone(name) };
    const isLost = error instanceof TransportError ? error.sent : error.code === 'server-error';
    if (isLost) return { failure: error };
    throw error;
  }
}

/** Removes the other unfinished uploads of a file. A push that one of them belongs to ends with a conflict. */
async function removeOtherUploads(s3: S3, name: string, own: string): Promise<void> {
  const others = (await listUploads(s3, name).catch(() => [])).filter((id) => id !== own);
  for (const other of others) await abort(s3, name, other).catch(() => {});
  // If one of them was being completed, and the storage ignores If-None-Match, that shows afterwards.
  if (others.length > 0) await s3.clock.sleep(SETTLING, s3.clock.signal);
}

/**
 * Yields the elements of a list with that name.
 * @param markers by parameter of the next page, the element that has its value
 * @param ends statuses that end the list
 */
async function* listItems(
  s3: S3,
  name: string,
  request: S3Request,
  markers: Query,
  ends: readonly number[] = [],
): AsyncGenerator<XmlElement> {
  const seen = new Set<string>();
  let next: Query = {};
  let count = 0;
  while (seen.size < MAX_LIST_PAGES && count <= MAX_ITEMS) {
    const response = await s3.send({ ...request, query: { ...request.query, ...next } });
    if (ends.includes(response.status)) return;
    const root = rootOf(response);
    const items = findAll(root, name);
    yield* items;
    if (textOf(root, 'IsTruncated') !== 'true') return;
    count += items.length;
    const markerOf = ([key, element]: [string, string]) => [key, textOf(root, element) ?? ''];
    next = Object.fromEntries(Object.entries(markers).map(markerOf));
    const marker = JSON.stringify(next);
    if (seen.has(marker)) break;
    seen.add(marker);
  }
  const hint = 'use an upload URL with fewer files';
  throw new ImgctlError('bad-answer', `${s3.host} sent an endless list`, { hint });
}

/** Returns the size of a part, so that the file has at most 10,000. */
function partSizeOf({ partSize }: S3, { size }: UploadFile): number {
  return Math.max(partSize, Math.ceil(size / MAX_PARTS / MIB) * MIB);
}

/** Returns the bytes of a part. @param number from 1 */
function rangeOf({ file, partSize }: Upload, number: number) {
  const start = (number - 1) * partSize;
  const end = Math.min(start + partSize, file.size);
  return { start, end, length: end - start };
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

export function s3Storage(
  url: URL,
  credentials: Pick<AwsV4Signer, 'accessKeyId' | 'secretAccessKey' | 'region'>,
  options: StorageOptions,
): Storage {
  const { clock, parallel, partSize } = options;
  const { host, origin, pathname } = url;
  const [bucket = '', ...folders] = pathname.slice(1).split('/').map(decodeURIComponent);
  const prefix = folders.map((folder) => `${folder}/`).join('');
  const requests = createRequests(url, options, async ({ method, url: { href }, headers }) => {
    const datetime = new Date(clock.now()).toISOString().replace(/[:-]|\.\d{3}/g, '');
    const request = { method, url: href, headers: { ...headers }, datetime, service: 's3' };
    const signed = await new AwsV4Signer({ ...request, ...credentials }).sign();
    return Object.fromEntries(signed.headers);
  });
  const send = ({ name, query = {}, ...request }: S3Request) => {
    const key = name === undefined ? [] : `${prefix}${name}`.split('/');
    const target = new URL(`/${[bucket, ...key].map(encode).join('/')}`, origin);
    const pairs = Object.entries(query).map((pair) => pair.map(encode).join('='));
    target.search = pairs.join('&');
    return requests.send({ method: 'GET', ...request, url: target });
  };
  const address = `bucket ${bucket} at ${host}`;
  const s3: S3 = { clock, parallel, partSize, send, host, address, prefix };
  return {
    address,
    async check() {
      rootOf(await send({ query: { 'list-type': '2', 'max-keys': '1', prefix } }));
    },
    async list() {
      const names: string[] = [];
      const query = { 'list-type': '2', delimiter: '/', prefix };
      const markers = { 'continuation-token': 'NextContinuationToken' };
      for await (const object of listItems(s3, 'Contents', { query }, markers)) {
        // A copy, since a slice would keep the whole page in memory.
        const name = `${Buffer.from((textOf(object, 'Key') ?? '').slice(prefix.length))}`;
        if (name !== '' && !isHidden(name)) names.push(name);
      }
      return names;
    },
    compare: (name, file, proved) => compare(s3, name, file, proved),
    put: (name, file, onProgress) => put(s3, name, file, onProgress),
    /** What killed runs left of a file is continued or removed when that file is sent. */
    async removeDeadParts() {},
    close: requests.close,
  };
}
