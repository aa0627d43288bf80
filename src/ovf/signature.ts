// Verifies the signature of a manifest (DSP0243, section 5.1): `SHA256(vm.mf)= hex`, then certificates in PEM format.

import { constants, verify, X509Certificate } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { CheckOptions } from './checks.ts';
import type { FindingCode, FindingList } from './findings.ts';
import { stripDotSlash } from './names.ts';
import { type PackageFile, readWhole } from './package-file.ts';

/** A signature that fits the manifest. Whether its issuer can be trusted is not known. */
export interface Signature {
  /** The common name, or else what the certificate has. */
  readonly signer: string;
  /** The same as the signer if it signed its own certificate. */
  readonly issuer: string;
  readonly selfSigned: boolean;
  /** Such as `RSA, SHA256`. */
  readonly algorithm: string;
  /** ISO 8601. */
  readonly validUntil: string;
}

const MAX_FILE_BYTES = 1024 * 1024;
/** A chain has a handful. Each may cost a slow verification. */
const MAX_CERTIFICATES = 100;
/** A key of 16,384 bits, the longest that OpenSSL takes, signs with 4,096 digits. */
const MAX_LINE_LENGTH = 8192;
const MAX_NAME_LENGTH = 200;
const BEGIN = '-----BEGIN CERTIFICATE-----';
const LINE = /^([\w-]+)[ \t]*\((.+)\)[ \t]*=[ \t]*([0-9a-f]*)$/i;
const HASHES = ['SHA1', 'SHA224', 'SHA256', 'SHA384', 'SHA512'];

/** @throws the reason of the signal */
export async function verifySignature(
  file: PackageFile,
  manifest: PackageFile,
  manifestBytes: Buffer,
  findings: FindingList,
  { now, signal }: CheckOptions,
): Promise<Signature | null> {
  const report = (code: FindingCode, message: string) => {
    findings.add(code, file.name, message);
    return null;
  };
  if (!file.complete) return null;
  const bytes = await readWhole(file, findings, MAX_FILE_BYTES);
  if (bytes === null) return null;
  const text = new TextDecoder().decode(bytes);
  if (bytes[0] === 0x30 || /-----BEGIN (PKCS7|CMS)-----/.test(text))
    return report('certificate-not-verified', 'a CMS signature, which imgctl cannot verify');
  const [, label = '', name = '', digits] = findLine(text) ?? [];
  if (digits === undefined)
    return report('certificate-syntax', 'no line such as SHA256(vm.mf)= digits');
  if (digits.length % 2 === 1)
    return report(
      'certificate-syntax',
      `a signature with an odd number of digits: ${digits.length}`,
    );
  const [, ...pieces] = text.split(BEGIN);
  if (pieces.length === 0) return report('certificate-syntax', 'no certificate in PEM format');
  if (pieces.length > MAX_CERTIFICATES)
    return report('certificate-syntax', `more than ${MAX_CERTIFICATES} certificates`);
  const certificates = pieces.map((piece) => parseCertificate(BEGIN + piece));
  if (certificates.includes(null)) return report('certificate-syntax', 'an unreadable certificate');
  // OpenSSL 3 writes RSA-SHA2-256.
  const hash = label
    .toUpperCase()
    .replace(/^(RSA-PSS|RSA|EC|ECDSA)-/, '')
    .replace(/2?-/, '');
  if (!HASHES.includes(hash))
    return report('certificate-not-verified', `unknown algorithm ${label}`);
  const readable = certificates.filter((each) => each !== null);
  const signature = Buffer.from(digits, 'hex');
  for (const signer of readable) {
    await setImmediate();
    signal?.throwIfAborted();
    const method = methodOf(signer, hash, manifestBytes, signature);
    if (method instanceof Error) return report('certificate-not-verified', method.message);
    if (method === null) continue;
    const { validFrom, validTo } = signer;
    if (Number.isNaN(Date.parse(validFrom) + Date.parse(validTo)))
      return report('certificate-syntax', `impossible dates, from ${validFrom} to ${validTo}`);
    // A renewed certificate has the name of the one before.
    const issuers = readable.filter((each) => signer.checkIssued(each));
    if (issuers.length > 0 && !issuers.some((each) => signer.verify(each.publicKey)))
      return report('signature-mismatch', `${nameOf(signer.issuer)} did not issue its certificate`);
    if (stripDotSlash(name) !== manifest.name)
      report('manifest-name', `signed as ${name}, the manifest is ${manifest.name}`);
    if (now !== undefined && Date.parse(validTo) < now)
      report('certificate-expired', `it expired on ${validTo}`);
    if (now !== undefined && Date.parse(validFrom) > now)
      report('certificate-expired', `it is valid from ${validFrom}`);
    return {
      signer: nameOf(signer.subject),
      issuer: nameOf(signer.issuer),
      selfSigned: signer.checkIssued(signer) && signer.verify(signer.publicKey),
      algorithm: `${method}, ${hash}`,
      validUntil: new Date(validTo).toISOString(),
    };
  }
  return report('signature-mismatch', `no signature of ${manifest.name} by its certificate`);
}

function findLine(text: string): RegExpExecArray | null {
  for (const line of text.split('\n')) {
    const found = line.length <= MAX_LINE_LENGTH ? LINE.exec(line.trim()) : null;
    if (found) return found;
  }
  return null;
}

function parseCertificate(pem: string): X509Certificate | null {
  try {
    return new X509Certificate(pem);
  } catch {
    return null;
  }
}

/** Returns how the key signed the bytes, null if it did not, or an error if OpenSSL refuses key or hash. */
function methodOf(
  certificate: X509Certificate,
  hash: string,
  bytes: Buffer,
  signature: Buffer,
): string | null | Error {
  let type = 'unknown';
  try {
    const key = certificate.publicKey;
    type = (key.asymmetricKeyType ?? type).toUpperCase();
    const saltLength = constants.RSA_PSS_SALTLEN_AUTO;
    const pss = { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength };
    if (verify(hash, bytes, key, signature)) return type === 'EC' ? 'ECDSA' : type;
    return type.startsWith('RSA') && verify(hash, bytes, pss, signature) ? 'RSA-PSS' : null;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const isRefused = /unsupported|not supported|invalid digest|disabled/i.test(error.message);
    if (!isRefused) return null;
    return new Error(`OpenSSL cannot verify ${hash} with a key of type ${type}`, { cause: error });
  }
}

function nameOf(subject: string): string {
  const name = /^CN=(.*)$/m.exec(subject)?.[1] ?? subject.replaceAll('\n', ', ');
  return name.slice(0, MAX_NAME_LENGTH) || 'nobody';
}
