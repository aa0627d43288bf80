// Sealed tokens: only the same key and place open them.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseKey, seal, unseal } from '../../src/session/shared-store.ts';
import { thrownBy } from '../support/errors.ts';

const KEY = Buffer.alloc(32, 1);

it('a sealed text is opened with the same key and place', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string(), (text, place) => {
      const sealed = seal(text, place, KEY);
      expect(unseal(sealed, place, KEY)).toBe(text);
      expect(unseal(sealed, `${place}x`, KEY)).toBeUndefined();
      expect(unseal(sealed, place, Buffer.alloc(32, 2))).toBeUndefined();
    }),
  );
});

it('a sealed text never shows the text and differs each time', () => {
  const [first, second] = [seal('canary', '', KEY), seal('canary', '', KEY)];
  expect(first).not.toBe(second);
  expect(`${first} ${Buffer.from(first.slice(7), 'base64')}`).not.toContain('canary');
});

it('a changed or truncated text is not opened', () => {
  const bytes = Buffer.from(seal('a token', 'place', KEY).slice('sealed:'.length), 'base64');
  for (let index = 0; index < bytes.length; index += 1) {
    const changed = Buffer.from(bytes);
    changed[index] = (changed[index] ?? 0) ^ 1;
    for (const data of [changed, bytes.subarray(0, index)]) {
      expect(unseal(`sealed:${data.toString('base64')}`, 'place', KEY)).toBeUndefined();
    }
  }
});

it('a key is 32 bytes in base64 or hexadecimal', () => {
  for (const encoding of ['hex', 'base64', 'base64url'] as const) {
    expect(parseKey(KEY.toString(encoding), 'KEY')).toEqual(KEY);
  }
  for (const key of ['secret', KEY.subarray(1).toString('base64'), 'ab'.repeat(31)]) {
    expect(thrownBy(() => parseKey(key, 'IMGCTL_TOKEN_STORE_KEY'))).toMatchObject({
      code: 'config',
      message: 'IMGCTL_TOKEN_STORE_KEY is not a key of 32 bytes in base64',
      hint: 'create one with: openssl rand -base64 32',
    });
  }
});
