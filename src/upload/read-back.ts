// Compares a file with the one that an HTTP storage has, by reading that one back in pieces.

import { TransportError } from '../http/errors.ts';
import type { HttpResponse } from '../http/message.ts';
import { PIECE, type StorageRequest } from './requests.ts';
import type { Comparison, StoredFile } from './storage.ts';
import type { UploadSource } from './upload-file.ts';

/** @param get sends a GET with these rules. @throws ImgctlError for a status that is no success */
export async function readBack(
  file: UploadSource,
  stored: StoredFile,
  get: (rules: Pick<StorageRequest, 'headers' | 'asStored'>) => Promise<HttpResponse>,
): Promise<Comparison> {
  for (let start = 0; start < file.size; start += PIECE) {
    const end = Math.min(start + PIECE, file.size);
    const rules = { headers: { range: `bytes=${start}-${end - 1}` }, asStored: true };
    const response = await get(rules).catch((error: unknown) => {
      // The response was given up.
      if (error instanceof TransportError && error.facts?.kind === 'too-large') return undefined;
      throw error;
    });
    // A server without ranges sends the whole file each time.
    if (response?.body.length !== end - start) {
      const note = 'imgctl cannot compare them: the server does not return parts of files';
      return { state: 'different', note };
    }
    let piece = response.body;
    for await (const chunk of file.read(start, end)) {
      if (!chunk.equals(piece.subarray(0, chunk.length))) return { state: 'different' };
      piece = piece.subarray(chunk.length);
    }
  }
  return { state: 'same', stored };
}
