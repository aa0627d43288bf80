// Remembers which files of valid packages a storage has, so that they are not read again.

import { ImgctlError, tryOr } from '../errors.ts';
import { MAX_FILE_SIZE, readJsonFile, replaceFile } from '../files/atomic-file.ts';
import type { Io } from '../io.ts';
import { isObject } from '../json.ts';

/**
 * A file of a valid package that was equal to the stored one. It still is as long as both have
 * these fingerprints: every change would show in one of them.
 */
export interface Proof {
  /** The package. Another one with this file has another manifest, so its own proof. */
  readonly package: string;
  readonly name: string;
  /** The fingerprint of the local file. */
  readonly source: string;
  /** The fingerprint of the file in the storage. */
  readonly stored: string;
}

/** Counts up with what makes a package valid: earlier proofs no longer count. */
const VERSION = 3;
/** As many as fit into MAX_FILE_SIZE, with names of 255 bytes and ETags of 200. */
const MAX_PROOFS = 5_000;

export interface Proofs {
  has(proof: Proof): boolean;
  remember(proof: Proof): void;
  /** Without a place for it, or if it cannot be written, the next push reads the files. */
  save(): Promise<void>;
}

/** A file that is damaged, or of another version or user, counts as empty, and is replaced. */
export function loadProofs(file: string | undefined, { system }: Pick<Io, 'system'>): Proofs {
  // The last one was made last.
  const proofs = new Map(readProofs(file, system.uid).map((proof) => [proofKey(proof), proof]));
  let isChanged = false;
  const has = (proof: Proof) => {
    const known = proofs.get(proofKey(proof));
    return known?.source === proof.source && known.stored === proof.stored;
  };
  return {
    has,
    remember(proof) {
      if (has(proof)) return;
      proofs.delete(proofKey(proof));
      proofs.set(proofKey(proof), proof);
      isChanged = true;
    },
    async save() {
      if (!isChanged || file === undefined) return;
      isChanged = false;
      const lines = [...proofs.values()].slice(-MAX_PROOFS).map((proof) => JSON.stringify(proof));
      const text = `{"version":${VERSION},"proofs":[\n${lines.join(',\n')}\n]}\n`;
      // A larger file would not be read.
      if (Buffer.byteLength(text) <= MAX_FILE_SIZE) await replaceFile(file, text).catch(() => {});
    },
  };
}

function proofKey(proof: Pick<Proof, 'package' | 'name'>): string {
  return `${proof.package}/${proof.name}`;
}

function readProofs(file: string | undefined, uid: number | undefined): readonly Proof[] {
  const requireOwn = (stat: { readonly uid: number }) => {
    if (stat.uid !== (uid ?? stat.uid))
      throw new ImgctlError('failed', 'it belongs to another user');
  };
  const read = () => (file === undefined ? {} : readJsonFile(file, requireOwn, uid));
  const { version, proofs } = tryOr(read, {}) ?? {};
  // One damaged proof makes all of them doubtful.
  const isWhole = version === VERSION && Array.isArray(proofs) && proofs.every(isProof);
  return isWhole ? proofs : [];
}

function isProof(value: unknown): value is Proof {
  if (!isObject(value)) return false;
  const texts = [value.package, value.name, value.source, value.stored];
  return texts.every((text) => typeof text === 'string' && text !== '');
}
