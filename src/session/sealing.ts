// Encrypts tokens for a store that others can read.

import { ImgctlError, tryOr } from '../errors.ts';
import { builtin } from '../io.ts';

/** Begins a sealed token. */
export const SEALED = 'sealed:';
const CIPHER = 'aes-256-gcm';
/** 32 bytes. Node's decoder would skip characters that do not belong. */
const BASE64_KEY = /^[\w+/-]{43}=?$/;
const NONCE_LENGTH = 12;
const TAG_LENGTH = 16;

/**
 * Reads 32 bytes in base64.
 * @param origin the variable, for messages
 * @throws ImgctlError config
 */
export function parseKey(text: string, origin: string): Buffer {
  if (BASE64_KEY.test(text)) return Buffer.from(text, 'base64');
  const message = `${origin} is not a key of 32 bytes in base64`;
  throw new ImgctlError('config', message, { facts: 'create one with: openssl rand -base64 32' });
}

/** Seals a token, so that the store cannot read it, change it or show it under another name. */
export function seal(text: string, name: string, key: Buffer): string {
  const { createCipheriv, randomBytes } = builtin('node:crypto');
  const nonce = randomBytes(NONCE_LENGTH);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(name));
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return SEALED + Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64');
}

/** Returns undefined if it was sealed with another key or name, or changed. */
export function unseal(sealed: string, name: string, key: Buffer): string | undefined {
  const data = Buffer.from(sealed.slice(SEALED.length), 'base64');
  const bodyStart = NONCE_LENGTH + TAG_LENGTH;
  return tryOr(() => {
    const nonce = data.subarray(0, NONCE_LENGTH);
    const decipher = builtin('node:crypto')
      .createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_LENGTH })
      .setAAD(Buffer.from(name))
      .setAuthTag(data.subarray(NONCE_LENGTH, bodyStart));
    return Buffer.concat([decipher.update(data.subarray(bodyStart)), decipher.final()]).toString();
  }, undefined);
}
