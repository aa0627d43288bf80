// The interface of a storage that takes uploads. Begin here: the way of a package into the storage.
//
//     planPackages      plan.ts       compares its files with the storage: upload, replace, skip …
//       storage.look                    absent, or of another size? If a proof says nothing:
//       storage.compareContent          same or different; by read-back.ts if need be
//     transferPackage   transfer.ts   sends what is needed, unless proofs.ts has a proof for all
//       storage.put                     sends a file, invisible; upload-file.ts checks its bytes
//       upload.publish                  gives it its name, once all files of the package are there
//     findChanged       transfer.ts   looks at all files once more before the sync
//
//     folder.ts   a folder            put: writePart, publish: publishPart
//     dav.ts      WebDAV              put: uploadPart, publish: dav-publish.ts, which sends MOVE by
//                                     dav-move.ts; dav-folder, dav-parts
//     s3.ts       S3                  put: s3-upload.ts, publish: s3-publish.ts, which sends
//                                     CompleteMultipartUpload by s3-complete.ts; s3-bucket.ts
//
// WebDAV and S3 send through requests.ts; responses.ts and s3-responses.ts read the responses.
// part-names.ts names the hidden files of folder.ts and dav.ts. trial.ts is `doctor --upload`.

import type { ImgctlError } from '../errors.ts';
import type { HttpEvent } from '../http/message.ts';
import type { Clock } from '../io.ts';
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
  /** Where a push leaves the names of its parts for the next one. Only one push may have it. */
  readonly partsFile: string | undefined;
  readonly onWarning: (text: string) => void;
  readonly onSecret: (secret: string) => void;
  /** Masks secrets. */
  readonly redact: (text: string) => string;
  readonly onEvent: ((event: HttpEvent) => void) | undefined;
}

/** Receives the bytes of the file that the storage has, or that are under way. */
export type OnBytes = (bytes: number) => void;

/** A visible file, as the storage shows it. */
export interface StoredFile {
  /** Such as its ETag, time and size. */
  readonly fingerprint: string;
  /** True if every later change would show in it. */
  readonly isSettled: boolean;
  readonly size: number;
  /** Its ETag, as it is compared; empty if there is none. */
  readonly tag: string;
}

/** The result of `publish`. */
export type Published =
  | { readonly kind: 'visible'; readonly stored: StoredFile }
  /** Others see nothing of it. */
  | { readonly kind: 'refused'; readonly error: ImgctlError }
  /** The file of that name seems to be another one, but only its content can tell. */
  | { readonly kind: 'conflict'; readonly error: ImgctlError };

/** A file that was uploaded and checked, but is not visible: a hidden part, or an upload of S3. */
export interface UnpublishedFile {
  /** Makes it visible, and checks it again. @throws ImgctlError: others may see it, or not */
  publish(replace: boolean): Promise<Published>;
  /** Removes it, unless a later run can continue it after this error. */
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
  /** @throws ImgctlError unless the folder or bucket is there, and the credentials are accepted */
  check(): Promise<void>;
  /** Returns the names of the visible files. */
  list(): Promise<string[]>;
  /** Returns the visible file. @throws ImgctlError usage: no room for the name */
  look(name: string): Promise<StoredFile | undefined>;
  /** Compares the file with the visible one of the same size, as `look` has returned it. */
  compareContent(name: string, file: UploadSource, stored: StoredFile): Promise<Comparison>;
  /** Uploads the file and checks what arrived; it stays invisible. */
  put(name: string, file: UploadSource, onProgress: OnBytes): Promise<UnpublishedFile>;
  /** Removes the file, if it exists, and what WebDAV and S3 know of unfinished uploads of it. */
  remove(name: string): Promise<void>;
  /** Removes the parts of killed processes, and of uploads of this one that failed. */
  removeDeadParts(): Promise<void>;
  close(): Promise<void>;
}
