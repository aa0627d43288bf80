// Checks certificates in PEM format: Node silently ignores text that holds none.

import { builtin } from '../io.ts';

const CERTIFICATE = /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----[^-]+-----END [A-Z0-9 ]+-----/g;

/** Returns why the text is no list of certificates, or undefined. */
export function certificateFlaw(text: string): string | undefined {
  const certificates = text.match(CERTIFICATE);
  if (!certificates) return 'no PEM certificate';
  const { X509Certificate } = builtin('node:crypto');
  const broken = certificates.findIndex((certificate) => {
    try {
      new X509Certificate(certificate);
      return false;
    } catch {
      return true;
    }
  });
  return broken < 0 ? undefined : `certificate ${broken + 1} is invalid`;
}
