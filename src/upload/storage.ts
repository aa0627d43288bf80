// The interface of a storage that takes uploads, and the names and errors that all storages share.

import { ImgctlError } from '../errors.ts';
import type { HttpEvent } from '../http/message.ts';
import type { Clock } from '../io.ts';
import type { JsonObject } from '../json.ts';
import type { Source } from './source.ts';

export type Target =
  | { readonly kind: 'file'; readonly path: string }
  | {
      readonly kind: 'dav';
      readonly url: URL;
      readonly credentials: { readonly username: string; readonly password: string } | undefined;
    }
  | {
      readonly kind: 's3';
      readonly url: URL;
      readonly credentials: {
        readonly accessKey: string;
        readonly secret: string;
        readonly region: string;
      };
    };

export interface StorageOptions {
  readonly clock: Clock;
  /** Milliseconds without progress. */
  readonly timeout: number;
  readonly retries: number;
  /** Parts under way at the same time. */
  readonly parallel: number;
  /** Bytes. */
  readonly partSize: number;
  /** Extra trusted certificates, PEM. */
  readonly ca: string | undefined;
  readonly userAgent: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly onSecret: (secret: string) => void;
  readonly onEvent: ((event: HttpEvent) => void) | undefined;
}

export interface StoredFile {
  readonly size: number;
  /** Changes with the content, such as an ETag; null if the storage has none. */
  readonly tag: string | null;
}

/** What an interrupted upload left in the storage; enough to continue or to remove it. */
export type UploadState = JsonObject;

/** A file that is uploaded and checked, but not visible. */
export interface Staged {
  readonly state: UploadState;
  /** What the finished file will be. */
  readonly stored: StoredFile;
}

export interface PutOptions {
  readonly source: Source;
  /** The state that an earlier run saved for the same content. */
  readonly state: UploadState | undefined;
  /** Stores the state for a later run. */
  save(state: UploadState): Promise<void>;
  /** @param bytes of the file that the storage has, or that are under way */
  onProgress(bytes: number): void;
}

/** Every method throws ImgctlError: not-permitted, wrong-credentials, not-found, conflict, storage-full... */
export interface Storage {
  /** For messages. */
  readonly address: string;
  /** Sources need a last region, which is the whole file, with SHA-256. */
  readonly wantsDigest?: boolean;
  /** Returns the visible files by name. */
  list(): Promise<ReadonlyMap<string, StoredFile>>;
  /** Returns the visible file. */
  stat(name: string): Promise<StoredFile | undefined>;
  /** True if the stored file surely has the content of the source. */
  holds(name: string, stored: StoredFile, source: Source): Promise<boolean>;
  /** Uploads the file and checks what arrived; it stays invisible. Continues an earlier upload if possible. */
  put(name: string, options: PutOptions): Promise<Staged>;
  /**
   * Makes the uploaded file visible.
   * @param replace overwrites a file of that name
   * @throws ImgctlError conflict
   */
  finish(name: string, state: UploadState, replace: boolean): Promise<StoredFile>;
  /** Removes an upload that is not finished. */
  remove(name: string, state: UploadState): Promise<void>;
  /** Checks address and credentials before the upload. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** Returns the hidden name of a file that is not complete. */
export function partName(name: string): string {
  return `.${name}.imgctl-part`;
}

export function isHidden(name: string): boolean {
  return name.startsWith('.');
}

export function conflict(name: string, address: string): ImgctlError {
  return new ImgctlError('conflict', `${address} already has another ${name}`, {
    hint: 'rename your file, or replace it with: --on-conflict replace',
  });
}

export function storageFull(address: string, reason: string, cause?: unknown): ImgctlError {
  return new ImgctlError('storage-full', `${address} is full (${reason})`, {
    hint: 'free space or raise the quota, then run the command again',
    cause,
  });
}

/** @param what differs, such as `its size is 3 bytes` */
export function arrivedWrong(name: string, what: string): ImgctlError {
  return new ImgctlError('failed', `${name} did not arrive whole: ${what}`, {
    hint: 'run the command again; if it fails again, ask the administrators of the storage',
  });
}
