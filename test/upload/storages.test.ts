// push to WebDAV and S3, over real sockets: what arrives, faults of the storage, and where credentials go.

import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { SECRETS, storageUser, writeOva, writeOvf } from '../support/uploads.ts';

const OPTIONS = '--poll-interval 5ms --retries 1 --part-size 5M';
/** Several chunks of a request, one part of an upload to S3. */
const SIZE = 700_000;
/** Several parts. */
const LARGE = 11 * 2 ** 20;

describe.each(['dav', 's3'] as const)('push to %s', (kind) => {
  it('uploads whole files, syncs once and leaves nothing else', async () => {
    const { imgctl, work, folder, stored, syncs } = await storageUser(kind);
    const file = writeOva(work, 'web', LARGE);
    const { exitCode } = await imgctl(`push ${file} ${writeOvf(work, 'db', 1)} ${OPTIONS}`);
    expect({ exitCode, syncs: syncs() }).toEqual({ exitCode: 0, syncs: 1 });
    expect(stored()).toEqual(['db-data.iso', 'db-disk1.vmdk', 'db.mf', 'db.ovf', 'web.ova']);
    expect(readFileSync(path.join(folder, 'web.ova')).equals(readFileSync(file))).toBe(true);
  });

  it('takes names with blanks and signs', async () => {
    const { imgctl, work, stored } = await storageUser(kind);
    const file = writeOva(work, 'web');
    const name = "a+b%20(c)'é&.ova";
    writeFileSync(path.join(work, name), readFileSync(file));
    const { exitCode } = await imgctl(`push ${path.join(work, name)} ${OPTIONS}`);
    expect({ exitCode, stored: stored() }).toEqual({ exitCode: 0, stored: [name] });
  });

  it('recognizes the same content from another home, and other content of the same size', async () => {
    const { imgctl, work, folder, seen } = await storageUser(kind);
    const file = writeOva(work, 'web', SIZE);
    await imgctl(`push ${file} --no-sync ${OPTIONS}`);
    const other = { IMGCTL_CONFIG_DIR: undefined, HOME: work };
    const settings = await imgctl('config list --json');
    for (const { key, value } of JSON.parse(settings.stdout)) {
      if (key.startsWith('upload-') && value) await imgctl(`config set ${key} ${value}`, other);
    }
    const again = await imgctl(`push ${file} --no-sync ${OPTIONS}`, other);
    expect(again.stderr).toContain('web.ova: already there');
    const bytes = readFileSync(file);
    bytes[600_000] = (bytes[600_000] ?? 0) ^ 1;
    writeFileSync(path.join(folder, 'web.ova'), bytes);
    const changed = await imgctl(`push ${file} --no-sync ${OPTIONS}`, other);
    expect(changed.stderr).toContain('already has another web.ova');
    expect(changed.exitCode).toBe(1);
    expect(seen.service).toEqual([]);
  });

  it('stops and shows nothing if the file changes while it is uploaded', async () => {
    let file = '';
    const user = await storageUser(kind, [], ({ method }) => {
      if (method === 'PUT') appendFileSync(file, 'x');
    });
    file = writeOva(user.work, 'web', LARGE);
    const { stderr, exitCode } = await user.imgctl(`push ${file} ${OPTIONS}`);
    expect(stderr).toContain(`${file} changed while it was uploaded\nhint: `);
    expect({ exitCode, stored: user.stored(), syncs: user.syncs() }).toEqual({
      exitCode: 1,
      stored: [],
      syncs: 0,
    });
  });

  it('removes what it uploaded if a digest is wrong', async () => {
    const { imgctl, work, stored, syncs } = await storageUser(kind);
    const file = writeOvf(work, 'db', SIZE);
    appendFileSync(path.join(work, 'db', 'db.mf'), '\n');
    const data = path.join(work, 'db', 'db-data.iso');
    const bytes = readFileSync(data);
    bytes[1000] = (bytes[1000] ?? 0) ^ 1;
    writeFileSync(data, bytes);
    const { stdout, exitCode } = await imgctl(`push ${file} ${OPTIONS}`);
    expect(stdout).toContain('digest-mismatch');
    expect({ exitCode, stored: stored(), syncs: syncs() }).toEqual({
      exitCode: 1,
      stored: [],
      syncs: 0,
    });
  });

  it('sends each secret to its own server, and shows none', async () => {
    const { imgctl, work, seen } = await storageUser(kind);
    const { stdout, stderr } = await imgctl(`push ${writeOva(work, 'web')} ${OPTIONS} --debug`);
    const text = (requests: readonly object[]) => {
      const plain = JSON.stringify(requests);
      const pairs = [...plain.matchAll(/Basic ([\w+/=]+)/g)];
      return plain + pairs.map(([, pair = '']) => Buffer.from(pair, 'base64').toString());
    };
    expect(text(seen.service)).toContain(SECRETS.service);
    expect(text(seen.service)).not.toContain(SECRETS.storage);
    expect(text(seen.storage)).not.toContain(SECRETS.service);
    expect(text(seen.storage)).not.toContain('Bearer');
    expect(stdout + stderr).not.toMatch(/canary/);
  });

  it('says with a wrong secret that the credentials were refused', async () => {
    const { imgctl, work, stored } = await storageUser(kind);
    const wrong = { IMGCTL_UPLOAD_PASSWORD: 'wrong-one', IMGCTL_UPLOAD_SECRET: 'wrong-one' };
    const { stderr, exitCode } = await imgctl(`push ${writeOva(work, 'web')} ${OPTIONS}`, wrong);
    expect(stderr).toMatch(
      /refused the (credentials|secret key) \(.+\)\nhint: check IMGCTL_UPLOAD_(PASSWORD|SECRET) and upload-/,
    );
    expect({ exitCode, stored: stored() }).toEqual({ exitCode: 4, stored: [] });
  });
});

