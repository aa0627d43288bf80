// An S3 server for tests: one bucket, which holds the files of a folder, multipart uploads in memory, and faults.

import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import {
  createFaultPicker,
  type FaultKind,
  faultResponse,
  parseFault,
  sendWithFault,
} from '../../src/emulator/faults.ts';
import type { RequestRecord } from '../../src/emulator/service-options.ts';
import { S3Error, verifySignature } from './s3-signature.ts';

const BUCKET = 's3';
const NAMESPACE = 'http://s3.amazonaws.com/doc/2006-03-01/';
const MIN_PART_SIZE = 5 * 2 ** 20;
const WRONG_ETAG = '0'.repeat(32);

export interface S3Options {
  /** Where the objects are; created if it is missing. */
  readonly folder: string;
  readonly accessKey: string;
  readonly secret: string;
  readonly host?: string;
  /** As `imgctl emulator --fault` takes them; the kind `etag` shows a wrong ETag for an upload. */
  readonly faults?: readonly string[];
  readonly onRequest?: (record: RequestRecord) => void;
}

interface Upload {
  readonly key: string;
  readonly parts: Map<number, { readonly etag: string; readonly body: Buffer }>;
}

interface S3Request {
  readonly method: string;
  readonly key: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly hasWrongEtag: boolean;
  /** Reads the body. @throws BrokenUpload; S3Error: the fault of the request, or a digest does not match */
  readonly body: () => Promise<Buffer>;
}

interface S3Response {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

class BrokenUpload extends Error {}

/** Starts the server for the running test. `url` is that of the bucket. */
export async function serveS3(options: S3Options): Promise<{ baseUrl: string; url: string }> {
  const { folder, host = '127.0.0.1', faults = [], onRequest } = options;
  mkdirSync(folder, { recursive: true });
  const bucket = createBucket(folder);
  const isEtagFault = (fault: string) => /=etag(,|$)/.test(fault);
  const pickFault = createFaultPicker(
    faults.filter((fault) => !isEtagFault(fault)).map(parseFault),
  );
  const pickEtagFault = createFaultPicker(
    faults.filter(isEtagFault).map((fault) => parseFault(fault.replace('=etag', '=partial'))),
  );

  const answer = async (incoming: IncomingMessage, stream: ServerResponse): Promise<void> => {
    const { method = '', url: target = '', headers } = incoming;
    onRequest?.({ method, target, headers });
    const { pathname, searchParams: query } = new URL(target, 'http://storage');
    const fault = pickFault(method, pathname);
    const replacement = fault && faultResponse(fault);
    if (replacement) return sendWithFault(stream, replacement, undefined);
    let response: S3Response;
    try {
      verifySignature(incoming, options);
      response = await bucket({
        method,
        key: decodeURIComponent(pathname.slice(`/${BUCKET}/`.length)),
        query,
        headers,
        hasWrongEtag: pickEtagFault(method, pathname) !== undefined,
        body: () => readBody(incoming, fault),
      });
    } catch (error) {
      if (error instanceof BrokenUpload) return void stream.destroy();
      if (!(error instanceof S3Error)) throw error;
      const { status, code, message } = error;
      response = { ...xmlResponse('Error', { Code: code, Message: message }), status };
    }
    if (fault?.type === 'stall') return;
    if (fault?.type === 'drop') return void stream.destroy();
    const { status = 200, body = '' } = response;
    const type = body === '' ? {} : { 'Content-Type': 'application/xml' };
    const length = { 'Content-Length': Buffer.byteLength(body) };
    stream.writeHead(status, { ...type, ...length, ...response.headers }).end(body);
  };

  const server = createServer((incoming, stream) => {
    answer(incoming, stream).catch((error: unknown) => {
      stream.writeHead(500).end(String(error));
    });
  });
  server.listen(0, host);
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const baseUrl = `http://127.0.0.1:${port}`;
  return { baseUrl, url: `s3+${baseUrl}/${BUCKET}` };
}

async function readBody(incoming: IncomingMessage, fault: FaultKind | undefined): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let received = 0;
  try {
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      received += chunk.length;
      if (fault?.type === 'drop-after' && received >= fault.bytes) incoming.socket.destroy();
    }
  } catch {
    throw new BrokenUpload();
  }
  const body = Buffer.concat(chunks);
  const digest = (name: string) => createHash(name).update(body).digest('hex');
  const { 'content-md5': md5, 'x-amz-content-sha256': sha256 } = incoming.headers;
  if (md5 !== undefined && Buffer.from(String(md5), 'base64').toString('hex') !== digest('md5'))
    throw new S3Error(400, 'BadDigest', 'The Content-MD5 is not that of the body.');
  if (/^[0-9a-f]{64}$/.test(String(sha256)) && sha256 !== digest('sha256'))
    throw new S3Error(400, 'XAmzContentSHA256Mismatch', 'The SHA-256 is not that of the body.');
  if (fault?.type === 'late') throw new S3Error(fault.status, 'FaultInjected', 'After the body.');
  return body;
}

