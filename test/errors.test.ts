// The error class, errors of the system in words, and which errors count as defects.

import fs from 'node:fs';
import { constants } from 'node:os';
import { describe, expect, it } from 'vitest';
import {
  asImgctlError,
  type ErrorCode,
  EXIT_CODES,
  errorReason,
  ImgctlError,
  permissionAdvice,
  SIGNALS,
  tryOr,
} from '../src/errors.ts';
import { advice } from '../src/facts.ts';
import { TransportError } from '../src/http/errors.ts';

const fail = (error: Error): never => {
  throw error;
};

const WAIT = advice('wait');

it.each([
  [{ message: 'up' }, { code: 'timeout', message: 'up', facts: WAIT }],
  [{ facts: undefined }, { code: 'timeout', message: 'down', facts: undefined }],
  [{ code: 'usage' } as const, { code: 'usage', exitCode: 2, message: 'down', facts: WAIT }],
])('ImgctlError.with returns an error of the same class and changes only %j', (changes, fields) => {
  const more = { facts: 'wait', cause: new TypeError('socket'), sent: true };
  const original = new TransportError('timeout', 'down', more);
  const changed: ImgctlError = original.with(changes);
  expect(changed).toBeInstanceOf(TransportError);
  expect(changed).toMatchObject({ ...fields, cause: more.cause, sent: true, transient: false });
  expect(changed.stack).toBe(original.stack?.replace('down', fields.message));
  expect(original).toMatchObject({ code: 'timeout', message: 'down', facts: WAIT });
});

it.each([
  [1, 'failed server-error bad-answer incomplete-list sync-failed invalid-package lock-broken'],
  [1, 'conflict storage-full locked'],
  [2, 'usage config ambiguous'],
  [3, 'unreachable timeout tls proxy outcome-unknown'],
  [4, 'not-logged-in wrong-credentials not-permitted token-refused'],
  [5, 'not-found empty'],
  [6, 'rate-limited'],
  [7, 'still-waiting'],
])('the exit code %i is that of the errors %s', (exitCode, names) => {
  const codes = names.split(' ') as ErrorCode[];
  expect(codes.map((code) => new ImgctlError(code, '').exitCode)).toEqual(
    codes.map(() => exitCode),
  );
});

it.each(Object.entries(SIGNALS))('%s ends a run as a shell reports it: %s', (signal, code) => {
  expect(EXIT_CODES[code]).toBe(128 + constants.signals[signal as NodeJS.Signals]);
});

it.each([
  ['EISDIR', 'it is a folder', undefined],
  ['ENOSPC', 'no space left on device', undefined],
  ['EROFS', 'read-only file system', undefined],
  ['EACCES', 'permission denied', "check the permissions: ls -ld . 'a b.ova'"],
  ['EPERM', 'operation not permitted', "check the permissions: ls -ld . 'a b.ova'"],
  ['ERR_OTHER', 'ERR_OTHER', undefined],
  [undefined, 'by hand', undefined],
])('the error %s of a file is "%s", with the hint: %s', (code, reason, hint) => {
  const error = Object.assign(new Error('by hand'), { code });
  expect(errorReason(error)).toBe(reason);
  expect(permissionAdvice(error, 'a b.ova')).toEqual(hint && advice(hint));
});

const DEBUG = 'run the command again with --debug to see the stack trace';
it.each([
  [new TypeError('broken'), 'unexpected error: broken', DEBUG],
  ['broken', 'unexpected error: broken', DEBUG],
  [
    Object.assign(new Error(), { code: 'MODULE_NOT_FOUND' }),
    'imgctl was upgraded or removed while this command ran',
    'check what it did, then run it again; if that fails, reinstall imgctl',
  ],
])('asImgctlError explains %j: %s', (thrown, message, hint) => {
  const error = { code: 'failed', cause: thrown, message, facts: advice(hint) };
  expect(asImgctlError(thrown)).toMatchObject(error);
});

it('an ImgctlError keeps what it is given, and asImgctlError returns it unchanged', () => {
  const known = { details: ['a'], status: 503, retryAfter: 7 };
  const error = new ImgctlError('failed', 'no', known);
  expect(asImgctlError(error)).toBe(error);
  expect(error).toMatchObject({ ...known, name: 'ImgctlError' });
});

describe('tryOr', () => {
  it.each([
    ['an error for users', () => fail(new ImgctlError('usage', 'no'))],
    ['JSON that is not valid', () => JSON.parse('{')],
    ['a URI that is not valid', () => decodeURIComponent('%')],
    ['a URL that is not valid', () => new URL('images')],
    ['a file that does not exist', () => fs.readFileSync('/nonexistent')],
    ['a path with a NUL', () => fs.readFileSync('\0')],
  ])('returns the other value for %s', (_what, read) => {
    expect(tryOr<unknown>(read, 'other')).toBe('other');
  });

  it.each([
    ['a property of undefined', () => Reflect.get(Object, 'none').length],
    ['a length that is not valid', () => new Array(-1)],
  ])('lets the defect through that %s causes', (_what, read) => {
    expect(() => tryOr<unknown>(read, 'other')).toThrow();
  });
});