type Row = [fault: string, exitCode: number, text?: string, options?: string];

const PUT_ROWS: readonly Row[] = [
  ['401', 4, 'refused the credentials (401'],
  ['403', 4, 'does not permit PUT'],
  ['404', 5, 'does not exist (404'],
  ['413', 1, 'does not take files of this size (413'],
  ['507', 1, 'is full (507'],
  ['500', 1, 'failed: PUT'],
  ['500,first=1', 0],
  ['late:401', 4, 'refused the credentials (401'],
  ['302', 1, 'redirected to http://elsewhere.invalid/ (302)'],
  ['drop:300000', 3, 'the connection was closed'],
  ['drop:300000,first=1', 0],
  ['stall', 3, 'no progress within 0.4 s', '--timeout 400ms'],
];

const ROWS: Readonly<Record<'dav' | 's3', readonly Row[]>> = {
  dav: [
    ...PUT_ROWS.map(([fault, ...rest]): Row => [`PUT /upload/*=${fault}`, ...rest]),
    ['PROPFIND /upload/=404', 5, 'does not exist'],
    ['PROPFIND /upload/=405', 1, 'is not a WebDAV folder (405)'],
    ['PROPFIND /upload/=html', 1, 'is not a WebDAV folder (200)'],
    ['MOVE /upload/*=412', 1, 'already has another web.ova'],
    ['MOVE /upload/*=drop', 0],
  ],
  s3: [
    ...PUT_ROWS.map(([fault, ...rest]): Row => [`PUT /s3/*=${fault}`, ...rest]),
    ['PUT /s3/*=etag', 1, 'part 1 has the wrong ETag'],
    ['POST /s3/*=etag', 1, 'its ETag is 0000'],
    ['HEAD /s3/*=etag', 1, 'and it stays there'],
    ['POST /s3/*=412,every=2', 1, 'already has another web.ova'],
    ['POST /s3/*=drop,every=2', 0],
    ['GET /s3=404', 5, 'does not exist (404'],
    ['GET /s3=html', 1, 'did not answer as S3'],
  ],
};

describe.each(['dav', 's3'] as const)('push to %s with a fault', (kind) => {
  it.each(ROWS[kind])('%s exits %i', async (fault, exitCode, text = '', options = '') => {
    const { imgctl, work, stored, syncs } = await storageUser(kind, [fault]);
    const result = await imgctl(`push ${writeOva(work, 'web', SIZE)} ${OPTIONS} ${options}`.trim());
    expect(result).toMatchObject({ exitCode, stderr: expect.stringContaining(text) });
    const isDone = exitCode === 0;
    // An object that may be somebody else's is not removed.
    const isVisible = isDone || fault === 'HEAD /s3/*=etag';
    expect(stored().includes('web.ova')).toBe(isVisible);
    expect(syncs()).toBe(isDone ? 1 : 0);
    if (isDone) expect(stored()).toEqual(['web.ova']);
    const errors = result.stderr
      .split('\n')
      .filter((line) => /^imgctl: .*(error|failed)/.test(line));
    expect(errors.length).toBeLessThanOrEqual(1);
  });
});

describe('push continues', () => {
  it('an S3 upload with the parts that are missing', async () => {
    const { imgctl, work, folder, seen, stored } = await storageUser('s3', [
      'PUT /s3/*=500,every=3',
    ]);
    const file = writeOva(work, 'web', LARGE);
    await imgctl(`push ${file} ${OPTIONS} --retries 0 --parallel 1`);
    expect(stored()).not.toContain('web.ova');
    const { exitCode } = await imgctl(`push ${file} ${OPTIONS}`);
    const puts = seen.storage.map(({ request }) => /^PUT .*partNumber=(\d+)/.exec(request)?.[1]);
    expect(puts.filter((number) => number !== undefined)).toEqual(['1', '2', '3', '3']);
    expect({ exitCode, stored: stored() }).toEqual({ exitCode: 0, stored: ['web.ova'] });
    expect(readFileSync(path.join(folder, 'web.ova')).equals(readFileSync(file))).toBe(true);
  });
});
