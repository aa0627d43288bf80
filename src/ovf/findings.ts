// Every finding that a package can have: one table of codes, and the list they are collected in.

export type Severity = 'error' | 'warning';

interface FindingKind {
  readonly severity: Severity;
  readonly means: string;
}

const error = (means: string): FindingKind => ({ severity: 'error', means });
const warning = (means: string): FindingKind => ({ severity: 'warning', means });

/** What each code means. Codes are stable: scripts compare them. */
export const FINDINGS = {
  'not-a-file': error('a folder, a pipe or a device instead of a file'),
  'not-a-tar': error('the file of an OVA is no tar archive'),
  'bad-header': error(
    'a tar header that is damaged or makes no sense; nothing after it can be read',
  ),
  'truncated-header': error('the archive ends inside a tar header'),
  'truncated-member': error('the archive ends before the end of a member'),
  'no-end-of-archive': error('the two zero blocks that end a tar archive are missing'),
  'short-end-of-archive': warning('the archive ends with one zero block instead of two'),
  'trailing-data': error('something follows the end of the archive'),
  'too-many-members': error('more members than a package can have'),
  'not-ustar': warning(
    'the archive is of an older or a GNU tar dialect, the standard asks for ustar',
  ),
  'pax-header': warning('the archive has pax extended headers, the standard asks for plain ustar'),
  'unsafe-name': error('an absolute name, one that leaves its folder, or one with a backslash'),
  'dot-slash-name': warning('a member is called ./name where the references say name'),
  'link-member': error('a member is a symbolic or hard link'),
  'special-member': error('a member is a device, a pipe or of a kind that holds no plain file'),
  'directory-member': warning('a member is a directory'),
  'duplicate-member': error('two members have the same name'),
  'descriptor-not-first': error('the descriptor is not the first member'),
  'member-order': error('the members are not in the order of the standard'),
  'several-descriptors': error('more than one descriptor'),
  'unreferenced-file': warning('a member that the descriptor does not mention'),
  'no-descriptor': error('no .ovf file in the archive'),
  'descriptor-too-large': error('a descriptor over 16 MiB'),
  'xml-encoding': error('the descriptor is not in the encoding that it claims'),
  'xml-syntax': error('the descriptor is not well-formed XML'),
  'xml-doctype': error('the descriptor has a document type declaration'),
  'xml-entity': error('the descriptor uses an entity beyond the five of XML'),
  'xml-too-complex': error('more elements, attributes or levels than a descriptor can need'),
  'not-an-envelope': error('the XML is no OVF envelope of version 0.9, 1.x or 2.x'),
  'missing-element': error('an element that each descriptor has is missing'),
  'missing-attribute': error('an attribute that is required is missing'),
  'bad-number': error('a size or capacity is not a whole number'),
  'unknown-unit': warning('a unit of allocation that is unknown'),
  'duplicate-id': error('two elements have the same identifier'),
  'too-many-options': warning('more deployment options than are looked at'),
  'unknown-file-reference': error('the identifier of a file that is not among the references'),
  'unknown-disk': error('the identifier of a disk that is not in the disk section'),
  'unknown-network': warning('the name of a network that is not in the network section'),
  'duplicate-reference': error('two references name the same file'),
  'remote-reference': warning('a reference to another address, which is not looked at'),
  'missing-file': error('a file that the descriptor mentions is not there, or may not be read'),
  'size-mismatch': error('the size of a file differs from the declared one'),
  'unknown-compression': warning('a compression other than gzip'),
  'not-gzip': error('a file is declared as compressed with gzip and is not'),
  'vmdk-magic': error('the file of a VMDK disk does not begin like a VMDK'),
  'vmdk-header': error('the header of a VMDK makes no sense'),
  'vmdk-split': error('a VMDK that keeps its data in other files'),
  'vmdk-truncated': error('a VMDK ends too early'),
  'vmdk-type': error('a VMDK is not of the type that the descriptor declares'),
  'vmdk-create-type': warning('a VMDK is not of the type that it says itself'),
  'capacity-mismatch': warning('the capacity in a VMDK differs from the declared one'),
  'no-manifest': warning('without a manifest nothing shows that the files are whole'),
  'manifest-name': warning('manifest or certificate is not named like the descriptor'),
  'manifest-too-large': error('a manifest over 2 MiB'),
  'manifest-syntax': error('a line of the manifest that cannot be read'),
  'manifest-duplicate': error('the manifest names a file twice'),
  'manifest-algorithms': warning('the manifest uses more than one digest algorithm'),
  'digest-mismatch': error('the content of a file differs from its digest in the manifest'),
  'digest-without-file': error('the manifest names a file that is not there'),
  'not-in-manifest': warning('a file without digest in the manifest'),
  'certificate-not-verified': warning('the certificate is not verified'),
  'certificate-without-manifest': error('a certificate without the manifest that it signs'),
} as const satisfies Record<string, FindingKind>;

export type FindingCode = keyof typeof FINDINGS;

/** Something wrong, or at least odd, with a package. */
export interface Finding {
  readonly code: FindingCode;
  readonly severity: Severity;
  /** One line. */
  readonly message: string;
  /** The file, member, line or element it is about. */
  readonly place: string;
}

/** So many of one code are kept, lest a hostile package fills memory and screen. */
const MAX_PER_CODE = 50;
const MAX_TEXT_LENGTH = 300;

/** The findings of one package, in the order they were made. */
export class FindingList {
  readonly #findings: Finding[] = [];
  readonly #counts = new Map<FindingCode, number>();

  add(code: FindingCode, place: string, message: string): void {
    const count = (this.#counts.get(code) ?? 0) + 1;
    this.#counts.set(code, count);
    if (count > MAX_PER_CODE) return;
    const { severity } = FINDINGS[code];
    this.#findings.push({ code, severity, message: oneLine(message), place: oneLine(place) });
  }

  has(code: FindingCode): boolean {
    return this.#counts.has(code);
  }

  /** All findings; a code that was met too often ends with how many more there are. */
  list(file: string): Finding[] {
    const findings = [...this.#findings];
    for (const [code, count] of this.#counts) {
      if (count <= MAX_PER_CODE) continue;
      const message = `and ${count - MAX_PER_CODE} more of this kind`;
      findings.push({ code, severity: FINDINGS[code].severity, message, place: oneLine(file) });
    }
    return findings;
  }
}

function oneLine(text: string): string {
  const short = text.length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH - 1)}…` : text;
  return short.replace(/[\u0000-\u001f\u2028\u2029]/g, escapeControl);
}

function escapeControl(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
