// Unpacks what no digest proves, as its bytes pass: gzip to its end, and disks grain by grain.

import { setImmediate } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';
import type { ByteCheck } from '../chunks.ts';
import type { FileCheck } from './checks.ts';
import { type GrainLayout, GrainReader } from './grains.ts';
import type { PackageFile } from './package-file.ts';

/** How a file is unpacked, and the maximum number of bytes that it may unpack to. */
export type Packed =
  | { readonly kind: 'grains'; readonly grains: GrainLayout; readonly maxBytes: number }
  /** It may have a stream-optimised disk inside. */
  | { readonly kind: 'gzip'; readonly grains: GrainLayout | null; readonly maxBytes: number };

/** Bytes that are unpacked at a time, between which an interrupt counts. */
const SLICE = 64 * 1024;

export function unpackCheck(file: PackageFile, packed: Packed, signal?: AbortSignal): FileCheck {
  const start = (): ByteCheck => {
    const { kind, grains, maxBytes } = packed;
    const reader =
      kind === 'gzip' ? new GzipReader(grains, maxBytes) : new GrainReader(grains, maxBytes);
    return {
      async update(chunk) {
        for (let at = 0; at < chunk.length && !signal?.aborted; at += SLICE) {
          await reader.update(chunk.subarray(at, at + SLICE));
          await setImmediate();
        }
      },
      end: () => reader.end(),
    };
  };
  return { file, kind: 'unpacked', start };
}

/**
 * Unpacks gzip. Behind the last member, Node's gunzip counts no byte that is written to it, and
 * calls back no write: what it left over must be padding of zeros, or the file is damaged.
 */
class GzipReader implements ByteCheck {
  readonly #grains: GrainReader | null;
  readonly #gunzip = createGunzip({ chunkSize: SLICE });
  readonly #closed = new Promise<void>((resolve) => this.#gunzip.once('close', resolve));
  /** Ends the last write if gunzip closes without calling it back. */
  #endWrite = () => {};
  #problem: string | null = null;
  #received = 0;
  #unpacked = 0;

  constructor(grains: GrainLayout | null, maxBytes: number) {
    this.#grains = grains && new GrainReader(grains, maxBytes);
    this.#gunzip.once('close', () => this.#endWrite());
    this.#gunzip.on('error', ({ message }) => this.#fail(`damaged gzip: ${message}`));
    this.#gunzip.on('data', (bytes: Buffer) => {
      this.#unpacked += bytes.length;
      if (this.#unpacked > maxBytes) this.#fail(`unpacks to more than ${maxBytes} bytes`);
      else this.#grains?.update(bytes);
    });
  }

  async update(chunk: Buffer): Promise<void> {
    if (this.#problem !== null) return;
    if (this.#leftOver === 0) await this.#write(chunk);
    this.#received += chunk.length;
    const padding = chunk.subarray(Math.max(0, chunk.length - this.#leftOver));
    if (padding.some((byte) => byte !== 0)) this.#fail('damaged gzip: more data after its end');
  }

  /** The bytes after the last member, of all that were received. */
  get #leftOver(): number {
    return this.#received - this.#gunzip.bytesWritten;
  }

  async end(): Promise<string | null> {
    this.#gunzip.end();
    await this.#closed;
    if (this.#problem !== null) return this.#problem;
    if (this.#unpacked === 0) return 'unpacks to no bytes';
    return this.#grains ? this.#grains.end() : null;
  }

  #write(chunk: Buffer): Promise<void> {
    return new Promise((resolve) => {
      this.#endWrite = resolve;
      this.#gunzip.write(chunk, () => resolve());
    });
  }

  /** Keeps the first problem. */
  #fail(problem: string): void {
    this.#problem ??= problem;
    this.#gunzip.destroy();
  }
}
