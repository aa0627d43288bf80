// The addresses of upload storages and of Redis: how they are read, stored and refused.

import { expect, it } from 'vitest';
import { parseRedisAddress, parseUploadUrl, storedFolder } from '../../src/config/storage-urls.ts';
import { hintOf, thrownBy } from '../support/errors.ts';
import { unixOnly } from '../support/platform.ts';
import { rows } from '../support/rows.ts';

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
  ['x//alice@host', 'file x//alice@host'],
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
  ['https://s3.amazonaws.com/b?secret', REMOVE],
  ['https://s3.amazonaws.com/b#secret', REMOVE],
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

const S3 = 's3+https://s3.amazonaws.com';

it.each<readonly [string, string | undefined]>([
  ...rows(`${S3}/bucket`, 's3://bucket', 'S3A://bucket', 'https://bucket.s3.amazonaws.com'),
  ...rows(`${S3}/bucket/x/y`, 's3://bucket/x/y', 'https://s3.amazonaws.com/bucket/x/y'),
  ...rows(`${S3}/bucket/x/y`, 'https://bucket.s3.amazonaws.com/x/y'),
  ['HTTPS://a.b.S3.eu-west-1.amazonaws.com/x', 's3+https://S3.eu-west-1.amazonaws.com/a.b/x'],
  ['HTTPS://s3.eu-west-1.amazonaws.com/b', 's3+HTTPS://s3.eu-west-1.amazonaws.com/b'],
  ['https://b.s3.amazonaws.com.example', 'dav+https://b.s3.amazonaws.com.example'],
  ['HTTP://host/x', 'dav+HTTP://host/x'],
  ...rows('dav+https://host/x', 'davs://host/x', 'WebDAVs://host/x'),
  ...rows('dav+http://host/x', 'dav://host/x', 'WebDAV://host/x'),
  ...rows(undefined, 's3://bucket/a%20b', 'xs3://bucket', 'xdavs://host/x', 'xdav://host/x'),
  ['https://s3.amazonaws.com/b@x', undefined],
  ...rows(undefined, 'ftp+https://host/x', 'ftp+https://s3.amazonaws.com/b', 's3+https://host//b'),
  ...rows(undefined, 'ftp+https://b.s3.amazonaws.com', 'x+dav+https://host/x', 'dav+ftp://host/x'),
  ...rows(undefined, ...['https', 'dav', 'davs'].map((scheme) => `${scheme}://host:99999/?x=1`)),
])('the invalid upload URL %s probably means %s', (text, meant) => {
  const hint = hintOf(thrownBy(() => parseUploadUrl(text)));
  expect(hint).toBe(meant ? `did you mean ${meant}? Otherwise, ${EXAMPLES}` : EXAMPLES);
});

it.each([
  ['redis://host', { tls: false, host: 'host', port: 6379, database: 0 }],
  ['REDISS://ann@Host:1/15', { tls: true, host: 'host', port: 1, username: 'ann', database: 15 }],
  ['redis://[::1]/', { host: '::1', username: undefined, database: 0 }],
  [' redis://host/1 ', { text: 'redis://host/1', database: 1 }],
])('%s is an address of Redis', (text, address) => {
  expect(parseRedisAddress(text)).toMatchObject(address);
});
