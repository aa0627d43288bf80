// Receives the body of an upload into a file, with the faults that uploads can have.

import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { dirname, join } from 'node:path';
import type { FaultKind } from './faults.ts';
import { HttpError } from './http.ts';

/** The connection ended before the body did. */
export class BrokenUpload extends Error {}

interface ReceiveOptions {
  readonly fault: FaultKind | undefined;
  /** Writes into the existing file from this byte on. */
  readonly start?: number | undefined;
}

/**
 * Replaces a file by the body, all at once. With `start` and some faults the file has what has arrived so far, and
 * keeps it.
 * @throws HttpError of the fault; BrokenUpload
 */
export async function receiveBody(
  incoming: IncomingMessage,
  file: string,
  { fault, start }: ReceiveOptions,
): Promise<void> {
  const isBroken = fault?.type === 'partial' || fault?.type === 'drop-after';
  const isInPlace = start !== undefined || isBroken;
  const target = isInPlace ? file : join(dirname(file), `.${randomUUID()}`);
  const handle = await open(target, start === undefined ? 'w' : 'r+');
  let received = 0;
  try {
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      await handle.write(chunk, 0, chunk.length, (start ?? 0) + received);
      received += chunk.length;
      if (fault?.type === 'drop-after' && received >= fault.bytes) incoming.socket.destroy();
    }
    await handle.close();
    if (fault?.type === 'late') throw new HttpError(fault.status, 'Fault injected after the body.');
    if (!isInPlace) await rename(target, file);
  } catch (error) {
    if (!isInPlace) await rm(target, { force: true });
    if (error instanceof HttpError) throw error;
    throw incoming.complete ? error : new BrokenUpload();
  } finally {
    await handle.close();
  }
}
