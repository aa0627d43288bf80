// Remembers which files were proved equal to those of a storage, so that an unchanged file is not read again.

import { ImgctlError, tryOr } from '../errors.ts';
import { readJsonFile, replaceFile } from '../files/atomic-file.ts';
import type { Io } from '../io.ts';
import { isObject } from '../json.ts';

/** Both sides of a file when their content was proved equal. It stays true whatever happens to them later. */
interface Proof {
  readonly name: string;
  /** The state of the source: differs after every change. */
  readonly source: string;
  /** The state of the stored file, as its storage describes it. */
  readonly stored: string;
  /** Those that a manifest confirmed. */
  readonly digests: readonly RegionDigest[];
}

/** Part of a file. */
export interface Region {
  readonly offset: number;
  readonly size: number;
  /** As Node names it, such as `sha256`. */
  readonly algorithm: string;
}

export interface RegionDigest extends Region {
  /** Hexadecimal, lower case. */
  readonly digest: string;
}

const VERSION = 1;
const MAX_PROOFS = 10_000;
const MAX_BYTES = 16 * 2 ** 20;

export type Proofs = ReturnType<typeof loadProofs>;

/**
 * Reads the proofs of a storage. A file that is damaged, of another version or of another user counts as empty, and is
 * replaced.
 * @param file undefined if there is no place for it
 */
export function loadProofs(file: string | undefined, { system }: Pick<Io, 'system'>) {
  // The last one was made last.
  const read = () => new Map(readProofs(file, system.uid).map((proof) => [proof.name, proof]));
  const proofs = read();
  /** By name, what was remembered or forgotten and is not saved. */
  const changes = new Map<string, Proof | undefined>();
  const find = (name: string, source: string) => {
    const proof = proofs.get(name);
    return proof?.source === source ? proof : undefined;
  };
  return {
    /** Returns the proof for a source that has not changed since. */
    find,
    remember({ name, source, stored, digests }: Proof): void {
      const proof = find(name, source);
      const known = proof?.digests ?? [];
      const added = digests.filter((digest) => !known.some((other) => isSameRegion(other, digest)));
      if (proof?.stored === stored && added.length === 0) return;
      const made = { name, source, stored, digests: [...known, ...added] };
      proofs.set(name, made);
      changes.set(name, made);
    },
    forget(name: string): void {
      if (proofs.delete(name)) changes.set(name, undefined);
    },
    /** Without a place for it, or if it cannot be written, the next push reads the files. */
    async save(): Promise<void> {
      if (changes.size === 0 || file === undefined) return;
      // Another machine with the same home may have saved its own meanwhile.
      const saved = read();
      for (const [name, proof] of changes) {
        saved.delete(name);
        if (proof) saved.set(name, proof);
      }
      changes.clear();
      const lines = [...saved.values()].slice(-MAX_PROOFS).map((proof) => JSON.stringify(proof));
      let bytes = lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 2, 100);
      while (bytes > MAX_BYTES) bytes -= Buffer.byteLength(lines.shift() ?? '') + 2;
      const text = `{"version":${VERSION},"proofs":[\n${lines.join(',\n')}\n]}\n`;
      await replaceFile(file, text).catch(() => {});
    },
  };
}

export function isSameRegion(left: Region, right: Region): boolean {
  const { offset, size, algorithm } = right;
  return left.offset === offset && left.size === size && left.algorithm === algorithm;
}

function readProofs(file: string | undefined, uid: number | undefined): readonly Proof[] {
  const requireOwn = (stat: { readonly uid: number }) => {
    if (stat.uid !== (uid ?? stat.uid)) throw new ImgctlError('failed', 'it is of another user');
  };
  const read = () => (file === undefined ? {} : readJsonFile(file, requireOwn, uid, MAX_BYTES));
  const { version, proofs } = tryOr(read, {}) ?? {};
  // One damaged proof makes all of them doubtful.
  const isWhole = version === VERSION && Array.isArray(proofs) && proofs.every(isProof);
  return isWhole ? proofs : [];
}

function isProof(value: unknown): value is Proof {
  if (!isObject(value)) return false;
  const { name, source, stored, digests } = value;
  const texts = [name, source, stored];
  return (
    texts.every((text) => typeof text === 'string' && text !== '') &&
    Array.isArray(digests) &&
    digests.every(isRegionDigest)
  );
}

function isRegionDigest(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { offset, size, algorithm, digest } = value;
  return (
    Number.isSafeInteger(offset) &&
    Number.isSafeInteger(size) &&
    typeof algorithm === 'string' &&
    typeof digest === 'string' &&
    /^[0-9a-f]+$/.test(digest)
  );
}
