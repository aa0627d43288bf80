// What a WebDAV server can do with parts of files: reading them, and writing them by Content-Range.

import { randomBytes } from 'node:crypto';
import { ImgctlError } from '../errors.ts';
import { isSuccess } from '../http/retry.ts';
import { bodyOf, type Requests } from './requests.ts';
import { partName } from './storage.ts';

/** Returns the bytes, or undefined if the server does not send exactly them. */
export async function readRange(
  send: Requests['send'],
  url: URL,
  start: number,
  end: number,
): Promise<Buffer | undefined> {
  const headers = { range: `bytes=${start}-${end - 1}`, 'accept-encoding': 'identity' };
  const response = await send({ method: 'GET', url, headers }).catch((error: unknown) => {
    // A server without ranges sends the whole file.
    if (error instanceof ImgctlError && error.code === 'bad-answer') return undefined;
    throw error;
  });
  const isRange = response?.status === 206 || (response?.status === 200 && start === 0);
  return isRange && response.body.length === end - start ? response.body : undefined;
}

/**
 * True if Content-Range appends to a file, tried on a scratch file. Servers answer 501 (nginx), or replace the
 * whole file without a word (rclone).
 */
export async function supportsRanges(
  send: Requests['send'],
  urlOf: (name: string) => URL,
): Promise<boolean> {
  const url = urlOf(partName(`probe-${randomBytes(6).toString('hex')}`));
  const put = async (text: string, headers: Record<string, string> = {}) => {
    const body = bodyOf(Buffer.from(text));
    return isSuccess(await send({ method: 'PUT', url, headers, body, repeatable: true }));
  };
  try {
    const isWritten =
      (await put('probe-')) && (await put('again', { 'content-range': 'bytes 6-10/11' }));
    const { body } = await send({ method: 'GET', url });
    return isWritten && body.toString() === 'probe-again';
  } finally {
    // A probe that stays does no harm, and this error must not replace an earlier one.
    await send({ method: 'DELETE', url, repeatable: true }).catch(() => {});
  }
}
