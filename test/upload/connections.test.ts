// push over TLS and through proxies, over real sockets.

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { selfSigned } from '../support/certificate.ts';
import { failed } from '../support/io.ts';
import { forwardTo, tlsTo, tunnelTo } from '../support/sockets.ts';
import { SECRETS, storageUser, writeOva } from '../support/uploads.ts';

const OPTIONS = '--poll-interval 5ms --retries 0';
const FOLDERS = { dav: '/upload', s3: '/s3' };
/** A host of this machine that does not count as loopback, which never goes through a proxy. */
const HOST = '0.0.0.0';
const PROXY_PAIR = `Basic ${Buffer.from('peter:proxy-canary-3').toString('base64')}`;

/** A user whose storage has another address. */
async function setUp(kind: 'dav' | 's3', origin: (storage: string) => string | Promise<string>) {
  const user = await storageUser(kind, [], () => {}, HOST);
  const { imgctl, storage, work } = user;
  const url = `${kind}+${await origin(storage.baseUrl)}${FOLDERS[kind]}`;
  await imgctl(`config set upload-url ${url}`);
  const push = (env = {}) => imgctl(`push ${writeOva(work, 'web')} ${OPTIONS}`, env);
  const trust = async (certificate: string, setting = 'upload-ca-file') => {
    const file = path.join(work, `${setting}.pem`);
    writeFileSync(file, certificate);
    await imgctl(`config set ${setting} ${file}`);
  };
  return { ...user, push, trust };
}

const withPassword = (proxy: string) => proxy.replace('//', '//peter:proxy-canary-3@');
const headersOf = (requests: readonly { readonly headers: object }[]) =>
  requests.map(({ headers }) => headers);

describe.each(['dav', 's3'] as const)('push to %s', (kind) => {
  it('over TLS trusts the certificate in upload-ca-file only', async () => {
    const identity = selfSigned('127.0.0.1');
    const user = await setUp(kind, async (storage) => (await tlsTo(storage, identity)).baseUrl);
    const { push, trust, seen, stored } = user;
    await trust(identity.cert, 'ca-file');
    expect(await push()).toEqual(
      failed(3, /SELF_SIGNED_CERT\nhint: .*imgctl config set upload-ca-file/),
    );
    expect(seen.storage).toEqual([]);
    await trust(identity.cert);
    expect((await push()).exitCode).toBe(0);
    expect(stored()).toEqual(['web.ova']);
  });

  it('over TLS goes through the tunnel of a proxy, which sees no secret', async () => {
    const identity = selfSigned(HOST);
    const { push, trust, storage, seen, stored } = await setUp(kind, () => `https://${HOST}`);
    await trust(identity.cert);
    const { baseUrl: target } = await tlsTo(storage.baseUrl, identity);
    const proxy = await tunnelTo('HTTP/1.1 200 OK\r\n\r\n', target);
    const { exitCode } = await push({ HTTPS_PROXY: withPassword(proxy.baseUrl) });
    expect({ exitCode, stored: stored() }).toEqual({ exitCode: 0, stored: ['web.ova'] });
    for (const head of proxy.heads) {
      expect(head).toMatch(new RegExp(`^CONNECT ${HOST}:443 [^]*${PROXY_PAIR}`));
      expect(head).not.toContain(SECRETS.storage);
    }
    expect(JSON.stringify(headersOf(seen.storage))).not.toContain(PROXY_PAIR);
  });

  it('over plain http is forwarded by a proxy', async () => {
    const { push, imgctl, storage, seen, stored } = await setUp(kind, () => `http://${HOST}`);
    await imgctl('config set allow-http true');
    const proxy = await forwardTo(storage.baseUrl);
    const { exitCode } = await push({ HTTP_PROXY: withPassword(proxy.baseUrl) });
    expect({ exitCode, stored: stored() }).toEqual({ exitCode: 0, stored: ['web.ova'] });
    for (const { url, headers } of proxy.requests) {
      expect(url).toMatch(`http://${HOST}${FOLDERS[kind]}`);
      expect(headers['proxy-authorization']).toBe(PROXY_PAIR);
    }
    expect(JSON.stringify(headersOf(seen.storage))).not.toContain(PROXY_PAIR);
  });
});
