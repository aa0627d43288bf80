// The interface of a storage that takes uploads; names of parts, and the errors of all storages.

import { randomBytes } from 'node:crypto';
import { type ErrorDetails, ImgctlError } from '../errors.ts';
import { shortDigest } from '../files/paths.ts';
import type { HttpEvent } from '../http/message.ts';
import type { Clock, System } from '../io.ts';
import type { Limit } from './rate.ts';
import type { UploadSource } from './upload-file.ts';

export interface StorageOptions {
  readonly clock: Clock;
  /** Milliseconds without progress. */
  readonly timeout: number;
  readonly retries: number;
  /** Parts under way at the same time. */
  readonly parallel: number;
  /** Bytes. */
  readonly partSize: number;
  readonly limit: Limit;
  /** Extra trusted certificates, PEM. */
  readonly ca: string | undefined;
  readonly userAgent: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The file for the names of parts, for a storage that lists no hidden files, such as nginx. */
  readonly partsFile: string | undefined;
  readonly onWarning: (text: string) => void;
  readonly onSecret: (secret: string) => void;
  /** Masks secrets. */
  readonly redact: (text: string) => string;
  readonly onEvent: ((event: HttpEvent) => void) | undefined;
}

/** Receives the bytes of the file that the storage has, or that are under way. */
export type OnBytes = (bytes: number) => void;

/** How a storage shows a file whose content is known. */
export interface StoredFile {
  /** Such as its ETag, time and size. */
  readonly fingerprint: string;
  /** True if every later change would show in it. */
  readonly isReliable: boolean;
}

/** The result of `publish`. */
export type Published =
  | { readonly kind: 'visible'; readonly stored: StoredFile }
  /** Others see nothing of the part. */
  | { readonly kind: 'refused'; readonly error: ImgctlError }
  /** The file of that name seems to be another one, but only its content can tell. */
  | { readonly kind: 'conflict'; readonly error: ImgctlError };

/** A part: a file that is uploaded and checked, but not visible. */
export interface UnpublishedFile {
  /** Makes the part visible, and checks it again. @throws ImgctlError: others may see it, or not */
  publish(replace: boolean): Promise<Published>;
  /** Removes the part, unless a later run can continue it after this error. */
  discard(error: unknown): Promise<void>;
}

/** What a storage has of that name, compared with a file. */
export type Comparison =
  | { readonly state: 'absent' }
  | { readonly state: 'same'; readonly stored: StoredFile }
  /** With a note if their contents cannot be compared. */
  | { readonly state: 'different'; readonly note?: string };

/** Every method throws ImgctlError, such as not-permitted, wrong-credentials or storage-full. */
export interface Storage {
  readonly address: string;
  check(): Promise<void>;
  list(): Promise<string[]>;
  /**
   * Compares the file with the visible one.
   * @param equalFingerprint the fingerprint of the stored file when it had the same content
   * @throws ImgctlError usage: no room for the name
   */
  compare(name: string, file: UploadSource, equalFingerprint?: string): Promise<Comparison>;
  /** Returns the fingerprint of the visible file by one request; undefined if there is none. */
  look(name: string): Promise<string | undefined>;
  /** Uploads the file and checks what arrived; it stays invisible. */
  put(name: string, file: UploadSource, onProgress: OnBytes): Promise<UnpublishedFile>;
  /** Removes the file, and the unfinished uploads of that name. */
  remove(name: string): Promise<void>;
  /** Removes the parts of killed processes. @param isLast this push writes no more parts */
  removeDeadParts(isLast: boolean): Promise<void>;
  close(): Promise<void>;
}

/** Milliseconds. */
const MAX_PART_AGE = 24 * 3_600_000;
/** Milliseconds without a change: a container with the name of this host has other processes. */
const MIN_PART_AGE = 600_000;

/**
 * Returns a new name for a part, which tells the process that writes it. Nextcloud and ownCloud
 * refuse names that end in `.part` and `.filepart`.
 */
export function partName(name: string, system: System): string {
  const digest = shortDigest(name, 16);
  const unique = randomBytes(4).toString('hex');
  return `.imgctl-${digest}-${hostPart(system)}-${system.pid}-${unique}.partial`;
}

/** True for a part of another upload to the same name. */
export function isRival(name: string, part: string): boolean {
  return name !== part && name.startsWith(part.slice(0, '.imgctl-0123456789abcdef-'.length));
}

/** Long names of hosts often begin alike, so that the beginning alone would mix them up. */
function hostPart(system: System): string {
  const host = system.hostname();
  if (/^[\w.-]{1,16}$/.test(host)) return host;
  const digest = shortDigest(host, 8);
  return `${host.replace(/[^\w.-]/g, '_').slice(0, 7)}_${digest}`;
}

/** What `partName` returns, with the host and the process. */
const PART = /^\.imgctl-[0-9a-f]{16}-(.+)-(\d+)-[0-9a-f]{8}\.partial$/;

export function isPart(name: string): boolean {
  return PART.test(name);
}

/**
 * True for a part of this host whose process has ended, after 10 minutes; for any after a day.
 * @param age milliseconds since its last change
 */
export function isDeadPart(name: string, age: number, system: System): boolean {
  const [, host, pid] = PART.exec(name) ?? [];
  if (host === undefined) return false;
  const isAbandoned = host === hostPart(system) && !system.isAlive(Number(pid));
  return age > (isAbandoned ? MIN_PART_AGE : MAX_PART_AGE);
}

export function isHidden(name: string): boolean {
  return name.startsWith('.');
}

export function nameTooLong(name: string, address: string): ImgctlError {
  const message = `the name ${name} is too long for ${address}`;
  return new ImgctlError('usage', message, { facts: 'give the file a shorter name' });
}

export function conflict(name: string, address: string, note?: string): ImgctlError {
  const message = `${address} already has a different ${name}`;
  return new ImgctlError('conflict', message, { facts: { kind: 'conflict', note } });
}

/** After an upload: another push seems to have stored a file of that name at the same moment. */
export function replacedError(name: string, address: string, replace: boolean): ImgctlError {
  if (!replace) return conflict(name, address);
  return arrivedWrong(name, 'another file replaced it').with({ code: 'conflict' });
}

export function notAFile(name: string, address: string): ImgctlError {
  const advice = 'rename your file, or remove the other from the storage';
  const message = `${name} in ${address} is not a file`;
  return new ImgctlError('conflict', message, { facts: advice });
}

/** What made a storage refuse a file: the error of a system call, or the status of a response. */
type RefusedBy = Pick<ErrorDetails, 'cause' | 'status'>;

export function storageFull(address: string, reason: string, by: RefusedBy): ImgctlError {
  const advice = 'free space or raise the quota, then run the command again';
  const message = `${address} is full (${reason})`;
  return new ImgctlError('storage-full', message, { facts: advice, ...by });
}

/** One file is too large for a storage that has room for others. */
export class FileTooLargeError extends ImgctlError {}

export function fileTooLarge(address: string, reason: string, by: RefusedBy): ImgctlError {
  const advice = 'ask the administrators of the storage to raise its limit';
  const message = `${address} does not accept files of this size (${reason})`;
  return new FileTooLargeError('failed', message, { facts: advice, ...by });
}

/** @param what differs, such as `its size is 3 bytes` */
export function arrivedWrong(name: string, what: string): ImgctlError {
  const advice = 'run the command again; if it fails again, ask the administrators of the storage';
  return new ImgctlError('failed', `the upload of ${name} failed: ${what}`, { facts: advice });
}
