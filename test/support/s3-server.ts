// An S3 server for tests: one bucket, which holds the files of a folder, multipart uploads in memory, and faults.

import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import path from 'node:path';
import { AwsV4Signer } from 'aws4fetch';
import type { ApiResponse } from '../../src/emulator/api-request.ts';
import {
  createFaultPicker,
  type FaultKind,
  faultResponse,
  parseFault,
  sendWithFault,
} from '../../src/emulator/faults.ts';
import type { RequestRecord } from '../../src/emulator/settings.ts';
import { listen } from './sockets.ts';

export const ACCESS_KEY = 'demo';
const BUCKET = '/s3';
const NAMESPACE = 'http://s3.amazonaws.com/doc/2006-03-01/';
const MIN_PART_SIZE = 5 * 2 ** 20;
const MAX_SKEW = 15 * 60_000;
const WRONG_ETAG = '0'.repeat(32);

interface S3Options {
  /** Where the objects are; created if it is missing. */
  readonly folder: string;
  readonly secret: string;
  /** As `imgctl emulator --fault` takes them; the kind `etag` shows a wrong ETag for an upload. */
  readonly faults: readonly string[];
  readonly onRequest: (record: RequestRecord) => void;
  readonly habits?: S3Habits | undefined;
}

/** What S3 storages do in different ways. */
export interface S3Habits {
  /** Returns the ETag that it shows for a digest [in quotes]. */
  readonly tagOf?: (digest: string) => string;
  /** Keys of objects of others, which it lists. */
  readonly keys?: readonly string[];
  /** True if it ignores encoding-type. */
  readonly encodesNothing?: boolean;
  /** True if it fails to list fewer keys than there are. */
  readonly cutsNoPages?: boolean;
}

interface Upload {
  readonly key: string;
  readonly parts: Map<number, Buffer>;
}

/** Starts the server for the running test. */
export async function serveS3({ folder, secret, faults, onRequest, habits }: S3Options) {
  mkdirSync(folder, { recursive: true });
  const bucket = createBucket(folder, habits);
  const parsed = faults.map((fault) => parseFault(fault.replace('=etag', '=partial')));
  const pickFault = createFaultPicker(parsed);
  const requests: RequestRecord[] = [];
  const server = createServer(async (incoming, stream) => {
    const { method = '', url: target = '', headers } = incoming;
    requests.push({ method, target, headers });
    onRequest({ method, target, headers });
    const url = new URL(target, `http://${headers.host}`);
    const fault = pickFault(method, url.pathname);
    const replaced = fault && faultResponse(fault);
    if (replaced) return sendWithFault(stream, replaced, undefined);
    try {
      const body = await readBody(incoming, fault);
      const refusal =
        (await signatureError(url, incoming, secret)) ?? bodyError(body, headers, fault);
      const response =
        refusal ?? bucket({ method, url, headers, body, hasWrongEtag: fault?.type === 'partial' });
      sendWithFault(stream, response, fault);
    } catch {
      // The upload broke.
      stream.destroy();
    }
  });
  return { ...(await listen(server)), requests };
}

async function readBody(incoming: IncomingMessage, fault?: FaultKind): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let received = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    received += chunk.length;
    if (fault?.type === 'drop-after' && received >= fault.bytes) incoming.socket.destroy();
  }
  return Buffer.concat(chunks);
}

/** Signs the request again with any key, as its Authorization header says (AWS Signature Version 4). */
async function signatureError(
  url: URL,
  { method = '', headers }: IncomingMessage,
  secretAccessKey: string,
): Promise<ApiResponse | undefined> {
  const { authorization = '', 'x-amz-date': datetime = '' } = headers;
  const time = String(datetime).replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5');
  if (!(Math.abs(Date.parse(time) - Date.now()) < MAX_SKEW))
    return s3Error(403, 'RequestTimeTooSkewed');
  const [, accessKeyId = '', region = '', names = ''] =
    /Credential=([^/]+)\/\d+\/([\w-]+)\/s3\/.*Headers=([^,]*)/.exec(authorization) ?? [];
  const signed = names.split(';').map((name) => [name, String(headers[name])]);
  const signer = new AwsV4Signer({
    ...{ method, url: url.href, headers: Object.fromEntries(signed), datetime: String(datetime) },
    ...{ accessKeyId, secretAccessKey, service: 's3', region, allHeaders: true },
  });
  const isSame = (await signer.sign()).headers.get('authorization') === authorization;
  return isSame ? undefined : s3Error(403, 'SignatureDoesNotMatch');
}