function createBucket(folder: string): (request: S3Request) => Promise<S3Response> {
  const uploads = new Map<string, Upload>();
  /** ETags of finished uploads by key, valid for one time of change. */
  const etags = new Map<string, { readonly time: number; readonly etag: string }>();

  const objectOf = (key: string) => {
    const file = path.join(folder, key);
    const stats = statSync(file, { throwIfNoEntry: false });
    if (!stats?.isFile()) return undefined;
    const known = etags.get(key);
    const etag = known?.time === stats.mtimeMs ? known.etag : md5Of(readFileSync(file));
    return { size: stats.size, etag };
  };

  const listObjects = (prefix: string): S3Response => {
    const keys = readdirSync(folder).filter((key) => !key.startsWith('.'));
    const Contents = keys.flatMap((Key) => {
      const object = Key.startsWith(prefix) ? objectOf(Key) : undefined;
      return object ? { Key, ETag: `"${object.etag}"`, Size: object.size } : [];
    });
    return xmlResponse('ListBucketResult', { IsTruncated: 'false', Contents });
  };

  const listUploads = (prefix: string): S3Response =>
    xmlResponse('ListMultipartUploadsResult', {
      IsTruncated: 'false',
      Upload: [...uploads]
        .filter(([, { key }]) => key.startsWith(prefix))
        .map(([UploadId, { key }]) => ({ Key: key, UploadId })),
    });

  const startUpload = ({ key }: S3Request): S3Response => {
    const UploadId = randomUUID();
    uploads.set(UploadId, { key, parts: new Map() });
    return xmlResponse('InitiateMultipartUploadResult', { Key: key, UploadId });
  };

  const putPart = async (request: S3Request, upload: Upload): Promise<S3Response> => {
    const body = await request.body();
    const etag = md5Of(body);
    upload.parts.set(Number(request.query.get('partNumber')), { etag, body });
    return { headers: { ETag: `"${request.hasWrongEtag ? WRONG_ETAG : etag}"` } };
  };

  const listParts = ({ query }: S3Request, { parts }: Upload): S3Response => {
    const after = Number(query.get('part-number-marker') ?? 0);
    const all = [...parts].sort(([left], [right]) => left - right);
    const page = all.filter(([number]) => number > after).slice(0, 1000);
    const [last = 0] = page.at(-1) ?? [];
    return xmlResponse('ListPartsResult', {
      NextPartNumberMarker: last,
      IsTruncated: String(last < (all.at(-1)?.[0] ?? 0)),
      Part: page.map(([PartNumber, { etag, body }]) => {
        return { PartNumber, ETag: `"${etag}"`, Size: body.length };
      }),
    });
  };

  const complete = async (request: S3Request, id: string, upload: Upload): Promise<S3Response> => {
    const listed = partsOf((await request.body()).toString());
    if (request.headers['if-none-match'] === '*' && objectOf(request.key))
      throw new S3Error(412, 'PreconditionFailed', 'The object exists.');
    if (listed.length === 0) throw new S3Error(400, 'MalformedXML', 'The request lists no parts.');
    const bodies = listed.map(({ number, etag }, index) => {
      const part = upload.parts.get(number);
      if (part?.etag !== etag) throw new S3Error(400, 'InvalidPart', `Part ${number} is unknown.`);
      if (index < listed.length - 1 && part.body.length < MIN_PART_SIZE)
        throw new S3Error(400, 'EntityTooSmall', `Part ${number} is too small.`);
      return part.body;
    });
    const file = path.join(folder, upload.key);
    writeFileSync(file, Buffer.concat(bodies));
    const digests = Buffer.from(listed.map(({ etag }) => etag).join(''), 'hex');
    const etag = `${request.hasWrongEtag ? WRONG_ETAG : md5Of(digests)}-${listed.length}`;
    etags.set(upload.key, { time: statSync(file).mtimeMs, etag });
    uploads.delete(id);
    return xmlResponse('CompleteMultipartUploadResult', { Key: upload.key, ETag: `"${etag}"` });
  };

  const serveUpload = async (request: S3Request, id: string): Promise<S3Response> => {
    const upload = uploads.get(id);
    if (upload?.key !== request.key) {
      throw new S3Error(404, 'NoSuchUpload', 'The upload does not exist.');
    }
    if (request.method === 'POST') return complete(request, id, upload);
    if (request.method === 'PUT') return putPart(request, upload);
    if (request.method === 'GET') return listParts(request, upload);
    uploads.delete(id);
    return { status: 204 };
  };

  return async (request) => {
    const { method, key, query, hasWrongEtag } = request;
    if (key === '') {
      if (method !== 'GET') throw new S3Error(405, 'MethodNotAllowed', 'The bucket is fixed.');
      const prefix = query.get('prefix') ?? '';
      return query.has('uploads') ? listUploads(prefix) : listObjects(prefix);
    }
    if (key.includes('/')) throw new S3Error(400, 'InvalidArgument', 'There are no prefixes.');
    const id = query.get('uploadId');
    if (id !== null) return serveUpload(request, id);
    if (method === 'POST') return startUpload(request);
    if (method === 'DELETE') {
      rmSync(path.join(folder, key), { force: true });
      return { status: 204 };
    }
    const object = objectOf(key);
    if (method !== 'HEAD' || !object) throw new S3Error(404, 'NoSuchKey', 'No such object.');
    const etag = hasWrongEtag ? WRONG_ETAG : object.etag;
    return { headers: { ETag: `"${etag}"`, 'Content-Length': String(object.size) } };
  };
}

