// Reads the descriptor of a package, whatever is in the file that claims to be one.

import { type Envelope, readEnvelope } from './envelope.ts';
import type { FindingList } from './findings.ts';
import { type PackageFile, readRegion } from './region.ts';
import { parseXml, XmlProblem } from './xml.ts';

const LARGEST_DESCRIPTOR = 16 * 1024 * 1024;

/** The envelope of a descriptor; null, with a finding, where there is none. */
export async function readDescriptor(
  file: PackageFile,
  findings: FindingList,
): Promise<Envelope | null> {
  if (!file.complete) return null;
  if (file.size > LARGEST_DESCRIPTOR) {
    findings.add('descriptor-too-large', file.name, `${file.size} bytes`);
    return null;
  }
  const bytes = await readRegion(file, 0, file.size);
  try {
    return readEnvelope(parseXml(bytes), (code, element, message) => {
      findings.add(code, `${file.name}:${element.line}`, message);
    });
  } catch (thrown) {
    if (!(thrown instanceof XmlProblem)) throw thrown;
    findings.add(thrown.code, `${file.name}:${thrown.line}`, thrown.message);
    return null;
  }
}
