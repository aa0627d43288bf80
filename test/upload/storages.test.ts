// push to WebDAV and S3, over real sockets, TLS and proxies: what arrives, faults, and where credentials go.

import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { rootCertificates } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { selfSigned } from '../support/certificate.ts';
import { openFilesBelow } from '../support/files.ts';
import { failed } from '../support/io.ts';
import { requestsTo } from '../support/scripted-server.ts';
import { tlsTo, tunnelTo } from '../support/sockets.ts';
import { pushToScript, SECRETS, storageUser, writeOva, writeOvf } from '../support/uploads.ts';

const OPTIONS = '--poll-interval 500ms --retries 1 --part-size 5M';
/** Several chunks of a request, one part of an upload to S3. */
const SIZE = 700_000;
/** Several parts. */
const LARGE = 5.5 * 2 ** 20;
const NOTHING = { exitCode: 1, stored: [], syncs: 0 };

describe.each(['dav', 's3'] as const)('push to %s', (kind) => {
  it('uploads whole files of any name, syncs once and leaves nothing else', async () => {
    const { imgctl, work, folder, stored, syncs } = await storageUser(kind);
    const file = writeOva(work, 'web', LARGE);
    const odd = path.join(work, "a+b%20(c)'é&.ova");
    writeFileSync(odd, readFileSync(writeOva(work, 'odd')));
    const files = [file, odd, writeOvf(work, 'db', 1)];
    const { exitCode } = await imgctl(`push ${files.join(' ')} ${OPTIONS}`);
    expect({ exitCode, syncs: syncs() }).toEqual({ exitCode: 0, syncs: 1 });
    const db = ['db-data.iso', 'db-disk1.vmdk', 'db.mf', 'db.ovf'];
    expect(stored()).toEqual([path.basename(odd), ...db, 'web.ova']);
    expect(readFileSync(path.join(folder, 'web.ova')).equals(readFileSync(file))).toBe(true);
    expect(openFilesBelow(work)).toEqual([]);
  });

  it.each([
    ['after its check', /^(PROPFIND|GET)$/],
    ['while it is sent', /^PUT$/],
  ])('stops and shows nothing if the file changes %s', async (_when, methods) => {
    let file = '';
    let isChanged = false;
    const user = await storageUser(kind, [], ({ method }) => {
      if (!isChanged && methods.test(method)) appendFileSync(file, 'x');
      isChanged ||= methods.test(method);
    });
    file = writeOva(user.work, 'web', LARGE);
    const { stderr, exitCode } = await user.imgctl(`push ${file} ${OPTIONS}`);
    expect(stderr).toContain(
      `${file} changed while it was uploaded\nhint: wait until the file is complete, then run the command again\n`,
    );
    expect({ exitCode, stored: user.stored(), syncs: user.syncs() }).toEqual(NOTHING);
  });

  it('sends each secret to its own server, and shows none', async () => {
    const { imgctl, work, service, storage } = await storageUser(kind);
    const { stdout, stderr } = await imgctl(`push ${writeOva(work, 'web')} ${OPTIONS} --debug`);
    const text = (requests: readonly object[]) => {
      const plain = JSON.stringify(requests);
      const pairs = [...plain.matchAll(/Basic ([\w+/=]+)/g)];
      return plain + pairs.map(([, pair = '']) => Buffer.from(pair, 'base64').toString());
    };
    expect(text(service.requests)).toContain(SECRETS.service);
    expect(text(service.requests)).not.toContain(SECRETS.storage);
    expect(text(service.requests)).not.toContain(SECRETS.session);
    expect(text(storage.requests)).not.toContain(SECRETS.service);
    expect(text(storage.requests)).not.toContain('Bearer');
    const own = { 'user-agent': expect.stringMatching(/^imgctl\//), 'accept-encoding': 'identity' };
    for (const { headers } of storage.requests) expect(headers).toMatchObject(own);
    expect(stdout + stderr).not.toMatch(/canary/);
  });

  it('says with a wrong secret that the credentials were refused', async () => {
    const { imgctl, work, stored } = await storageUser(kind);
    const wrong = { IMGCTL_UPLOAD_PASSWORD: 'wrong-one', IMGCTL_UPLOAD_SECRET: 'wrong-one' };
    const result = await imgctl(`push ${writeOva(work, 'web')} ${OPTIONS}`, wrong);
    const text =
      /^imgctl: \S+ refused the (credentials|secret key) \(.+\)\nhint: check IMGCTL_UPLOAD_\w+ and upload-/;
    expect(result).toEqual(failed(4, text));
    expect(stored()).toEqual([]);
  });
});

type Row = [fault: string, exitCode: number, text?: string, options?: string];

const LOST =
  'closed the connection without a complete response\nhint: try again later, or ask the administrators of the server';

const CHECK = '\nhint: check the upload URL';
const NEEDED =
  'the server must allow PROPFIND, PUT, MOVE and DELETE; nginx needs its module dav-ext';

const ROWS: Readonly<Record<'dav' | 's3', readonly Row[]>> = {
  dav: [
    ['PUT /upload/*=401', 4, 'refused the credentials (401'],
    ['PUT /upload/*=403', 4, 'does not permit PUT'],
    ['PUT /upload/*=404', 5, 'does not exist (404'],
    ['PUT /upload/*=413', 1, 'does not accept files of this size (413'],
    ['PUT /upload/*=507', 1, 'is full (507'],
    ['PUT /upload/*=500', 1, 'failed: PUT'],
    ['PUT /upload/*=500,first=1', 0],
    ['PUT /upload/*=late:401', 4, 'refused the credentials (401'],
    ['PUT /upload/*=302', 1, 'redirected to http://elsewhere.invalid/ (302)'],
    ['PUT /upload/*=drop:300000', 3, LOST],
    ['PUT /upload/*=drop:300000,first=1', 0],
    ['PUT /upload/*=stall', 3, 'no progress within 0.4 s', '--timeout 400ms'],
    ['PROPFIND /upload/=404', 5, 'does not exist\nhint: create it, or check the upload URL\n'],
    ['PROPFIND /upload/=405', 1, `is not a WebDAV folder (405)${CHECK}; ${NEEDED}\n`],
    ['PROPFIND /upload/=html', 1, `is not a WebDAV folder (200)${CHECK}\n`],
    ['MOVE /upload/*=412', 1, 'refused MOVE /upload/.imgctl-'],
    ['MOVE /upload/*=412', 1, 'refused MOVE /upload/.imgctl-', '--on-conflict replace'],
    ['MOVE /upload/*=429,first=1', 0],
    ['MOVE /upload/*=503,first=1', 0],
    ['MOVE /upload/*=503', 1, 'failed: MOVE /upload/.imgctl-'],
    ['MOVE /upload/*=drop', 0],
  ],
  s3: [
    ['PUT /s3/*=403', 4, 'does not permit PUT'],
    ['PUT /s3/*=500,first=1', 0],
    ['PUT /s3/*=drop:300000,first=1', 0],
    ['PUT /s3/*=stall', 3, 'no progress within 0.4 s', '--timeout 400ms'],
    ['PUT /s3/*=etag', 1, 'part 1 has the wrong ETag'],
    ['POST /s3/*=etag', 1, 'its ETag is 0000'],
    ['HEAD /s3/*=etag', 0],
    ['POST /s3/*=412,every=2', 1, 'refused POST /s3/web.ova (412'],
    ['POST /s3/*=409,every=2', 0],
    [
      'POST /s3/*=409,every=2',
      1,
      'refused POST /s3/web.ova (409',
      '--on-conflict replace --retries 0',
    ],
    ['POST /s3/*=429,first=1', 0],
    ['POST /s3/*=503,every=2', 0],
    ['POST /s3/*=drop,first=1', 0],
    ['POST /s3/*=drop,every=2', 0],
    ['GET /s3=404', 5, 'does not exist (404'],
    ['GET /s3=html', 1, `is not an S3 storage${CHECK}\n`],
  ],
};

describe.each(['dav', 's3'] as const)('push to %s with a fault', (kind) => {
  it.each(ROWS[kind])('%s exits %i', async (fault, exitCode, text = '', options = '') => {
    const { imgctl, work, stored, syncs } = await storageUser(kind, [fault]);
    const result = await imgctl(`push ${writeOva(work, 'web', SIZE)} ${OPTIONS} ${options}`.trim());
    expect(result).toMatchObject({ exitCode, stderr: expect.stringContaining(text) });
    const isDone = exitCode === 0;
    expect(stored().includes('web.ova')).toBe(isDone);
    expect(syncs()).toBe(isDone ? 1 : 0);
    if (isDone) expect(stored()).toEqual(['web.ova']);
    const errors = result.stderr.match(/^imgctl: .*(error|failed)/gm) ?? [];
    expect(errors.length).toBeLessThanOrEqual(1);
  });
});

it('push to dav fails if the stored file cannot be read back', async () => {
  const { imgctl, work } = await storageUser('dav', ['GET /upload/*=403']);
  const file = writeOva(work, 'web');
  expect((await imgctl(`push ${file} ${OPTIONS}`)).exitCode).toBe(0);
  const again = await imgctl(`push ${file} ${OPTIONS} --retries 0`);
  expect(again).toEqual(failed(4, 'does not permit GET /upload/web.ova (403'));
});

it('push to s3 that fails says why, even if the files before cannot be removed', async () => {
  const { imgctl, work } = await storageUser('s3', ['PUT /s3/*=507,every=3', 'DELETE /s3/*=403']);
  const result = await imgctl(`push ${writeOvf(work, 'db')} ${OPTIONS} --retries 0`);
  expect(result).toEqual(failed(1, 'is full (507'));
});

it('push continues an S3 upload with the parts that are missing', async () => {
  const user = await storageUser('s3', ['PUT /s3/*=500,every=2']);
  const { imgctl, work, folder, storage, stored } = user;
  const file = writeOva(work, 'web', LARGE);
  await imgctl(`push ${file} ${OPTIONS} --retries 0 --parallel 1`);
  expect(stored()).not.toContain('web.ova');
  const { stderr, exitCode } = await imgctl(`push ${file} ${OPTIONS}`);
  expect(exitCode).toBe(0);
  expect(stderr).toMatch(/^web\.ova: uploading from 5 MiB\nimgctl: web\.ova: uploaded, 5\.6 MiB\n/);
  const puts = requestsTo(storage).map((each) => /^PUT .*partNumber=(\d+)/.exec(each)?.[1] ?? '');
  expect(puts.join('')).toBe('122');
  expect(stored()).toEqual(['web.ova']);
  expect(readFileSync(path.join(folder, 'web.ova')).equals(readFileSync(file))).toBe(true);
});

/** A host of this machine that does not count as loopback, which never goes through a proxy. */
const HOST = '0.0.0.0';
const PROXY_PAIR = `Basic ${Buffer.from('peter:proxy-canary-3').toString('base64')}`;

describe('push to WebDAV', () => {
  /** A user whose storage has another address. */
  const setUp = async (origin?: string) => {
    const user = await storageUser('dav', [], () => {}, HOST);
    const { imgctl, storage, work } = user;
    const identity = selfSigned(origin ? HOST : '127.0.0.1');
    const { baseUrl } = await tlsTo(storage.baseUrl, identity);
    await imgctl(`config set upload-url dav+${origin ?? baseUrl}/upload`);
    const push = (env = {}, more = '') =>
      imgctl(`push ${writeOva(work, 'web')} --retries 0 --no-sync${more}`, env);
    const trust = async (certificate: string, setting = 'upload-ca-file') => {
      const file = path.join(work, `${setting}.pem`);
      writeFileSync(file, certificate);
      await imgctl(`config set ${setting} ${file}`);
    };
    return { ...user, push, trust, identity, baseUrl };
  };

  it('over TLS trusts the certificates of upload-ca-file and NODE_EXTRA_CA_CERTS only', async () => {
    const { push, trust, identity, storage, stored, work } = await setUp();
    await trust(identity.cert, 'ca-file');
    const text = /self-signed certificate\nhint: .*imgctl config set upload-ca-file/;
    expect(await push()).toEqual(failed(3, text));
    expect(storage.requests).toEqual([]);
    await trust(identity.cert);
    // Node ignores a folder there too.
    await push({ NODE_EXTRA_CA_CERTS: '/' });
    expect(stored()).toEqual(['web.ova']);
    await trust(`${rootCertificates[0]}`);
    const extra = { NODE_EXTRA_CA_CERTS: path.join(work, 'ca-file.pem') };
    expect(await push(extra)).toMatchObject({ exitCode: 0 });
  });

  it('over TLS goes through the tunnel of a proxy, which sees no secret', async () => {
    const { push, trust, identity, baseUrl, storage, stored } = await setUp(`https://${HOST}`);
    await trust(identity.cert);
    const proxy = await tunnelTo('HTTP/1.1 200 OK\r\n\r\n', baseUrl);
    const { stderr } = await push(
      { HTTPS_PROXY: proxy.baseUrl.replace('//', '//peter:proxy-canary-3@') },
      ' --debug',
    );
    expect(stored()).toEqual(['web.ova']);
    expect(stderr).not.toMatch(/canary/);
    for (const head of proxy.heads) {
      expect(head).toMatch(new RegExp(`^CONNECT ${HOST}:443 [^]*${PROXY_PAIR}`));
      expect(head).not.toContain(SECRETS.storage);
    }
    expect(JSON.stringify(storage.requests)).not.toContain(PROXY_PAIR);
  });
});

it('push to WebDAV that cannot be reached names the variable of a proxy that is not read', async () => {
  const { imgctl, work } = await storageUser('dav', [], () => {}, HOST);
  await imgctl(`config set upload-url dav+https://${HOST}:1/upload`);
  const line = `push ${writeOva(work, 'web')} --retries 0 --no-sync`;
  const text = 'hint: set HTTPS_PROXY to the HTTP proxy, as ALL_PROXY is not read for https://\n';
  expect(await imgctl(line, { ALL_PROXY: 'p' })).toEqual(failed(3, text));
});

it.each([
  ['dav', { 'retry-after': '90' }, / at \d\d:\d\d:\d\d \(in 1 min 30 s\)\n$/],
  ['s3', { 'retry-after': '90' }, / at \d\d:\d\d:\d\d \(in 1 min 30 s\)\n$/],
  ['dav', {}, / later\n$/],
] as const)('push to %s refused with 429 and %j says when to try again', async (...row) => {
  const [kind, headers, when] = row;
  const { start } = await pushToScript(kind, () => ({ status: 429, headers }));
  const result = await start('--no-sync', 0).ended;
  expect(result).toEqual(failed(6, when));
  expect(result.stderr).toMatch(/^imgctl: too many requests to 127.* \(429\)\nhint: try again /);
});
