// The parts of a multipart upload to S3: their number, their listing, and the ETag of the whole.

import { createHash } from 'node:crypto';
import { ImgctlError } from '../errors.ts';
import { isSuccess } from '../http/retry.ts';
import { sharedBuffer } from './reader.ts';
import { type S3Requests, s3Error } from './s3-requests.ts';
import type { Part, Source } from './source.ts';
import { findAll, parseXml, textOf } from './xml.ts';

const MAX_PARTS = 10_000;
const MIB = 2 ** 20;

/** Returns the size of a part, so that the file has at most 10,000. */
export function partSizeFor(size: number, wanted: number): number {
  return Math.max(wanted, Math.ceil(size / MAX_PARTS / MIB) * MIB);
}

export function countParts(size: number, partSize: number): number {
  return Math.max(1, Math.ceil(size / partSize));
}

/** Returns the ETag of an object of parts with these MD5s. */
export function multipartTag(md5s: readonly string[]): string {
  const bytes = Buffer.from(md5s.join(''), 'hex');
  return `${createHash('md5').update(bytes).digest('hex')}-${md5s.length}`;
}

export function plainTag(etag: string | undefined): string {
  return (etag ?? '').replace(/^W\/|"/g, '').toLowerCase();
}

/** The checksum of parts besides MD5, as S3 names it. */
export const CRC32 = 'CRC32';

/** Returns it as headers and XML write it. */
export function crcText(crc32: number): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32);
  return bytes.toString('base64');
}

interface ListedParts {
  /** By number. */
  readonly tags: ReadonlyMap<number, string>;
  /** The upload needs the CRC-32 of every part. */
  readonly hasCrc: boolean;
}

/** Returns the parts that have arrived; undefined if there is no such upload. */
export async function listParts(
  { send }: S3Requests,
  name: string,
  uploadId: string,
): Promise<ListedParts | undefined> {
  const tags = new Map<number, string>();
  for (let marker = '0'; ; ) {
    const query = { uploadId, 'part-number-marker': marker };
    const response = await send({ method: 'GET', name, query });
    if (response.status === 404) return undefined;
    const root = isSuccess(response) ? parseXml(response.body) : undefined;
    if (!root || root.name === 'Error') throw s3Error(response);
    for (const part of findAll(root, 'Part')) {
      tags.set(Number(textOf(part, 'PartNumber')), plainTag(textOf(part, 'ETag')));
    }
    const next = textOf(root, 'NextPartNumberMarker') ?? '';
    if (textOf(root, 'IsTruncated') !== 'true' || Number(next) <= Number(marker)) {
      return { tags, hasCrc: textOf(root, 'ChecksumAlgorithm') === CRC32 };
    }
    marker = next;
  }
}

/** Returns the id of the newest upload of a file that is not finished. */
export async function findUpload(requests: S3Requests, name: string): Promise<string | undefined> {
  const key = `${requests.prefix}${name}`;
  const { root } = await requests.ask({ method: 'GET', query: { uploads: '', prefix: key } });
  const uploads = findAll(root, 'Upload').filter((upload) => textOf(upload, 'Key') === key);
  const started = (upload: (typeof uploads)[number]) => textOf(upload, 'Initiated') ?? '';
  uploads.sort((left, right) => (started(left) < started(right) ? 1 : -1));
  return textOf(uploads[0], 'UploadId');
}

/** Part sizes of common programs, in MiB. */
const COMMON_SIZES = [5, 8, 10, 15, 16, 25, 32, 50, 64, 100, 128, 256, 512];

/** True if an object with this ETag has the content of the source. */
export async function hasTag(source: Source, tag: string, partSize: number): Promise<boolean> {
  const { size } = source;
  if (/^[0-9a-f]{32}$/.test(tag)) return (await md5Of(source, 0, size)) === tag;
  const count = Number(/^[0-9a-f]{32}-(\d{1,5})$/.exec(tag)?.[1]);
  const sizes = new Set([partSize, ...COMMON_SIZES.map((number) => number * MIB)]);
  for (const each of [...sizes].filter((candidate) => countParts(size, candidate) === count)) {
    const md5s: string[] = [];
    for (let start = 0; start < Math.max(size, 1); start += each) {
      md5s.push(await md5Of(source, start, Math.min(start + each, size)));
    }
    if (multipartTag(md5s) === tag) return true;
  }
  return false;
}

async function md5Of(source: Source, start: number, end: number): Promise<string> {
  const hash = createHash('md5');
  for (let position = start; position < end; position += MIB) {
    hash.update(await source.peek(position, Math.min(MIB, end - position)));
  }
  return hash.digest('hex');
}

/** @throws ImgctlError */
export function requireId(text: string | undefined): string {
  if (text) return text;
  throw new ImgctlError('bad-answer', 'the storage started an upload without an id', {
    hint: 'ask the administrators of the storage',
  });
}

interface Steps {
  read(buffer: Buffer, index: number): Promise<Part>;
  send(part: Part, index: number): Promise<void>;
}

/** Reads parts in order into a few buffers, each of which is sent before it is used again. */
export async function inParallel(
  count: number,
  buffers: number,
  size: number,
  { read, send }: Steps,
): Promise<void> {
  const slots = Array.from({ length: buffers }, () => ({
    buffer: sharedBuffer(size),
    sending: Promise.resolve(),
  }));
  let failed = false;
  try {
    const free = slots.map((slot) => Promise.resolve(slot));
    for (let index = 0; index < count && !failed; index += 1) {
      const slot = await Promise.race(free);
      const part = await read(slot.buffer, index);
      slot.sending = send(part, index).catch((error: unknown) => {
        failed = true;
        throw error;
      });
      free[slots.indexOf(slot)] = slot.sending.then(
        () => slot,
        () => slot,
      );
    }
  } finally {
    await Promise.allSettled(slots.map(({ sending }) => sending));
  }
  await Promise.all(slots.map(({ sending }) => sending));
}
