// The error class.

import { describe, expect, it } from 'vitest';
import { ImgctlError } from '../src/errors.ts';
import { TransportError } from '../src/http/errors.ts';

describe('ImgctlError.with', () => {
  const cause = new TypeError('socket');
  const original = new ImgctlError('unreachable', 'down', { hint: 'wait', status: 503, cause });

  it.each([
    [{ message: 'up' }, { code: 'unreachable', message: 'up', hint: 'wait' }],
    [{ hint: undefined }, { code: 'unreachable', message: 'down', hint: undefined }],
    [{ code: 'usage' } as const, { code: 'usage', exitCode: 2, message: 'down', hint: 'wait' }],
  ])('changes only %j', (changes, expected) => {
    expect(original.with(changes)).toMatchObject({ ...expected, status: 503, cause });
    expect(original).toMatchObject({ code: 'unreachable', message: 'down', hint: 'wait' });
  });

  it('returns an error of the same class with its fields and its stack', () => {
    const changed = new TransportError('timeout', 'down', { sent: true }).with({ message: 'up' });
    expect(changed).toBeInstanceOf(TransportError);
    expect(changed).toMatchObject({ message: 'up', sent: true, transient: false });
    expect(original.with({ message: 'up' }).stack).toBe(original.stack?.replace('down', 'up'));
  });
});
