// The errors that all storages have.

import { type ErrorDetails, ImgctlError } from '../errors.ts';

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
