// Every finding that a package can have: the codes with their severity, and the list that collects findings.

import { counted } from '../words.ts';

/** Codes are stable: scripts compare them. */
const SEVERITIES = {
  'not-a-file': 'error',
  'not-a-tar': 'error',
  'archive-named-ovf': 'error',
  'bad-header': 'error',
  'truncated-header': 'error',
  'truncated-member': 'error',
  'no-end-of-archive': 'error',
  'short-end-of-archive': 'warning',
  'trailing-data': 'error',
  'too-many-members': 'error',
  'not-ustar': 'warning',
  'pax-header': 'warning',
  'unsafe-name': 'error',
  'dot-slash-name': 'warning',
  'macos-file': 'warning',
  'link-member': 'error',
  'special-member': 'error',
  'directory-member': 'warning',
  'duplicate-member': 'error',
  'descriptor-not-first': 'error',
  'member-order': 'error',
  'several-descriptors': 'error',
  'unreferenced-file': 'warning',
  'no-descriptor': 'error',
  'descriptor-too-large': 'error',
  'xml-encoding': 'error',
  'xml-syntax': 'error',
  'xml-doctype': 'error',
  'xml-entity': 'error',
  'xml-too-complex': 'error',
  'not-an-envelope': 'error',
  'missing-element': 'error',
  'missing-attribute': 'error',
  'bad-number': 'error',
  'unknown-unit': 'warning',
  'duplicate-id': 'error',
  'too-many-options': 'warning',
  'unknown-file-reference': 'error',
  'unknown-disk': 'error',
  'bad-host-resource': 'error',
  'unknown-network': 'warning',
  'unknown-configuration': 'error',
  'duplicate-instance': 'error',
  'incomplete-item': 'warning',
  'no-hardware': 'warning',
  'missing-info': 'warning',
  'duplicate-property': 'warning',
  'disk-without-format': 'warning',
  'shared-file': 'warning',
  'device-place': 'warning',
  'newer-hardware': 'warning',
  'other-hardware': 'warning',
  'unsupported-device': 'warning',
  'empty-collection': 'warning',
  'duplicate-reference': 'error',
  'remote-reference': 'warning',
  'missing-file': 'error',
  'outside-folder': 'error',
  'size-mismatch': 'error',
  'unknown-end': 'warning',
  'unknown-compression': 'warning',
  'not-gzip': 'error',
  'vmdk-magic': 'error',
  'vmdk-header': 'error',
  'vmdk-split': 'error',
  'vmdk-truncated': 'error',
  'vmdk-type': 'error',
  'vmdk-create-type': 'warning',
  'capacity-mismatch': 'warning',
  'needs-other-disk': 'error',
  'unpack-failed': 'error',
  'no-manifest': 'warning',
  'manifest-name': 'warning',
  'manifest-too-large': 'error',
  'manifest-syntax': 'error',
  'manifest-duplicate': 'error',
  'manifest-label': 'warning',
  'manifest-algorithms': 'warning',
  'digest-mismatch': 'error',
  'digest-without-file': 'error',
  'not-in-manifest': 'warning',
  'certificate-not-verified': 'warning',
  'certificate-without-manifest': 'error',
  'certificate-syntax': 'error',
  'certificate-expired': 'warning',
  'signature-mismatch': 'error',
} as const satisfies Record<string, Finding['severity']>;

export type FindingCode = keyof typeof SEVERITIES;

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

/** Returns what is wrong with a file of which only these bytes were there to read, or null. */
export function shortRead(read: number, size: number): string | null {
  return read < size ? `ends after ${read} of ${counted(size, 'byte')}` : null;
}

function findingOf(code: FindingCode, place: string, message: string): Finding {
  return { code, severity: SEVERITIES[code], message: cut(message), place: cut(place) };
}

function cut(text: string): string {
  return text.length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH - 1)}…` : text;
}