function md5Of(bytes: Buffer): string {
  return createHash('md5').update(bytes).digest('hex');
}

/** Returns what a complete request lists. */
function partsOf(body: string) {
  return [...body.matchAll(/<Part>([\s\S]*?)<\/Part>/g)].map(([, part = '']) => ({
    number: Number(/<PartNumber>(\d+)</.exec(part)?.[1]),
    etag: /<ETag>(?:"|&quot;|&#34;)?([0-9a-f-]+)/.exec(part)?.[1] ?? '',
  }));
}

/** Elements in order; an array repeats its name. */
type Content = Readonly<Record<string, string | number | readonly Content[]>>;

function xmlResponse(name: string, content: Content): S3Response {
  const xmlns = name === 'Error' ? '' : ` xmlns="${NAMESPACE}"`;
  return {
    body: `<?xml version="1.0" encoding="UTF-8"?>\n<${name}${xmlns}>${xmlOf(content)}</${name}>`,
  };
}

function xmlOf(content: Content): string {
  return Object.entries(content)
    .map(([name, value]) => {
      if (typeof value === 'object') {
        return value.map((each) => `<${name}>${xmlOf(each)}</${name}>`).join('');
      }
      const text = String(value).replace(/[<>&"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
      return `<${name}>${text}</${name}>`;
    })
    .join('');
}
