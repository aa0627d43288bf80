// An S3 storage: multipart uploads, which become visible as a whole when they are completed.

import { ImgctlError } from '../errors.ts';
import { TransportError } from '../http/errors.ts';
import type { HttpResponse } from '../http/message.ts';
import { isSuccess } from '../http/retry.ts';
import { bodyOf } from './requests.ts';
import {
  CRC32,
  countParts,
  crcText,
  findUpload,
  hasTag,
  inParallel,
  listParts,
  multipartTag,
  partSizeFor,
  plainTag,
  requireId,
} from './s3-parts.ts';
import { createS3Requests, s3Error } from './s3-requests.ts';
import type { Part } from './source.ts';
import {
  arrivedWrong,
  conflict,
  isHidden,
  type PutOptions,
  type Storage,
  type StorageOptions,
  type StoredFile,
  type Target,
  type UploadState,
} from './storage.ts';
import { findAll, textOf } from './xml.ts';

export function openS3(target: Extract<Target, { kind: 's3' }>, options: StorageOptions): Storage {
  const requests = createS3Requests(target, options);
  const { send, ask, prefix, bucket } = requests;
  const address = `bucket ${bucket} at ${target.url.host}`;

  const statOf = async (name: string): Promise<StoredFile | undefined> => {
    const response = await send({ method: 'HEAD', name });
    if (response.status === 404) return undefined;
    if (!isSuccess(response)) throw s3Error(response);
    const { 'content-length': size, etag } = response.headers;
    return { size: Number(size), tag: plainTag(etag) || null };
  };

  /** Returns the upload to continue, with the parts that it has, or a new one. */
  const startUpload = async (name: string, { source, state, save }: PutOptions) => {
    const wanted = partSizeFor(source.size, options.partSize);
    if (state) {
      // An id that never arrived leaves an upload too.
      const id = textIn(state, 'uploadId') ?? (await findUpload(requests, name));
      const partSize = Number(state.partSize) || wanted;
      const listed = id === undefined ? undefined : await listParts(requests, name, id);
      if (id !== undefined && listed) {
        const hasCrc = state.hasCrc === true || listed.hasCrc;
        await save({ uploadId: id, partSize, hasCrc });
        return { uploadId: id, partSize, tags: listed.tags, hasCrc };
      }
    }
    await save({ partSize: wanted });
    const headers = { 'x-amz-checksum-algorithm': CRC32 };
    const started = await ask({ method: 'POST', name, query: { uploads: '' }, headers });
    const uploadId = requireId(textOf(started.root, 'UploadId'));
    // A storage that does not know this checksum may refuse it.
    const hasCrc = started.headers['x-amz-checksum-algorithm'] === CRC32;
    await save({ uploadId, partSize: wanted, hasCrc });
    return { uploadId, partSize: wanted, tags: new Map<number, string>(), hasCrc };
  };

  /** Uploads a part and returns its ETag. */
  const sendPart = async (
    name: string,
    query: Readonly<Record<string, string>>,
    { bytes, md5 }: Part,
    crc: string | undefined,
    onProgress: (sent: number) => void,
  ) => {
    const response = await send({
      method: 'PUT',
      name,
      query,
      headers: {
        'content-md5': Buffer.from(md5, 'hex').toString('base64'),
        ...(crc && { 'x-amz-checksum-crc32': crc }),
      },
      body: bodyOf(bytes, onProgress),
      repeatable: true,
    });
    if (!isSuccess(response)) throw s3Error(response);
    const tag = plainTag(response.headers.etag);
    if (tag === md5 || isEncrypted(response)) return { tag, isKnown: tag === md5 };
    throw arrivedWrong(name, `part ${query.partNumber} has the wrong ETag`);
  };

  return {
    address,
    async check() {
      const query = { 'list-type': '2', 'max-keys': '1', prefix };
      await ask({ method: 'GET', query });
    },
    async list() {
      const files = new Map<string, StoredFile>();
      for (let token: string | undefined; ; ) {
        const query = { 'list-type': '2', delimiter: '/', prefix };
        const next = token === undefined ? {} : { 'continuation-token': token };
        const { root } = await ask({ method: 'GET', query: { ...query, ...next } });
        for (const object of findAll(root, 'Contents')) {
          const name = (textOf(object, 'Key') ?? '').slice(prefix.length);
          const tag = plainTag(textOf(object, 'ETag')) || null;
          const size = Number(textOf(object, 'Size'));
          if (name !== '' && !isHidden(name)) files.set(name, { size, tag });
        }
        const following = textOf(root, 'NextContinuationToken');
        if (textOf(root, 'IsTruncated') !== 'true' || following === token) return files;
        token = following;
      }
    },
    stat: statOf,
    async holds(_name, { size, tag }, source) {
      return size === source.size && tag !== null && hasTag(source, tag, options.partSize);
    },
    async put(name, put) {
      const { source, onProgress } = put;
      const { uploadId, partSize, tags: listed, hasCrc } = await startUpload(name, put);
      const count = countParts(source.size, partSize);
      const tags: string[] = [];
      const md5s: string[] = [];
      const crcs: string[] = [];
      const sent: number[] = [];
      let total = 0;
      let isKnown = true;
      const report = (number: number, bytes: number) => {
        total += bytes - (sent[number] ?? 0);
        sent[number] = bytes;
        onProgress(total);
      };
      const upload = async (number: number, part: Part) => {
        const query = { partNumber: `${number}`, uploadId };
        const crc = crcs[number - 1];
        const result = await sendPart(name, query, part, crc, (bytes) => report(number, bytes));
        tags[number - 1] = result.tag;
        isKnown &&= result.isKnown;
      };
      const { parallel } = options;
      await inParallel(count, Math.min(parallel, count), Math.min(partSize, source.size), {
        read: (buffer, index) => source.readPart(buffer, index * partSize),
        async send(part, index) {
          md5s[index] = part.md5;
          if (hasCrc) crcs[index] = crcText(part.crc32);
          if (listed.get(index + 1) !== part.md5) return upload(index + 1, part);
          tags[index] = part.md5;
          report(index + 1, part.bytes.length);
        },
      });
      const tag = isKnown ? multipartTag(md5s) : null;
      return { state: { uploadId, partSize, tags, crcs, tag }, stored: { size: source.size, tag } };
    },
    async finish(name, state, replace) {
      if (!replace && (await statOf(name))) throw conflict(name, address);
      const expected = textIn(state, 'tag');
      const { failure, tag } = await complete(name, state, replace);
      const stored = await statOf(name);
      const isRight = stored && (expected === undefined || stored.tag === expected);
      // If the response was lost, what is there says whether the upload was completed.
      if (failure && !(isRight && expected)) throw failure;
      if (stored && isRight) return stored;
      if (!stored) throw arrivedWrong(name, 'it is missing');
      // It is surely ours, as the storage gave it this ETag when it was completed.
      const isOurs = stored.tag === tag;
      const removal = { method: 'DELETE', name, repeatable: true };
      const isRemoved = isOurs && (await send(removal).then(isSuccess, () => false));
      const rest = isRemoved ? '' : ', and it stays there';
      throw arrivedWrong(name, `its ETag is ${stored.tag}${rest}`);
    },
    async remove(name, state) {
      const uploadId = textIn(state, 'uploadId') ?? (await findUpload(requests, name));
      if (uploadId === undefined) return;
      const response = await send({
        method: 'DELETE',
        name,
        query: { uploadId },
        repeatable: true,
      });
      if (!isSuccess(response) && response.status !== 404) throw s3Error(response);
    },
    close: requests.close,
  };

  /**
   * Returns the ETag of the object, or an error after which the upload may be complete all the same.
   * @throws ImgctlError
   */
  async function complete(
    name: string,
    state: UploadState,
    replace: boolean,
  ): Promise<{ readonly failure?: ImgctlError; readonly tag?: string }> {
    const tags = Array.isArray(state.tags) ? state.tags : [];
    const crcs = Array.isArray(state.crcs) ? state.crcs : [];
    const parts = tags.map((tag, index) => {
      const crc = crcs[index] ? `<Checksum${CRC32}>${crcs[index]}</Checksum${CRC32}>` : '';
      return `<Part><PartNumber>${index + 1}</PartNumber><ETag>&quot;${tag}&quot;</ETag>${crc}</Part>`;
    });
    const body = `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${parts.join('')}</CompleteMultipartUpload>`;
    const headers = {
      'content-type': 'application/xml',
      ...(replace ? {} : { 'if-none-match': '*' }),
    };
    const query = { uploadId: textIn(state, 'uploadId') ?? '' };
    const request = { method: 'POST', name, query, headers, body: bodyOf(Buffer.from(body)) };
    try {
      const tag = plainTag(textOf((await ask(request)).root, 'ETag'));
      return tag === '' ? {} : { tag };
    } catch (error) {
      if (!(error instanceof ImgctlError)) throw error;
      if (error.status === 412 || error.status === 409) throw conflict(name, address);
      const mayBeDone = error instanceof TransportError ? error.sent : error.code === 'not-found';
      if (!mayBeDone && error.code !== 'server-error') throw error;
      return { failure: error };
    }
  }
}

/** An ETag is no MD5 if the storage encrypts with keys of its own. */
function isEncrypted({ headers }: HttpResponse): boolean {
  const kind = headers['x-amz-server-side-encryption'] ?? '';
  return kind.includes('kms') || 'x-amz-server-side-encryption-customer-algorithm' in headers;
}

function textIn(state: UploadState, key: string): string | undefined {
  const value = state[key];
  return typeof value === 'string' ? value : undefined;
}
