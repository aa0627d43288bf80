// The journal of a target: what was uploaded to it from this machine, and the sync that followed.

import { readJsonFile, writeJsonFile } from '../files/atomic-file.ts';
import { keyedFile } from '../files/paths.ts';
import type { System } from '../io.ts';
import { isObject, type JsonObject } from '../json.ts';
import type { StoredFile, UploadState } from './storage.ts';

interface FileRecord {
  /** Of the local file. */
  readonly identity: string;
  /** Of an upload that is not finished. */
  readonly state?: UploadState;
  /** The file in the storage, once it is uploaded; visible if there is no `state`. */
  readonly stored?: StoredFile;
}

export interface SyncRecord {
  /** Base URL and user. */
  readonly service: string;
  /** null if the response to the submit never arrived. */
  readonly id: string | null;
  readonly state: 'submitting' | 'submitted' | 'succeeded' | 'failed';
  /** Identities of the synced files by name. */
  readonly files: Readonly<Record<string, string>>;
  /** The service's updated_on of each image before the sync; null if there was none. */
  readonly before: Readonly<Record<string, string | null>>;
}

/** Files are forgotten beyond this number, the oldest first. */
const MAX_FILES = 1_000;

export class Journal {
  readonly #file: string | undefined;
  readonly #system: System;
  readonly #files = new Map<string, FileRecord>();
  #sync: SyncRecord | undefined;
  readonly #onFailure: (error: unknown) => void;

  /**
   * @param file undefined if nothing can be stored
   * @param onFailure called if the journal cannot be written; the push continues with what is in memory
   */
  constructor(file: string | undefined, system: System, onFailure: (error: unknown) => void) {
    this.#file = file;
    this.#system = system;
    this.#onFailure = onFailure;
    const result = file === undefined ? undefined : readJsonFile(file);
    if (result?.state !== 'read') return;
    const { files, sync } = result.value;
    for (const [name, record] of Object.entries(isObject(files) ? files : {})) {
      if (isFileRecord(record)) this.#files.set(name, record);
    }
    if (isSyncRecord(sync)) this.#sync = sync;
  }

  file(name: string): FileRecord | undefined {
    return this.#files.get(name);
  }

  async setFile(name: string, record: FileRecord | undefined): Promise<void> {
    this.#files.delete(name);
    if (record) this.#files.set(name, record);
    await this.#save();
  }

  /** Returns the identities of all files that are visible in the storage, by name. */
  finished(): Record<string, string> {
    const finished = [...this.#files].filter(([, { state, stored }]) => stored && !state);
    return Object.fromEntries(finished.map(([name, { identity }]) => [name, identity]));
  }

  get sync(): SyncRecord | undefined {
    return this.#sync;
  }

  async setSync(record: SyncRecord | undefined): Promise<void> {
    this.#sync = record;
    await this.#save();
  }

  async #save(): Promise<void> {
    if (this.#file === undefined) return;
    const files = Object.fromEntries([...this.#files].slice(-MAX_FILES));
    const journal = { files, ...(this.#sync ? { sync: this.#sync } : {}) };
    const written = writeJsonFile(this.#file, journal as unknown as JsonObject, this.#system);
    await written.catch(this.#onFailure);
  }
}

/** Returns the file of a target's journal, which is also the file to lock. */
export function journalFile(directory: string, key: readonly string[]): string {
  return keyedFile(directory, 'push', key);
}

function isFileRecord(value: unknown): value is FileRecord {
  if (!isObject(value) || typeof value.identity !== 'string') return false;
  const { state, stored } = value;
  if (state !== undefined && !isObject(state)) return false;
  if (stored === undefined) return true;
  const hasTag = isObject(stored) && (stored.tag === null || typeof stored.tag === 'string');
  return hasTag && typeof stored.size === 'number';
}

function isSyncRecord(value: unknown): value is SyncRecord {
  if (!isObject(value)) return false;
  const { state, service, id, files, before } = value;
  if (typeof state !== 'string' || typeof service !== 'string') return false;
  return (id === null || typeof id === 'string') && isObject(files) && isObject(before);
}
