// The addresses of upload storages: how they are read, stored and refused.

import { expect, it } from 'vitest';
import { parseUploadUrl, storedFolder } from '../../src/config/storage-urls.ts';
import { hintOf, thrownBy } from '../support/errors.ts';
import { unixOnly } from '../support/platform.ts';

/** Returns `dav https://host/x` or `file /srv/x`. */
function read(text: string): string {
  const target = parseUploadUrl(text);
  return `${target.kind} ${'url' in target ? target.url.href : target.path}`;
}

unixOnly('paths are written for Unix').each([
  ['dav+https://host/x', 'dav https://host/x'],
  [' DAV+HTTP://host:81/x// \n', 'dav http://host:81/x'],
  ['dav+https://host', 'dav https://host/'],
  ['s3+https://host/bucket', 's3 https://host/bucket'],
  ['S3+https://host/bucket/a/b/', 's3 https://host/bucket/a/b'],
  ['file:///srv/a%20b', 'file /srv/a b'],
  ['FILE:/srv', 'file /srv'],
  ['/srv/x ', 'file /srv/x '],
  [' uploads', 'file uploads'],
  ['./a:b', 'file ./a:b'],
  ['C:\\uploads', 'file C:\\uploads'],
  ['//server/share', 'file //server/share'],
  ['3+https://host/x', 'file 3+https://host/x'],
])('the upload URL %j is %s', (text, expected) => {
  expect(read(text)).toBe(expected);
});

const EXAMPLES =
  'use a URL such as dav+https://host/path or s3+https://host/bucket/prefix, or a folder such as /mnt/uploads';
const REMOVE = 'remove the user name, password, query and fragment from the URL';
it.each([
  ['', EXAMPLES],
  ['/', EXAMPLES],
  ['file:///', EXAMPLES],
  ['file:uploads', EXAMPLES],
  ['file://host/x', EXAMPLES],
  ['ftp://host/x', EXAMPLES],
  ['dav+ftp://host/x', EXAMPLES],
  ['xdav+https://host/x', EXAMPLES],
  ['dav+https://', EXAMPLES],
  ['s3+https://host', EXAMPLES],
  ['s3+https://host//', EXAMPLES],
  ['s3+https://host/%2Fx', EXAMPLES],
  ['s3+https://host/%', EXAMPLES],
  ['//alice:secret@host', EXAMPLES],
  ['dav+https://alice@host', REMOVE],
  ['dav+https://:secret@host', REMOVE],
  ['s3+https://host/bucket?secret', REMOVE],
  ['dav+https://host/#secret', REMOVE],
])('the upload URL %j is refused', (text, hint) => {
  const error = thrownBy(() => parseUploadUrl(text));
  expect([error.code, hintOf(error)]).toEqual(['usage', hint]);
  expect(error.message).toMatch(/^invalid upload URL: /);
  expect(error.message).not.toContain('secret');
});

unixOnly('paths are written for Unix').each([
  ['a b', 'file:///work/a%20b'],
  ['../x', 'file:///x'],
  ['/srv', 'file:///srv'],
  ['dav+https://host/x', undefined],
])('the folder %s is stored as %s', (text, stored) => {
  expect(storedFolder(parseUploadUrl(text), 'upload-url', '/work')).toBe(stored);
});

unixOnly('paths are written for Unix')('the root folder is not stored', () => {
  expect(thrownBy(() => storedFolder(parseUploadUrl('..'), 'upload-url', '/work')).code).toBe(
    'usage',
  );
});
