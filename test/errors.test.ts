// The error class.

import { expect, it } from 'vitest';
import type { ImgctlError } from '../src/errors.ts';
import { TransportError } from '../src/http/errors.ts';

it.each([
  [{ message: 'up' }, { code: 'timeout', message: 'up', hint: 'wait' }],
  [{ hint: undefined }, { code: 'timeout', message: 'down', hint: undefined }],
  [{ code: 'usage' } as const, { code: 'usage', exitCode: 2, message: 'down', hint: 'wait' }],
])('ImgctlError.with returns an error of the same class and changes only %j', (changes, fields) => {
  const more = { hint: 'wait', cause: new TypeError('socket'), sent: true };
  const original = new TransportError('timeout', 'down', more);
  const changed: ImgctlError = original.with(changes);
  expect(changed).toBeInstanceOf(TransportError);
  expect(changed).toMatchObject({ ...fields, cause: more.cause, sent: true, transient: false });
  expect(changed.stack).toBe(original.stack?.replace('down', fields.message));
  expect(original).toMatchObject({ code: 'timeout', message: 'down', hint: 'wait' });
});
