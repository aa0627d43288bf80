// Verifies the signature of a manifest (DSP0243, 5.1): `SHA256(vm.mf)= hex`, then PEM certificates.

import { constants, verify, X509Certificate } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { Problem } from './findings.ts';
import { stripDotSlash, tellApart } from './names.ts';
import { type PackageFile, readWhole } from './package-file.ts';
import type { PackageSource } from './package-source.ts';

/** A signature that fits the manifest. Its issuer is not verified. */
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
const HASHES = ['SHA1', 'SHA224', 'SHA256', 'SHA384', 'SHA512'];

/**
 * Returns null if the signature is wrong or cannot be verified, which is a finding.
 * @throws the reason of the signal
 */
export async function verifySignature(
  file: PackageFile,
  manifest: PackageFile,
  manifestBytes: Buffer,
  { folder, findings }: PackageSource,
  { now, signal }: { now?: number | undefined; signal?: AbortSignal | undefined },
): Promise<Signature | null> {
  const bytes = await readWhole(file, findings, MAX_FILE_BYTES, 'certificate-syntax');
  if (bytes === null) return null;
  const report = ({ code, message }: Problem) => {
    findings.add(code, file.name, message);
    return null;
  };
  const signed = parseSignatureFile(bytes);
  if ('code' in signed) return report(signed);
  const signer = await findSigner(signed, manifest.name, manifestBytes, signal);
  if ('code' in signer) return report(signer);
  const { certificate, method } = signer;
  const problem = certificateProblem(certificate, signed.certificates);
  if (problem !== null) return report(problem);
  if (folder + stripDotSlash(signed.name) !== manifest.name) {
    const actual = tellApart(manifest.name, folder + stripDotSlash(signed.name));
    const message = `signed as ${signed.name}, the manifest is ${actual}`;
    report({ code: 'manifest-name', message });
  }
  const { validFrom, validTo } = certificate;
  if (now !== undefined && Date.parse(validTo) < now)
    report({ code: 'certificate-expired', message: `it expired on ${validTo}` });
  if (now !== undefined && Date.parse(validFrom) > now)
    report({ code: 'certificate-expired', message: `it is valid from ${validFrom}` });
  return {
    signer: nameOf(certificate.subject),
    issuer: nameOf(certificate.issuer),
    selfSigned: certificate.checkIssued(certificate) && certificate.verify(certificate.publicKey),
    algorithm: `${method}, ${signed.hash}`,
    validUntil: new Date(validTo).toISOString(),
  };
}

const syntax = (message: string): Problem => ({ code: 'certificate-syntax', message });
const unverified = (message: string): Problem => ({ code: 'certificate-not-verified', message });
const mismatch = (message: string): Problem => ({ code: 'signature-mismatch', message });

interface SignatureFile {
  /** Such as `SHA256`. */
  readonly hash: string;
  /** Of the manifest. */
  readonly name: string;
  readonly signature: Buffer;
  readonly certificates: readonly X509Certificate[];
}

/** Label, name and digits of `SHA256(vm.mf)= 3045…`. */
const LINE = /^([\w-]+)[ \t]*\((.+)\)[ \t]*=[ \t]*((?:[0-9a-f]{2})*)$/i;
const BEGIN = '-----BEGIN CERTIFICATE-----';

function parseSignatureFile(bytes: Buffer): SignatureFile | Problem {
  const text = new TextDecoder().decode(bytes);
  if (bytes[0] === 0x30 || /-----BEGIN (PKCS7|CMS)-----/.test(text))
    return unverified('a CMS signature, which imgctl cannot verify');
  const lines = text.split('\n').filter((line) => line.length <= MAX_LINE_LENGTH);
  const found = lines.map((line) => LINE.exec(line.trim())).find((each) => each !== null);
  const [, label = '', name = '', digits] = found ?? [];
  if (digits === undefined) return syntax('no line such as SHA256(vm.mf)= digits');
  const [, ...pieces] = text.split(BEGIN);
  if (pieces.length === 0) return syntax('no certificate in PEM format');
  if (pieces.length > MAX_CERTIFICATES) return syntax(`more than ${MAX_CERTIFICATES} certificates`);
  const certificates = parseCertificates(pieces.map((piece) => BEGIN + piece));
  if (certificates === null) return syntax('an unreadable certificate');
  // OpenSSL 3 writes RSA-SHA2-256.
  const hash = label
    .toUpperCase()
    .replace(/^(RSA-PSS|RSA|EC|ECDSA)-/, '')
    .replace(/2?-/, '');
  if (!HASHES.includes(hash)) return unverified(`unknown algorithm ${label}`);
  return { hash, name, signature: Buffer.from(digits, 'hex'), certificates };
}

function parseCertificates(texts: readonly string[]): X509Certificate[] | null {
  try {
    return texts.map((text) => new X509Certificate(text));
  } catch {
    return null;
  }
}

interface Signer {
  readonly certificate: X509Certificate;
  /** How its key signs, such as `ECDSA`. */
  readonly method: string;
}

/** Returns the first certificate whose key signed the bytes; else why one could not be tried. */
async function findSigner(
  { hash, signature, certificates }: SignatureFile,
  name: string,
  bytes: Buffer,
  signal: AbortSignal | undefined,
): Promise<Signer | Problem> {
  let problem = mismatch(`no signature of ${name} by its certificate`);
  for (const certificate of certificates) {
    // A verification may be slow; an interrupt counts between two.
    await setImmediate();
    signal?.throwIfAborted();
    const method = methodOf(certificate, hash, bytes, signature);
    if (typeof method === 'string') return { certificate, method };
    if (method !== null && problem.code === 'signature-mismatch') problem = method;
  }
  return problem;
}

/** Returns how the key signed the bytes, null if it did not, a problem if OpenSSL refuses it. */
function methodOf(
  certificate: X509Certificate,
  hash: string,
  bytes: Buffer,
  signature: Buffer,
): string | null | Problem {
  let type = 'unknown';
  try {
    const key = certificate.publicKey;
    type = (key.asymmetricKeyType ?? type).toUpperCase();
    if (verify(hash, bytes, key, signature)) return type === 'EC' ? 'ECDSA' : type;
    const saltLength = constants.RSA_PSS_SALTLEN_AUTO;
    const pss = { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength };
    return type.startsWith('RSA') && verify(hash, bytes, pss, signature) ? 'RSA-PSS' : null;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const isRefused = /unsupported|not supported|invalid digest|disabled/i.test(error.message);
    return isRefused
      ? unverified(`OpenSSL cannot verify ${hash} with a key of type ${type}`)
      : null;
  }
}

function certificateProblem(
  certificate: X509Certificate,
  all: readonly X509Certificate[],
): Problem | null {
  const { validFrom, validTo, issuer } = certificate;
  if (Number.isNaN(Date.parse(validFrom) + Date.parse(validTo)))
    return syntax(`impossible dates, from ${validFrom} to ${validTo}`);
  // A renewed certificate has the name of the one before.
  const issuers = all.filter((each) => certificate.checkIssued(each));
  if (issuers.length === 0 || issuers.some((each) => certificate.verify(each.publicKey)))
    return null;
  return mismatch(`${nameOf(issuer)} did not issue its certificate`);
}

/** @param subject an attribute per line; undefined, against Node's types, if it has none */
function nameOf(subject: string | undefined): string {
  const lines = subject ?? '';
  const name = /^CN=(.*)/m.exec(lines)?.[1] ?? lines.replaceAll('\n', ', ');
  return name.slice(0, MAX_NAME_LENGTH) || 'nobody';
}
