// Sealed tokens: only the same key and place open them.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isSealed, sealWith } from '../../../src/session/shared/seal.ts';
import { thrownBy } from '../../support/errors.ts';

const KEY = Buffer.alloc(32, 1);
const seal = sealWith(KEY.toString('base64'), 'KEY');

it('a sealed text is opened with the same key and place', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string(), (text, place) => {
      const sealed = seal.seal(text, place);
      expect(isSealed(sealed)).toBe(true);
      expect(seal.unseal(sealed, place)).toBe(text);
      expect(seal.unseal(sealed, `${place}x`)).toBeUndefined();
    }),
  );
});

it('a sealed text never shows the text and differs each time', () => {
  const [first, second] = [seal.seal('canary', ''), seal.seal('canary', '')];
  expect(first).not.toBe(second);
  expect(`${first} ${Buffer.from(first.slice(7), 'base64')}`).not.toContain('canary');
});

it('a changed or truncated text is not opened', () => {
  const bytes = Buffer.from(seal.seal('a token', 'place').slice('sealed:'.length), 'base64');
  for (let index = 0; index < bytes.length; index += 1) {
    const changed = Buffer.from(bytes);
    changed[index] = (changed[index] ?? 0) ^ 1;
    expect(seal.unseal(`sealed:${changed.toString('base64')}`, 'place')).toBeUndefined();
    const truncated = bytes.subarray(0, index).toString('base64');
    expect(seal.unseal(`sealed:${truncated}`, 'place')).toBeUndefined();
  }
});

it('a key is 32 bytes in base64 or hexadecimal', () => {
  const sealed = seal.seal('a token', 'place');
  expect(sealWith(KEY.toString('hex'), 'KEY').unseal(sealed, 'place')).toBe('a token');
  expect(sealWith(KEY.toString('base64url'), 'KEY').unseal(sealed, 'place')).toBe('a token');
  const other = sealWith(Buffer.alloc(32, 2).toString('base64'), 'KEY');
  expect(other.unseal(sealed, 'place')).toBeUndefined();
  for (const key of ['secret', KEY.subarray(1).toString('base64'), 'ab'.repeat(31)]) {
    expect(thrownBy(() => sealWith(key, 'IMGCTL_TOKEN_STORE_KEY'))).toMatchObject({
      code: 'config',
      message: 'IMGCTL_TOKEN_STORE_KEY is not a key of 32 bytes in base64',
      hint: 'create one with: openssl rand -base64 32',
    });
  }
});
