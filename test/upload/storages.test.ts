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

interface Case {
  readonly fault: string;
  readonly exitCode: number;
  readonly text?: string;
  readonly options?: string;
}

const PUT_CASES: readonly Case[] = [
  { fault: '401', exitCode: 4, text: 'refused the credentials (401' },
  { fault: '403', exitCode: 4, text: 'does not permit PUT' },
  { fault: '404', exitCode: 5, text: 'does not exist (404' },
  { fault: '413', exitCode: 1, text: 'does not take files of this size (413' },
  { fault: '507', exitCode: 1, text: 'is full (507' },
  { fault: '500', exitCode: 1, text: 'failed: PUT' },
  { fault: '500,first=1', exitCode: 0 },
  { fault: 'late:401', exitCode: 4, text: 'refused the credentials (401' },
  { fault: '302', exitCode: 1, text: 'redirected to http://elsewhere.invalid/ (302)' },
  { fault: 'drop:300000', exitCode: 3, text: 'the connection was closed' },
  { fault: 'drop:300000,first=1', exitCode: 0 },
  { fault: 'stall', exitCode: 3, text: 'no progress within 0.4 s', options: '--timeout 400ms' },
];

const CASES = {
  dav: [
    ...PUT_CASES.map((each) => ({ ...each, fault: `PUT /upload/*=${each.fault}` })),
    { fault: 'PROPFIND /upload/=404', exitCode: 5, text: 'does not exist' },
    { fault: 'PROPFIND /upload/=405', exitCode: 1, text: 'is not a WebDAV folder (405)' },
    { fault: 'PROPFIND /upload/=html', exitCode: 1, text: 'is not a WebDAV folder (200)' },
    { fault: 'MOVE /upload/*=412', exitCode: 1, text: 'already has another web.ova' },
    { fault: 'MOVE /upload/*=drop', exitCode: 0 },
  ],
  s3: [
    ...PUT_CASES.map((each) => ({ ...each, fault: `PUT /s3/*=${each.fault}` })),
    { fault: 'PUT /s3/*=etag', exitCode: 1, text: 'part 1 has the wrong ETag' },
    { fault: 'POST /s3/*=etag', exitCode: 1, text: 'its ETag is 0000' },
    { fault: 'HEAD /s3/*=etag', exitCode: 1, text: 'and it stays there' },
    { fault: 'POST /s3/*=412,every=2', exitCode: 1, text: 'already has another web.ova' },
    { fault: 'POST /s3/*=drop,every=2', exitCode: 0 },
    { fault: 'GET /s3=404', exitCode: 5, text: 'does not exist (404' },
    { fault: 'GET /s3=html', exitCode: 1, text: 'did not answer as S3' },
  ],
} satisfies Record<string, readonly Case[]>;

describe.each(['dav', 's3'] as const)('push to %s with a fault', (kind) => {
  it.each<Case>(CASES[kind])('$fault exits $exitCode', async (each) => {
    const { fault, exitCode, text = '', options = '' } = each;
    const { imgctl, work, stored, syncs } = await storageUser(kind, [fault]);
    const result = await imgctl(`push ${writeOva(work, 'web', SIZE)} ${OPTIONS} ${options}`.trim());
    expect({ exitCode: result.exitCode, stderr: result.stderr }).toEqual({
      exitCode,
      stderr: expect.stringContaining(text),
    });
    expect(syncs()).toBe(exitCode === 0 ? 1 : 0);
    const isVisible = stored().includes('web.ova');
    // An object that may be somebody else's is not removed.
    expect(isVisible).toBe(exitCode === 0 || fault === 'HEAD /s3/*=etag');
    if (exitCode === 0) expect(stored()).toEqual(['web.ova']);
    expect(
      result.stderr.split('\n').filter((line) => /^imgctl: .*(error|failed)/.test(line)).length,
    ).toBeLessThanOrEqual(1);
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
