// The XML of the embedded S3 storage: errors, lists and the request that completes an upload.

import { escapeXml, type StorageResponse, type StoredFile } from './storage-files.ts';

const NAMESPACE = 'http://s3.amazonaws.com/doc/2006-03-01/';

export class S3Error extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** Elements in order; an array repeats its name. */
export type Content = Readonly<Record<string, string | number | readonly Content[]>>;

export function xmlResponse(name: string, content: Content, status = 200): StorageResponse {
  const xmlns = name === 'Error' ? '' : ` xmlns="${NAMESPACE}"`;
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<${name}${xmlns}>${xmlOf(content)}</${name}>`;
  return { status, body };
}

export function errorResponse({ status, code, message }: S3Error): StorageResponse {
  return xmlResponse('Error', { Code: code, Message: message }, status);
}

export interface S3Object extends StoredFile {
  /** Without quotes. */
  readonly etag: string;
}

export function objectContent({ name, size, modified, etag }: S3Object): Content {
  return {
    Key: name,
    LastModified: modified.toISOString(),
    ETag: `"${etag}"`,
    Size: size,
    StorageClass: 'STANDARD',
  };
}

/** Returns number, ETag and CRC-32 of each part that a complete request lists. */
export function readParts(body: string): [number: number, etag: string, crc: string | undefined][] {
  return [...body.matchAll(/<Part>([\s\S]*?)<\/Part>/g)].map(([, part = '']) => [
    Number(/<PartNumber>(\d+)</.exec(part)?.[1]),
    /<ETag>(?:"|&quot;|&#34;)?([0-9a-f-]+)/.exec(part)?.[1] ?? '',
    /<ChecksumCRC32>([^<]+)/.exec(part)?.[1],
  ]);
}

function xmlOf(content: Content): string {
  return Object.entries(content)
    .map(([name, value]) => {
      if (typeof value === 'object') {
        return value.map((each) => `<${name}>${xmlOf(each)}</${name}>`).join('');
      }
      return `<${name}>${escapeXml(String(value))}</${name}>`;
    })
    .join('');
}
