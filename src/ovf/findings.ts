// The codes of all findings that a package can have, and the list that collects findings.

/** These make a package invalid. Codes are stable: scripts compare them. */
// biome-ignore format: one list, in the order of the checks
const ERRORS = [
  'not-a-file', 'not-a-tar', 'archive-named-ovf', 'bad-header', 'truncated-header',
  'truncated-member', 'no-end-of-archive', 'trailing-data', 'too-many-members', 'unsafe-name',
  'link-member', 'special-member', 'duplicate-member', 'descriptor-not-first', 'member-order',
  'several-descriptors', 'no-descriptor', 'descriptor-too-large', 'xml-encoding', 'xml-syntax',
  'xml-doctype', 'xml-entity', 'xml-too-complex', 'not-an-envelope', 'missing-element',
  'missing-attribute', 'bad-number', 'duplicate-id', 'unknown-file-reference', 'unknown-disk',
  'bad-host-resource', 'unknown-configuration', 'duplicate-instance', 'duplicate-reference',
  'missing-file', 'outside-folder', 'size-mismatch', 'not-gzip', 'vmdk-magic', 'vmdk-header',
  'vmdk-split', 'vmdk-truncated', 'vmdk-type', 'needs-other-disk', 'unpack-failed',
  'manifest-too-large', 'manifest-syntax', 'manifest-duplicate', 'digest-mismatch',
  'digest-without-file', 'certificate-without-manifest', 'certificate-syntax', 'signature-mismatch',
] as const;

// biome-ignore format: one list, in the order of the checks
const WARNINGS = [
  'short-end-of-archive', 'not-ustar', 'pax-header', 'dot-slash-name', 'macos-file',
  'directory-member', 'unreferenced-file', 'unknown-unit', 'too-many-options', 'unknown-network',
  'incomplete-item', 'no-hardware', 'missing-info', 'duplicate-property', 'disk-without-format',
  'shared-file', 'device-place', 'newer-hardware', 'other-hardware', 'unsupported-device',
  'empty-collection', 'remote-reference', 'unknown-end', 'unknown-compression', 'vmdk-create-type',
  'capacity-mismatch', 'no-manifest', 'manifest-name', 'manifest-label', 'manifest-algorithms',
  'not-in-manifest', 'certificate-not-verified', 'certificate-expired',
] as const;

export type FindingCode = (typeof ERRORS | typeof WARNINGS)[number];

const INVALIDATING: ReadonlySet<FindingCode> = new Set(ERRORS);

export interface Finding {
  readonly code: FindingCode;
  readonly severity: 'error' | 'warning';
  readonly message: string;
  /** A file, member, line or byte offset. */
  readonly place: string;
}

/** What is wrong with a file, before it is in the list. */
export type Problem = Pick<Finding, 'code' | 'message'>;

/** Limits what a hostile package can put into memory and on the screen. */
const MAX_PER_CODE = 50;
const MAX_TEXT_LENGTH = 300;

export class FindingList {
  readonly #findings: Finding[] = [];
  readonly #counts = new Map<FindingCode, number>();

  add(code: FindingCode, place: string, message: string): void {
    const count = (this.#counts.get(code) ?? 0) + 1;
    this.#counts.set(code, count);
    if (count > MAX_PER_CODE) return;
    this.#findings.push(findingOf(code, place, message));
  }

  has(code: FindingCode): boolean {
    return this.#counts.has(code);
  }

  list(file: string): readonly Finding[] {
    const findings = [...this.#findings];
    for (const [code, count] of this.#counts) {
      if (count <= MAX_PER_CODE) continue;
      findings.push(findingOf(code, file, `and ${count - MAX_PER_CODE} more of this kind`));
    }
    return findings;
  }
}

function findingOf(code: FindingCode, place: string, message: string): Finding {
  const severity = INVALIDATING.has(code) ? 'error' : 'warning';
  return { code, severity, message: cut(message), place: cut(place) };
}

function cut(text: string): string {
  return text.length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH - 1)}…` : text;
}
