// Signatures of manifests: made by openssl in each algorithm, and broken in many ways.

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FindingList } from '../../src/ovf/findings.ts';
import { readPackage } from '../../src/ovf/package.ts';
import { openPackage } from '../../src/ovf/package-source.ts';
import { verifySignature } from '../../src/ovf/signature.ts';
import { certificateFile, type Identity, selfSigned } from '../support/certificate.ts';
import { cpuSeconds } from '../support/cpu.ts';
import { temporaryDirectory } from '../support/io.ts';
import { missing, skipped } from '../support/requirements.ts';
import { codes, expectFindings, member, sample } from './harness.ts';

const [descriptor, manifest, disk] = sample();
/** Later than the certificates that the tests make. */
const NOW = Date.now() + 86_400_000;

/** Writes the sample with this certificate file, and with other files instead of its own. */
function writeSigned(certificate: string | Uint8Array, others: Record<string, string> = {}) {
  const folder = temporaryDirectory();
  const files = [descriptor, manifest, disk, member('vm.cert', certificate)];
  for (const { name, content } of files) writeFileSync(join(folder, name), others[name] ?? content);
  return join(folder, 'vm.ovf');
}

async function readSigned(
  certificate: string | Uint8Array,
  others?: Record<string, string>,
  now = NOW,
) {
  return readPackage(writeSigned(certificate, others), { now });
}

const identities = new Map<string, ReturnType<typeof makeIdentity>>();

/** Makes a key and a certificate once for each kind of key. */
function identityOf(key: string) {
  const identity = identities.get(key) ?? makeIdentity(key);
  identities.set(key, identity);
  return identity;
}

function makeIdentity(key: string) {
  const cwd = temporaryDirectory();
  const kind = key.startsWith('rsa') ? [key] : ['ec', '-pkeyopt', `ec_paramgen_curve:${key}`];
  const subject = key === 'P-521' ? '/' : '/O=Example/CN=Example GmbH';
  const names = ['-keyout', 'key.pem', '-out', 'cert.pem', '-subj', subject];
  const argv = ['req', '-x509', '-nodes', '-days', '9999', '-newkey', ...kind, ...names];
  execFileSync('openssl', argv, { cwd, stdio: 'pipe' });
  const [secret, pem] = ['key.pem', 'cert.pem'].map((file) => readFileSync(join(cwd, file)));
  return { secret: secret ?? '', pem: pem ?? Buffer.of() };
}

describe(`a signature made by openssl${skipped(missing('openssl'))}`, () => {
  it.skipIf(missing('openssl')).each([
    ['RSA, SHA1', 'rsa:2048', 'sha1'],
    ['RSA, SHA224', 'rsa:2048', 'sha224'],
    ['RSA, SHA256', 'rsa:2048', 'sha256'],
    ['RSA, SHA384', 'rsa:2048', 'sha384'],
    ['RSA, SHA512', 'rsa:2048', 'sha512'],
    ['ECDSA, SHA256', 'P-256', 'sha256'],
    ['ECDSA, SHA512', 'P-521', 'sha512'],
    ['RSA-PSS, SHA256', 'rsa:2048', 'sha256', ['-sigopt', 'rsa_padding_mode:pss']],
    ['RSA-PSS, SHA256', 'rsa-pss', 'sha256'],
  ])('is verified: %s', async (algorithm, key, hash, options: string[] = []) => {
    const cwd = temporaryDirectory();
    const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd, stdio: 'pipe' });
    writeFileSync(join(cwd, 'vm.mf'), manifest.content);
    const { secret, pem } = identityOf(key);
    writeFileSync(join(cwd, 'key.pem'), secret);
    const line = openssl('dgst', `-${hash}`, '-sign', 'key.pem', ...options, '-hex', 'vm.mf');
    const summary = await readSigned(Buffer.concat([line, pem]));
    expect(summary.signature).toMatchObject({
      algorithm,
      signer: key === 'P-521' ? 'nobody' : 'Example GmbH',
      selfSigned: true,
    });
    expect(codes(summary)).toEqual([]);
  });

  it.skipIf(missing('openssl'))(
    'is verified behind a certificate with a key of Ed25519',
    async () => {
      const cwd = temporaryDirectory();
      const names = ['-keyout', 'key.pem', '-out', 'cert.pem', '-subj', '/CN=Example GmbH'];
      const argv = ['req', '-x509', '-nodes', '-newkey', 'ed25519', ...names];
      execFileSync('openssl', argv, { cwd, stdio: 'pipe' });
      const edwards = `${readFileSync(join(cwd, 'cert.pem'))}`;
      const { findings } = await readSigned(`SHA256(vm.mf)= 00\n${edwards}`);
      const message = 'OpenSSL cannot verify SHA256 with a key of type ED25519';
      expect(findings).toMatchObject([{ code: 'certificate-not-verified', message }]);
      const signed = certificateFile('vm.mf', manifest.content, selfSigned('localhost'));
      const summary = await readSigned(edwards + signed);
      expect(codes(summary)).toEqual([]);
      expect(summary.signature).toMatchObject({ selfSigned: true });
    },
  );
});

