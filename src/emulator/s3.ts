// The S3 server of the embedded service: one bucket, which holds the files of the user who signs.

import { createHash, randomUUID } from 'node:crypto';
import { appendFile, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { HttpError } from './http.ts';
import { verifySignature } from './s3-signature.ts';
import {
  errorResponse,
  objectContent,
  readParts,
  S3Error,
  type S3Object,
  xmlResponse,
} from './s3-xml.ts';
import { fileName, type StorageRequest, type StorageResponse } from './storage-files.ts';
import { type ReceivedBody, receiveBody } from './upload-body.ts';

const BUCKET = 's3';
const WRONG_ETAG = '0'.repeat(32);

interface Upload {
  readonly key: string;
  readonly folder: string;
  readonly started: Date;
  /** Every part needs its CRC-32. */
  readonly hasCrc: boolean;
  /** By number. */
  readonly parts: Map<number, Part>;
}

interface Part {
  readonly etag: string;
  readonly size: number;
  /** As the request that sent it wrote it. */
  readonly crc: string | undefined;
}

export function createS3(passwords: ReadonlyMap<string, string>, now: () => number) {
  const uploads = new Map<string, Upload>();
  /** ETags of finished files by path, valid for one time of change. */
  const etags = new Map<string, { readonly time: number; readonly etag: string }>();

  const partFile = (id: string, folder: string, number: number) => join(folder, `.${id}.${number}`);

  const objectOf = async (folder: string, name: string): Promise<S3Object | undefined> => {
    const file = join(folder, name);
    const stats = await stat(file).catch(() => undefined);
    if (!stats?.isFile()) return undefined;
    let known = etags.get(file);
    if (known?.time !== stats.mtimeMs) {
      const etag = createHash('md5')
        .update(await readFile(file))
        .digest('hex');
      known = { time: stats.mtimeMs, etag };
      etags.set(file, known);
    }
    return { name, size: stats.size, modified: stats.mtime, etag: known.etag };
  };

  const uploadOf = (id: string, key: string): Upload => {
    const upload = uploads.get(id);
    if (upload?.key === key) return upload;
    throw new S3Error(404, 'NoSuchUpload', 'The upload does not exist.');
  };

  const discard = async (id: string, { folder, parts }: Upload) => {
    uploads.delete(id);
    for (const number of parts.keys()) await rm(partFile(id, folder, number), { force: true });
  };

  const listObjects = async ({ api: { query } }: StorageRequest, folder: string) => {
    const prefix = query.get('prefix') ?? '';
    const names = (await readdir(folder)).filter((name) => !name.startsWith('.'));
    const wanted = names.filter((name) => name.startsWith(prefix)).sort();
    const objects = await Promise.all(wanted.map((name) => objectOf(folder, name)));
    return xmlResponse('ListBucketResult', {
      Name: BUCKET,
      Prefix: prefix,
      KeyCount: objects.length,
      MaxKeys: 1000,
      IsTruncated: 'false',
      Contents: objects.filter((object) => object !== undefined).map(objectContent),
    });
  };

  const serveBucket = async (request: StorageRequest, folder: string): Promise<StorageResponse> => {
    const { method, query } = request.api;
    // Clients create the bucket first, which S3 allows its owner.
    if (method === 'HEAD' || (method === 'PUT' && query.size === 0)) return { status: 200 };
    if (method !== 'GET') throw new S3Error(405, 'MethodNotAllowed', 'The bucket is fixed.');
    if (query.has('location')) return xmlResponse('LocationConstraint', {});
    if (!query.has('uploads')) return listObjects(request, folder);
    const prefix = query.get('prefix') ?? '';
    const own = [...uploads].filter(([, upload]) => upload.folder === folder);
    return xmlResponse('ListMultipartUploadsResult', {
      Bucket: BUCKET,
      IsTruncated: 'false',
      Upload: own
        .filter(([, { key }]) => key.startsWith(prefix))
        .map(([UploadId, { key, started }]) => {
          return { Key: key, UploadId, Initiated: started.toISOString() };
        }),
    });
  };

  const put = async (request: StorageRequest, file: string): Promise<ReceivedBody> => {
    const { incoming, fault } = request;
    const { 'content-md5': md5, 'x-amz-content-sha256': sha256 = '' } = incoming.headers;
    const crc = incoming.headers['x-amz-checksum-crc32'];
    if (incoming.headers['content-encoding']?.includes('aws-chunked')) {
      throw new S3Error(501, 'NotImplemented', 'Signed chunks are not supported.');
    }
    const check = (body: ReceivedBody) => {
      const isHashed = /^[0-9a-f]{64}$/.test(String(sha256));
      if (typeof md5 === 'string' && Buffer.from(md5, 'base64').toString('hex') !== body.md5) {
        throw new S3Error(400, 'BadDigest', 'The Content-MD5 is not that of the body.');
      }
      if (crc !== undefined && Buffer.from(String(crc), 'base64').toString('hex') !== body.crc32) {
        throw new S3Error(400, 'BadDigest', 'The CRC-32 is not that of the body.');
      }
      if (isHashed && sha256 !== body.sha256) {
        throw new S3Error(400, 'XAmzContentSHA256Mismatch', 'The SHA-256 is not that of the body.');
      }
    };
    return receiveBody(incoming, file, { fault, check });
  };

  const shownEtag = ({ fault }: StorageRequest, etag: string) => {
    return `"${fault?.type === 'etag' ? WRONG_ETAG : etag}"`;
  };

  const requireAbsent = async ({ incoming }: StorageRequest, folder: string, key: string) => {
    if (incoming.headers['if-none-match'] !== '*' || !(await objectOf(folder, key))) return;
    throw new S3Error(412, 'PreconditionFailed', 'The object exists.');
  };

  const complete = async (request: StorageRequest, id: string, upload: Upload) => {
    const { folder, key, parts } = upload;
    let body = '';
    for await (const chunk of request.incoming) body += chunk;
    const listed = readParts(body);
    await requireAbsent(request, folder, key);
    for (const [index, [number, etag, crc]] of listed.entries()) {
      const part = parts.get(number);
      if (part?.etag !== etag || (upload.hasCrc && part.crc !== crc))
        throw new S3Error(400, 'InvalidPart', `Part ${number} is unknown.`);
      const isLast = index === listed.length - 1;
      if (!isLast && part.size < 5 * 2 ** 20)
        throw new S3Error(400, 'EntityTooSmall', 'Too small.');
    }
    if (listed.length === 0) throw new S3Error(400, 'MalformedXML', 'The request lists no parts.');
    const whole = join(folder, `.${randomUUID()}`);
    for (const [number] of listed) {
      await appendFile(whole, await readFile(partFile(id, folder, number)));
    }
    await rename(whole, join(folder, key));
    const digests = Buffer.from(listed.map(([, etag]) => etag).join(''), 'hex');
    const etag = `${createHash('md5').update(digests).digest('hex')}-${listed.length}`;
    const { mtimeMs } = await stat(join(folder, key));
    const stored = request.fault?.type === 'etag' ? `${WRONG_ETAG}-${listed.length}` : etag;
    etags.set(join(folder, key), { time: mtimeMs, etag: stored });
    await discard(id, upload);
    return xmlResponse('CompleteMultipartUploadResult', { Key: key, ETag: `"${stored}"` });
  };

  const serveUpload = async (request: StorageRequest, id: string, key: string) => {
    const { method, query } = request.api;
    const upload = uploadOf(id, key);
    if (method === 'POST') return complete(request, id, upload);
    if (method === 'DELETE') return discard(id, upload).then(() => ({ status: 204 }));
    if (method === 'PUT') {
      const number = Number(query.get('partNumber'));
      const file = partFile(id, upload.folder, number);
      const crc = request.incoming.headers['x-amz-checksum-crc32']?.toString();
      if (upload.hasCrc && crc === undefined) {
        throw new S3Error(400, 'InvalidRequest', 'This upload needs the CRC-32 of every part.');
      }
      const { md5: etag } = await put(request, file);
      upload.parts.set(number, { etag, size: (await stat(file)).size, crc });
      const checksum = crc === undefined ? {} : { 'x-amz-checksum-crc32': crc };
      return { status: 200, headers: { ETag: shownEtag(request, etag), ...checksum } };
    }
    const after = Number(query.get('part-number-marker') ?? 0);
    const all = [...upload.parts].sort(([left], [right]) => left - right);
    const page = all.filter(([number]) => number > after).slice(0, 1000);
    const [last = 0] = page.at(-1) ?? [];
    return xmlResponse('ListPartsResult', {
      Key: key,
      UploadId: id,
      NextPartNumberMarker: last,
      ...(upload.hasCrc && { ChecksumAlgorithm: 'CRC32' }),
      IsTruncated: String(last < (all.at(-1)?.[0] ?? 0)),
      Part: page.map(([PartNumber, { etag, size }]) => {
        return { PartNumber, ETag: `"${etag}"`, Size: size };
      }),
    });
  };

  const serveObject = async (request: StorageRequest, folder: string, key: string) => {
    const { method, query } = request.api;
    if (method === 'POST' && query.has('uploads')) {
      const id = randomUUID();
      const algorithm = request.incoming.headers['x-amz-checksum-algorithm'];
      const hasCrc = algorithm === 'CRC32';
      uploads.set(id, { key, folder, hasCrc, started: new Date(now()), parts: new Map() });
      return {
        ...xmlResponse('InitiateMultipartUploadResult', { Bucket: BUCKET, Key: key, UploadId: id }),
        ...(hasCrc && { headers: { 'x-amz-checksum-algorithm': algorithm } }),
      };
    }
    const file = join(folder, key);
    if (method === 'PUT') {
      await requireAbsent(request, folder, key);
      const { md5 } = await put(request, file);
      return { status: 200, headers: { ETag: shownEtag(request, md5) } };
    }
    const object = await objectOf(folder, key);
    if (method === 'DELETE') return rm(file, { force: true }).then(() => ({ status: 204 }));
    if (!object) throw new S3Error(404, 'NoSuchKey', 'The object does not exist.');
    const modified = { 'Last-Modified': object.modified.toUTCString() };
    return { status: 200, file, headers: { ETag: shownEtag(request, object.etag), ...modified } };
  };

  return async (request: StorageRequest): Promise<StorageResponse> => {
    const { api, incoming } = request;
    const [, , ...rest] = api.path.split('/');
    try {
      const user = verifySignature(api, incoming, passwords, now());
      const folder = request.folderOf(user);
      const key = rest.join('/');
      if (key === '') return await serveBucket(request, folder);
      const name = fileName(key);
      const id = api.query.get('uploadId');
      return await (id === null
        ? serveObject(request, folder, name)
        : serveUpload(request, id, name));
    } catch (error) {
      if (error instanceof S3Error) return errorResponse(error);
      if (!(error instanceof HttpError)) throw error;
      return errorResponse(new S3Error(error.status, 'FaultInjected', error.message));
    }
  };
}
