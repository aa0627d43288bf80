// A bucket of an S3 storage: its objects, lists and ETags, and what was found out about it.

import { createHash } from 'node:crypto';
import { ImgctlError, tryOr } from '../errors.ts';
import type { HttpResponse } from '../http/message.ts';
import { findAll, textOf, type XmlElement } from '../xml.ts';
import type { StorageRequest } from './requests.ts';
import { isSettledTag, requireLength, storedFingerprint } from './responses.ts';
import { listOf, plainTag, requireS3Success } from './s3-responses.ts';
import type { StorageOptions, StoredFile } from './storage.ts';
import type { UploadSource } from './upload-file.ts';

const MIB = 2 ** 20;
const MAX_PARTS = 10_000;
const MAX_LIST_PAGES = 1_000;
const MAX_ITEMS = 1_000_000;

type Pairs = Readonly<Record<string, string>>;

export interface S3Request extends Partial<Omit<StorageRequest, 'url'>> {
  /** The object; without it, the request is for the bucket. */
  readonly name?: string;
  readonly query?: Pairs;
}

export interface S3
  extends Pick<StorageOptions, 'clock' | 'limit' | 'parallel' | 'partSize' | 'onWarning'> {
  readonly send: (request: S3Request) => Promise<HttpResponse>;
  readonly address: string;
  /** Empty, or ends with a slash. */
  readonly prefix: string;
  /** What was found out about the storage: that it does not know If-None-Match. */
  readonly found: { lacksConditions: boolean };
}

export interface StoredObject extends StoredFile {
  /** The ETag as the storage sends it. */
  readonly etag: string;
}

export async function findObject(s3: S3, name: string): Promise<StoredObject | undefined> {
  const response = await s3.send({ method: 'HEAD', name });
  if (response.status === 404) return undefined;
  const { headers } = requireS3Success(response);
  const { etag = '', 'last-modified': modified = '', date } = headers;
  const tag = plainTag(etag);
  const size = requireLength(response, name);
  const fingerprint = storedFingerprint(tag, modified, size);
  return { size, etag, tag, fingerprint, isSettled: isSettledTag(etag, modified, date) };
}

/** @param etag of the object, if no other one of that name may be removed */
export function removeObject(s3: S3, name: string, etag?: string): Promise<HttpResponse> {
  const headers = etag === undefined ? {} : { 'if-match': etag };
  return s3.send({ method: 'DELETE', name, headers, idempotent: true });
}

/** Asks for encoded keys: XML has no control characters. */
export const ENCODED = { 'encoding-type': 'url' };
const ENCODED_ELEMENTS = ['Key', 'NextKeyMarker'];

/** By the item of a list: the parameters that ask for its next page, and where a page has them. */
const MARKERS = {
  Contents: { 'continuation-token': 'NextContinuationToken' },
  Upload: { 'key-marker': 'NextKeyMarker', 'upload-id-marker': 'NextUploadIdMarker' },
  Part: { 'part-number-marker': 'NextPartNumberMarker' },
};

/** Yields the items of all pages of a list, such as `{ PartNumber: '1', ETag: '"4f1c…"' }`. */
export async function* listItems(
  s3: Pick<S3, 'send' | 'address'>,
  item: keyof typeof MARKERS,
  request: S3Request,
): AsyncGenerator<Pairs> {
  const asked = new Set<string>();
  let markers: Pairs = {};
  let count = 0;
  while (asked.size < MAX_LIST_PAGES && count <= MAX_ITEMS) {
    const response = await s3.send({ ...request, query: { ...request.query, ...markers } });
    const root = listOf(response);
    const isEncoded = textOf(root, 'EncodingType') === 'url';
    const items = findAll(root, item);
    for (const element of items) yield textsOf(element, isEncoded);
    const page = textsOf(root, isEncoded);
    if (page.IsTruncated !== 'true') return;
    count += items.length;
    const next = Object.entries(MARKERS[item]).map(([key, name]) => [key, page[name] ?? '']);
    markers = Object.fromEntries(next);
    const text = JSON.stringify(markers);
    if (asked.has(text)) break;
    asked.add(text);
  }
  const facts = { kind: 'too-large', of: 'storage' } as const;
  throw new ImgctlError('bad-answer', `${s3.address} sent an endless list`, { facts });
}

/** Returns the texts in an element by name. Encoded keys are as in forms: a plus is a space. */
function textsOf({ children }: XmlElement, isEncoded: boolean): Pairs {
  const texts = children.map(({ name, text }) => {
    const trimmed = text.trim();
    if (!isEncoded || !ENCODED_ELEMENTS.includes(name)) return [name, trimmed];
    return [name, tryOr(() => decodeURIComponent(trimmed.replaceAll('+', ' ')), trimmed)];
  });
  return Object.fromEntries(texts);
}

export function partSizeOf(s3: Pick<S3, 'partSize'>, file: Pick<UploadSource, 'size'>): number {
  return Math.max(s3.partSize, Math.ceil(file.size / MAX_PARTS / MIB) * MIB);
}

/** Returns the ETag of an object whose parts have these digests. */
export function multipartTag(parts: readonly string[]): string {
  const bytes = Buffer.from(parts.join(''), 'hex');
  return `${createHash('md5').update(bytes).digest('hex')}-${parts.length}`;
}

/** Returns the ETag that S3 gives the file: its MD5, or if it is sent in parts, made of theirs. */
export async function tagOf(s3: S3, file: UploadSource, isWhole: boolean): Promise<string> {
  if (isWhole) return md5Of(file.read());
  const md5s: string[] = [];
  for await (const md5 of md5sOf(file.read(), partSizeOf(s3, file))) md5s.push(md5);
  return multipartTag(md5s);
}

/** Returns the MD5 in hexadecimal. */
export async function md5Of(chunks: AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash('md5');
  for await (const chunk of chunks) hash.update(chunk);
  return hash.digest('hex');
}

/** Yields the MD5 of each part; empty content is one part. @param chunks fit whole into a part */
export async function* md5sOf(chunks: AsyncIterable<Buffer>, partSize: number) {
  let hash = createHash('md5');
  let position = 0;
  let count = 0;
  for await (const chunk of chunks) {
    hash.update(chunk);
    position += chunk.length;
    if (position < partSize) continue;
    yield hash.digest('hex');
    hash = createHash('md5');
    position = 0;
    count += 1;
  }
  if (position > 0 || count === 0) yield hash.digest('hex');
}