type Headers = IncomingMessage['headers'];

function bodyError(body: Buffer, headers: Headers, fault?: FaultKind): ApiResponse | undefined {
  const md5 = headers['content-md5'] ?? md5Of(body, 'base64');
  const sha256 = String(headers['x-amz-content-sha256']);
  const isSha256 = createHash('sha256').update(body).digest('hex') === sha256;
  if (md5 !== md5Of(body, 'base64')) return s3Error(400, 'BadDigest');
  if (/^[0-9a-f]{64}$/.test(sha256) && !isSha256) return s3Error(400, 'XAmzContentSHA256Mismatch');
  return fault?.type === 'late' ? s3Error(fault.status, 'FaultInjected') : undefined;
}

interface S3Request {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly body: Buffer;
  readonly hasWrongEtag: boolean;
}

function createBucket(
  folder: string,
  {
    tagOf = (digest) => `"${digest}"`,
    keys: others = [],
    encodesNothing = false,
    cutsNoPages = false,
  }: S3Habits = {},
): (request: S3Request) => ApiResponse {
  const uploads = new Map<string, Upload>();
  /** ETags of finished uploads by key, valid for one time of change. */
  const etags = new Map<string, { readonly time: number; readonly etag: string }>();

  const objectOf = (key: string) => {
    const file = path.join(folder, key);
    const stats = statSync(file, { throwIfNoEntry: false });
    if (!stats?.isFile()) return undefined;
    const known = etags.get(key);
    const etag = known?.time === stats.mtimeMs ? known.etag : md5Of(readFileSync(file));
    return { size: stats.size, etag: tagOf(etag) };
  };

  const listObjects = ({ searchParams }: URL): ApiResponse => {
    const EncodingType = encodesNothing ? '' : (searchParams.get('encoding-type') ?? '');
    // As in forms: a space is a plus.
    const encode = (key: string) => encodeURIComponent(key).replaceAll('%20', '+');
    const prefix = searchParams.get('prefix') ?? '';
    const own = readdirSync(folder).filter((name) => !name.startsWith('.'));
    const keys = [...others, ...own].filter((key) => key.startsWith(prefix));
    const isCut = keys.length > Number(searchParams.get('max-keys') ?? 1_000);
    if (isCut && cutsNoPages) return s3Error(500, 'InternalError');
    const Contents = keys.map((key) => {
      const { etag = '', size = 0 } = (others.includes(key) ? undefined : objectOf(key)) ?? {};
      return { Key: EncodingType === 'url' ? encode(key) : key, ETag: etag, Size: size };
    });
    return xmlResponse('ListBucketResult', { IsTruncated: 'false', EncodingType, Contents });
  };

  const listUploads = (prefix: string): ApiResponse => {
    const own = [...uploads].filter(([, { key }]) => key.startsWith(prefix));
    const Upload = own.map(([UploadId, { key }]) => ({ Key: key, UploadId }));
    return xmlResponse('ListMultipartUploadsResult', { IsTruncated: 'false', Upload });
  };

  const listParts = ({ parts }: Upload): ApiResponse => {
    const Part = [...parts].map(([PartNumber, body]) => {
      return { PartNumber, ETag: tagOf(md5Of(body)), Size: body.length };
    });
    return xmlResponse('ListPartsResult', { IsTruncated: 'false', Part });
  };

  const complete = (request: S3Request, { key, parts }: Upload): ApiResponse => {
    const { body, headers, hasWrongEtag } = request;
    const listed = [...body.toString().matchAll(/<Part>[\s\S]*?<\/Part>/g)].map(([part]) => {
      const content = parts.get(Number(/<PartNumber>(\d+)</.exec(part)?.[1])) ?? Buffer.alloc(0);
      const [, tag = ''] = /<ETag>([^<]*)</.exec(part) ?? [];
      return { content, isSame: unescapeXml(tag) === tagOf(md5Of(content)) };
    });
    const contents = listed.map(({ content }) => content);
    const isTooSmall = contents.slice(0, -1).some(({ length }) => length < MIN_PART_SIZE);
    if (headers['if-none-match'] === '*' && objectOf(key))
      return s3Error(412, 'PreconditionFailed');
    if (listed.some(({ isSame }) => !isSame)) return s3Error(400, 'InvalidPart');
    if (isTooSmall) return s3Error(400, 'EntityTooSmall');
    const file = path.join(folder, key);
    writeFileSync(file, Buffer.concat(contents));
    const digests = Buffer.from(contents.map((content) => md5Of(content)).join(''), 'hex');
    const etag = `${hasWrongEtag ? WRONG_ETAG : md5Of(digests)}-${listed.length}`;
    etags.set(key, { time: statSync(file).mtimeMs, etag });
    return xmlResponse('CompleteMultipartUploadResult', { Key: key, ETag: tagOf(etag) });
  };

  const serveUpload = (request: S3Request, key: string, id: string): ApiResponse => {
    const { method, url, body, hasWrongEtag } = request;
    const upload = uploads.get(id);
    if (upload?.key !== key) return s3Error(404, 'NoSuchUpload');
    if (method === 'GET') return listParts(upload);
    if (method === 'PUT') {
      upload.parts.set(Number(url.searchParams.get('partNumber')), body);
      return { status: 200, headers: { ETag: tagOf(hasWrongEtag ? WRONG_ETAG : md5Of(body)) } };
    }
    const response = method === 'POST' ? complete(request, upload) : { status: 204 };
    if (response.status < 300) uploads.delete(id);
    return response;
  };

  return (request) => {
    const { method, url, headers } = request;
    const key = decodeURIComponent(url.pathname.slice(BUCKET.length + 1));
    const prefix = url.searchParams.get('prefix') ?? '';
    if (key === '') return url.searchParams.has('uploads') ? listUploads(prefix) : listObjects(url);
    const id = url.searchParams.get('uploadId');
    if (id !== null) return serveUpload(request, key, id);
    if (method === 'POST') {
      const UploadId = randomUUID();
      uploads.set(UploadId, { key, parts: new Map() });
      return xmlResponse('InitiateMultipartUploadResult', { Key: key, UploadId });
    }
    const object = objectOf(key);
    if (method === 'DELETE') rmSync(path.join(folder, key), { force: true });
    if (method === 'DELETE') return { status: 204 };
    if ((method !== 'HEAD' && method !== 'GET') || !object) return s3Error(404, 'NoSuchKey');
    if (method === 'GET') return partOf(path.join(folder, key), headers);
    const ETag = request.hasWrongEtag ? tagOf(WRONG_ETAG) : object.etag;
    return { status: 200, headers: { ETag, 'Content-Length': String(object.size) } };
  };
}

