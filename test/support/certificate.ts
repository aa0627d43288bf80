// Makes a self-signed certificate, so that the repository holds no private key.

import { generateKeyPairSync, sign } from 'node:crypto';

/** Key and certificate of a TLS server, in PEM. */
export interface Identity {
  readonly key: string;
  readonly cert: string;
}

/** Makes an ECDSA P-256 certificate, valid from 2020 to 2049, for DNS names and IPv4 addresses. */
export function selfSigned(...hosts: string[]): Identity {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const ecdsaWithSha256 = sequence(identifier('2a8648ce3d040302'));
  const commonName = sequence(identifier('550403'), der(0x0c, Buffer.from('imgctl test')));
  const name = sequence(der(0x31, commonName));
  const subjects = hosts.map((host) =>
    /^[\d.]+$/.test(host)
      ? der(0x87, Buffer.from(host.split('.').map(Number)))
      : der(0x82, Buffer.from(host)),
  );
  const extensions = sequence(
    sequence(identifier('551d11'), der(0x04, sequence(...subjects))),
    sequence(identifier('551d13'), der(0x04, sequence(der(0x01, Buffer.from([0xff]))))),
  );
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ecdsaWithSha256,
    name,
    sequence(time('200101000000Z'), time('491231235959Z')),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, extensions),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', body, privateKey));
  const certificate = sequence(body, ecdsaWithSha256, signature).toString('base64');
  const lines = certificate.match(/.{1,64}/g) ?? [];
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n'),
  };
}

/** Returns the certificate file of a manifest: its signature with SHA-256, and the certificate. */
export function certificateFile(
  name: string,
  manifest: Uint8Array,
  { key, cert }: Identity,
): string {
  return `SHA256(${name})= ${sign('sha256', manifest, key).toString('hex')}\n${cert}`;
}

function der(tag: number, ...content: Buffer[]): Buffer {
  const bytes = Buffer.concat(content);
  const { length } = bytes;
  const header =
    length < 0x80
      ? [tag, length]
      : length < 0x100
        ? [tag, 0x81, length]
        : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(header), bytes]);
}

const sequence = (...content: Buffer[]) => der(0x30, ...content);
const identifier = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));
const time = (text: string) => der(0x17, Buffer.from(text));
