// A bucket of an S3 storage: its objects, lists and ETags, and what was found out about it.

import { createHash } from 'node:crypto';
import { ImgctlError, tryOr } from '../errors.ts';
import type { HttpResponse } from '../http/message.ts';
import { findAll, textOf, type XmlElement } from '../xml.ts';
import type { StorageRequest } from './requests.ts';
import { isSettled, requireLength } from './responses.ts';
import { plainTag, requireS3Success, rootOf } from './s3-responses.ts';
import type { StorageOptions } from './storage.ts';
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
  readonly host: string;
  readonly address: string;
  /** Empty, or ends with a slash. */
  readonly prefix: string;
  /** What was found out about the storage: that it does not know If-None-Match. */
  readonly found: { lacksConditions: boolean };
}

export async function findObject(s3: S3, name: string) {
  const response = await s3.send({ method: 'HEAD', name });
  if (response.status === 404) return undefined;
  const { headers } = requireS3Success(response);
  const { etag = '', 'last-modified': modified = '', date } = headers;
  const tag = plainTag(etag);
  const size = requireLength(response, name);
  const fingerprint = [tag, modified, size].join(' ');
  return { size, tag, fingerprint, isReliable: isSettled(etag, modified, date) };
}

export function removeObject(s3: S3, name: string): Promise<HttpResponse> {
  return s3.send({ method: 'DELETE', name, idempotent: true });
}

/** Asks for encoded keys: XML has no control characters. */
export const ENCODED = { 'encoding-type': 'url' };
const ENCODED_ELEMENTS = ['Key', 'NextKeyMarker'];

/** By item of a list: the parameters that ask for the next page, and the elements with them. */
const MARKERS = {
  Contents: { 'continuation-token': 'NextContinuationToken' },
  Upload: { 'key-marker': 'NextKeyMarker', 'upload-id-marker': 'NextUploadIdMarker' },
  Part: { 'part-number-marker': 'NextPartNumberMarker' },
};

/**
 * Yields the items of all pages of a list. Each is a function from the name of an element to its
 * text, which is empty if it is missing.
 * @param ends statuses that end the list, as if it had no more items
 */
export async function* listItems(
  s3: Pick<S3, 'send' | 'host'>,
  name: keyof typeof MARKERS,
  request: S3Request,
  ends: readonly number[] = [],
): AsyncGenerator<(element: string) => string> {
  const pages = new Set<string>();
  let marker: Record<string, string> = {};
  let count = 0;
  while (pages.size < MAX_LIST_PAGES && count <= MAX_ITEMS) {
    const response = await s3.send({ ...request, query: { ...request.query, ...marker } });
    if (ends.includes(response.status)) return;
    const root = rootOf(response);
    const items = findAll(root, name);
    for (const item of items) yield (element) => decodedText(root, item, element);
    if (textOf(root, 'IsTruncated') !== 'true') return;
    count += items.length;
    marker = {};
    for (const [parameter, element] of Object.entries(MARKERS[name]))
      marker[parameter] = decodedText(root, root, element);
    const page = JSON.stringify(marker);
    if (pages.has(page)) break;
    pages.add(page);
  }
  const facts = { kind: 'too-large', of: 'storage' } as const;
  throw new ImgctlError('bad-answer', `${s3.host} sent an endless list`, { facts });
}

/** Returns the text of an element. Encoded keys are as in forms: a plus is a space. */
function decodedText(list: XmlElement, parent: XmlElement, name: string): string {
  const text = textOf(parent, name) ?? '';
  const isEncoded = ENCODED_ELEMENTS.includes(name) && textOf(list, 'EncodingType') === 'url';
  return isEncoded ? tryOr(() => decodeURIComponent(text.replaceAll('+', ' ')), text) : text;
}

export function partSizeOf(s3: Pick<S3, 'partSize'>, file: Pick<UploadSource, 'size'>): number {
  return Math.max(s3.partSize, Math.ceil(file.size / MAX_PARTS / MIB) * MIB);
}

/** Returns the ETag of an object whose parts have these digests. */
export function multipartTag(parts: readonly string[]): string {
  const bytes = Buffer.from(parts.join(''), 'hex');
  return `${createHash('md5').update(bytes).digest('hex')}-${parts.length}`;
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