describe('the signature of a package', () => {
  const own = selfSigned('localhost');
  const other = selfSigned('localhost');
  const by = ({ key }: Identity, bytes: Uint8Array) =>
    certificateFile('vm.mf', bytes, { key, cert: own.cert });
  const good = by(own, manifest.content);
  const line = good.slice(0, good.indexOf('\n') + 1);
  const flip = (text: string, place: number) =>
    text.slice(0, place) + (text[place] === '0' ? '1' : '0') + text.slice(place + 1);
  const endOf = (text: string) => text.indexOf('-----END') - 12;
  const dated = (date: string) => {
    const body = own.cert.replace(/-----.*-----/g, '').trim();
    const bytes = Buffer.from(body, 'base64');
    bytes.write(date, bytes.indexOf('491231235959Z'));
    return good.replace(body, bytes.toString('base64'));
  };
  const withCrLf = `${manifest.content}`.replaceAll('\n', '\r\n');

  const UNSIGNED = ['signature-mismatch vm.cert: no signature of vm.mf by its certificate'];
  const NO_LINE = ['certificate-syntax vm.cert: no line such as SHA256(vm.mf)= digits'];
  const UNREADABLE = ['certificate-syntax vm.cert: an unreadable certificate'];
  const IN_CMS = ['certificate-not-verified? vm.cert: a CMS signature, which imgctl cannot verify'];

  it.each<[string, string[], string | Uint8Array, Record<string, string>?]>([
    ['is whole', [], good],
    ['has a byte order mark', [], `\ufeff${good}`],
    ['has CRLF', [], good.replaceAll('\n', '\r\n')],
    ['is followed by other certificates', [], good + other.cert],
    ['comes after another certificate', [], other.cert + good],
    ['has a flipped digit', UNSIGNED, flip(good, 40)],
    ['has a digit too many', NO_LINE, good.replace('\n', '0\n')],
    ['has no digits', UNSIGNED, good.replace(/= \w*/, '= ')],
    ['is by another key', UNSIGNED, by(other, manifest.content)],
    ['names another algorithm', UNSIGNED, good.replace('SHA256', 'SHA512')],
    ['is of the manifest before a change', UNSIGNED, good, { 'vm.mf': withCrLf }],
    [
      'has a forged certificate',
      ['signature-mismatch vm.cert: imgctl test did not issue its certificate'],
      line + flip(own.cert, endOf(own.cert)),
    ],
    ['has a damaged certificate', UNREADABLE, good.replace('IB', '=!')],
    ['has half a certificate', UNREADABLE, good.slice(0, -300)],
    ['has half a certificate before it', UNREADABLE, `${own.cert.slice(0, 300)}\n${good}`],
    ['has 100 certificates', [], good + other.cert.repeat(99)],
    [
      'has 101 certificates',
      ['certificate-syntax vm.cert: more than 100 certificates'],
      good + other.cert.repeat(100),
    ],
    [
      'has over 1 MiB',
      [`certificate-syntax vm.cert: ${good.length + 2 ** 20} bytes, more than 1 MiB`],
      good + ' '.repeat(2 ** 20),
    ],
    ['has no certificate', ['certificate-syntax vm.cert: no certificate in PEM format'], line],
    ['has an impossible date', ['certificate-syntax'], dated('491331235959Z')],
    ['is missing', NO_LINE, own.cert],
    ['is an empty file', NO_LINE, ''],
    ['names its file in its folder', [], good.replace('vm.mf', './vm.mf')],
    [
      'names another file',
      ['manifest-name? vm.cert: signed as x.mf, the manifest is vm.mf'],
      good.replace('vm.mf', 'x.mf'),
    ],
    ...['RSA-SHA2-256', 'RSA-PSS-SHA256', 'ECDSA-SHA256', 'EC-SHA-256'].map(
      (label): [string, string[], string] => [
        `has the label ${label}`,
        [],
        good.replace('SHA256', label),
      ],
    ),
    ['is in CMS', IN_CMS, '-----BEGIN CMS-----\nMIIB\n-----END CMS-----\n'],
    ['is in binary CMS', IN_CMS, Buffer.from('308201', 'hex')],
    [
      'has an unknown algorithm',
      ['certificate-not-verified? vm.cert: unknown algorithm MD5'],
      good.replace('SHA256', 'MD5'),
    ],
  ])('that %s has the findings %j', async (_, expected, certificate, others) => {
    const summary = await readSigned(certificate, others);
    expectFindings(summary, expected);
    const isGood = expected.every((text) => text.startsWith('manifest-name?'));
    expect(summary.signature !== null).toBe(isGood);
  });

  it.each([
    ['2019-06-01', 'it is valid from Jan  1 00:00:00 2020 GMT'],
    ['2050-06-01', 'it expired on Dec 31 23:59:59 2049 GMT'],
  ])('has the finding certificate-expired at %s', async (now, message) => {
    const { findings } = await readSigned(good, {}, Date.parse(now));
    const code = 'certificate-expired';
    expect(findings).toMatchObject([{ code, severity: 'warning', message }]);
  });

  it('is not verified after an interrupt', async () => {
    const source = await openPackage(writeSigned(good), new FindingList());
    const file = await source.findSibling('.cert');
    const signed = await source.findSibling('.mf');
    if (file === null || signed === null) throw new Error('no files');
    const signal = AbortSignal.abort(new Error('interrupted'));
    const bytes = Buffer.from(manifest.content);
    const verified = verifySignature(file, signed, bytes, source, { signal });
    await expect(verified).rejects.toThrow('interrupted');
  });

  const BEGIN = '-----BEGIN CERTIFICATE-----\n';
  const END = '-----END CERTIFICATE-----\n';
  // Together with the line, less than 1 MiB.
  const fill = (piece: string) => piece.repeat((2 ** 20 - 2 ** 12) / piece.length);
  it.each([
    ['many beginnings', line + fill(BEGIN)],
    ['many ends', line + fill(END)],
    ['many pairs', line + fill(BEGIN + END)],
    ['one long certificate', line + BEGIN + fill('A')],
    ['blanks after its digits', `SHA256(vm.mf)= ${fill(' ')}x`],
    ['many parentheses', `SHA256(${fill(')= ')}x`],
    ['many lines', fill('\n')],
  ])('is refused soon if it has %s', async (_what, certificate) => {
    const seconds = await cpuSeconds(async () => {
      expect(codes(await readSigned(certificate))).toEqual(['certificate-syntax']);
    });
    expect(seconds).toBeLessThan(2);
  });
});
