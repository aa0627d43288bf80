// Seals a token with AES-256-GCM, so that the store itself cannot read or change it.

import { ImgctlError } from '../../errors.ts';
import { builtin } from '../../io.ts';

export type Seal = ReturnType<typeof sealWith>;

const PREFIX = 'sealed:';
const KEY_LENGTH = 32;
const NONCE_LENGTH = 12;
const TAG_LENGTH = 16;

export function isSealed(text: string): boolean {
  return text.startsWith(PREFIX);
}

/**
 * @param key 32 bytes in hexadecimal or base64
 * @param origin the variable it comes from, for messages
 * @throws ImgctlError config
 */
export function sealWith(key: string, origin: string) {
  const bytes = /^[\da-f]{64}$/i.test(key) ? Buffer.from(key, 'hex') : Buffer.from(key, 'base64');
  if (bytes.length !== KEY_LENGTH) {
    throw new ImgctlError('config', `${origin} is not a key of 32 bytes in base64`, {
      hint: 'create one with: openssl rand -base64 32',
    });
  }
  const { createCipheriv, createDecipheriv, randomBytes } = builtin('node:crypto');
  return {
    /** @param name the key of the text in the store; under another one it is not unsealed */
    seal(text: string, name: string): string {
      const nonce = randomBytes(NONCE_LENGTH);
      const cipher = createCipheriv('aes-256-gcm', bytes, nonce).setAAD(Buffer.from(name));
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return PREFIX + Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64');
    },
    /** Returns undefined if it was sealed with another key or name, or changed. */
    unseal(sealed: string, name: string): string | undefined {
      const data = Buffer.from(sealed.slice(PREFIX.length), 'base64');
      const nonce = data.subarray(0, NONCE_LENGTH);
      const tag = data.subarray(NONCE_LENGTH, NONCE_LENGTH + TAG_LENGTH);
      try {
        const decipher = createDecipheriv('aes-256-gcm', bytes, nonce, {
          authTagLength: TAG_LENGTH,
        });
        decipher.setAAD(Buffer.from(name)).setAuthTag(tag);
        const body = data.subarray(NONCE_LENGTH + TAG_LENGTH);
        return Buffer.concat([decipher.update(body), decipher.final()]).toString();
      } catch {
        return undefined;
      }
    },
  };
}
