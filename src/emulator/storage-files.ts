// Requests, responses and file names of the embedded storage.

import type { IncomingMessage } from 'node:http';
import type { FaultKind } from './faults.ts';
import { type ApiRequest, HttpError } from './http.ts';

export interface StorageRequest {
  readonly api: ApiRequest;
  readonly incoming: IncomingMessage;
  readonly fault: FaultKind | undefined;
  /** Returns the folder of a user, who may have no file in it yet. */
  folderOf(user: string): string;
}

export interface StorageResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** XML or empty. */
  readonly body?: string;
  /** A file to send, or the range of it that was requested. */
  readonly file?: string;
}

export interface StoredFile {
  readonly name: string;
  readonly size: number;
  readonly modified: Date;
}

/** Returns the last segment of a path below a prefix. @throws HttpError: none, or not one file of the folder */
export function fileName(path: string): string {
  let name: string;
  try {
    name = decodeURIComponent(path);
  } catch {
    throw new HttpError(400, 'The address is not properly encoded.');
  }
  if (name === '' || name === '.' || name === '..' || /[/\\\0]/.test(name)) {
    throw new HttpError(409, 'The storage has no folders.');
  }
  return name;
}

export function escapeXml(text: string): string {
  return text.replace(/[<>&"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
