// S3 storages with habits of their own: the ETags that they give, and the keys of other objects that they list.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { S3Habits } from '../support/s3-server.ts';
import { s3Error } from '../support/s3-server.ts';
import type { ScriptedResponse } from '../support/scripted-server.ts';
import { pushToScript, storageUser, writeOva } from '../support/uploads.ts';

const OPTIONS = '--no-sync --part-size 5M --parallel 1 --retries 0';
/** Two parts. */
const SIZE = 5.5 * 2 ** 20;

const userOf = (habits: S3Habits, faults: readonly string[] = []) =>
  storageUser('s3', faults, undefined, undefined, habits);

describe('push to an S3 storage with ETags', () => {
  it.each<[string, (digest: string) => string]>([
    ['in upper case', (digest) => `"${digest.toUpperCase()}"`],
    ['that are names', (digest) => `"Part <${digest.slice(0, 8)}> & 'Co'"`],
    ['that are weak', (digest) => `W/"${digest}"`],
  ])(
    '%s: sends them back as they are, after a failure too, and knows the file again',
    async (_what, tagOf) => {
      const { imgctl, work, folder, stored } = await userOf({ tagOf }, ['PUT /s3/*=500,every=2']);
      const file = writeOva(work, 'web', SIZE);
      expect((await imgctl(`push ${file} ${OPTIONS}`)).exitCode).toBe(1);
      const again = await imgctl(`push ${file} ${OPTIONS.replace('s 0', 's 1')}`);
      expect(again).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('uploaded') });
      expect(stored()).toEqual(['web.ova']);
      expect(readFileSync(path.join(folder, 'web.ova')).equals(readFileSync(file))).toBe(true);
      const third = await imgctl(`push ${file} ${OPTIONS}`);
      expect(third).toMatchObject({
        exitCode: 0,
        stderr: expect.stringContaining('already there'),
      });
    },
  );
});

describe('push to an S3 storage with objects of others', () => {
  const controls = Array.from({ length: 0x20 }, (_, code) => `key${String.fromCharCode(code)}`);
  const keys = ['.x.ova', ...controls, 'key\x7f', 'key\ufffe', 'a+b c%20&<d>é.ova'];

  it.each([{}, { encodesNothing: true }, { cutsNoPages: true }])(
    'whose keys XML cannot hold succeeds: %j',
    async (habits) => {
      const { imgctl, work, storage } = await userOf({ keys, ...habits });
      const file = writeOva(work, 'web');
      const { stdout } = await imgctl(`push ${file} --dry-run -o csv`);
      expect(stdout).toContain('sync,add,a+b c%20&<d>é.ova,');
      expect(stdout).not.toContain('.x.ova');
      expect((await imgctl(`push ${file} ${OPTIONS}`)).exitCode).toBe(0);
      const lists = storage.requests.filter(({ target }) => target.includes('prefix='));
      expect(lists.some(({ target }) => target.includes('uploads='))).toBe(true);
      expect(lists.filter(({ target }) => !target.includes('encoding-type=url'))).toEqual([]);
    },
  );
});

describe('push to an S3 storage with an unfinished upload', () => {
  const UPLOAD = '<Upload><Key>web.ova</Key><UploadId>7</UploadId></Upload>';
  const part = (number: string, tag = '1') =>
    `<Part><PartNumber>${number}</PartNumber><ETag>"${tag}"</ETag></Part>`;
  const OF_NOTHING = createHash('md5').digest('hex');
  const truncated = '<IsTruncated>true</IsTruncated><NextPartNumberMarker>1</NextPartNumberMarker>';

  type Listed = string | ScriptedResponse;

  it.each<readonly [string, Listed, Listed?]>([
    ['of part 0', part('0')],
    ['of part -1', part('-1')],
    ['of part x', part('x')],
    ['of part 1x', part('1x')],
    ['of a part without a number', '<Part><ETag>"1"</ETag></Part>'],
    ['of a part behind the file', part('9999', OF_NOTHING)],
    ['of parts without end', part('1') + truncated],
    ['of parts that is no XML', '<'],
    ['of parts that is an error', s3Error(500, 'InternalError')],
    ['of uploads without end', '', UPLOAD + truncated],
    ['of uploads that is an error', '', s3Error(400, 'InvalidArgument')],
    ['of uploads that is not permitted', '', s3Error(403, 'AccessDenied')],
  ])('with a list %s starts a new one', async (_what, parts = '', uploads = UPLOAD) => {
    const { push, requests } = await pushToScript('s3', ({ method, url: { searchParams } }) => {
      if (method === 'HEAD') return { status: 404 };
      if (method === 'PUT') return s3Error(507, 'StorageFull');
      if (method === 'POST') return { body: '<Done><UploadId>8</UploadId></Done>' };
      if (searchParams.has('list-type')) return { body: '<ListResult/>' };
      const listed = searchParams.has('uploadId') ? parts : uploads;
      return typeof listed === 'string' ? { body: `<ListResult>${listed}</ListResult>` } : listed;
    });
    const { stderr } = await push();
    expect(stderr).toMatch(/ is full \(507: StorageFull/);
    const sent = requests.filter(({ method }) => method === 'PUT');
    expect(sent.map(({ url }) => url.searchParams.get('uploadId'))).toEqual(['8']);
  });
});