function partOf(file: string, { range = '' }: Headers): ApiResponse {
  const [start = 0, end = 0] = range.slice('bytes='.length).split('-').map(Number);
  const headers = { 'Content-Length': `${end - start + 1}` };
  return { status: 206, headers, file: { path: file, start, end } };
}

function md5Of(bytes: Buffer, encoding: 'hex' | 'base64' = 'hex'): string {
  return createHash('md5').update(bytes).digest(encoding);
}

export const s3Error = (status: number, Code: string): ApiResponse => ({
  ...xmlResponse('Error', { Code, Message: `${Code}.` }),
  status,
});

/** Elements in order; an array repeats its name. */
type Content = Readonly<Record<string, string | number | readonly Content[]>>;

function xmlResponse(name: string, content: Content): ApiResponse {
  const body = `<${name} xmlns="${NAMESPACE}">${xmlOf(content)}</${name}>`;
  return { status: 200, headers: { 'Content-Type': 'application/xml' }, body };
}

function xmlOf(content: Content): string {
  const elements = Object.entries(content).flatMap(([name, value]) => {
    const all = typeof value === 'object' ? value.map(xmlOf) : [escapeXml(String(value))];
    return all.map((each) => `<${name}>${each}</${name}>`);
  });
  return elements.join('');
}

function escapeXml(text: string): string {
  return text.replace(/[<>&"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

const NAMES = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

function unescapeXml(text: string): string {
  return text.replace(/&(\w+);/g, (_all, name) => NAMES[name as keyof typeof NAMES] ?? '?');
}
