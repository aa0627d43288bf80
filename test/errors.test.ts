// The error class.

import { describe, expect, it } from 'vitest';
import { ImgctlError } from '../src/errors.ts';
import { TransportError } from '../src/http/errors.ts';
import { formatError } from '../src/output/messages.ts';

describe('ImgctlError.with', () => {
  const cause = new TypeError('socket');
  const original = new ImgctlError('unreachable', 'down', { hint: 'wait', status: 503, cause });

  it.each([
    [{ message: 'up' }, { code: 'unreachable', message: 'up', hint: 'wait' }],
    [{ hint: undefined }, { code: 'unreachable', message: 'down', hint: undefined }],
    [{ code: 'usage' } as const, { code: 'usage', exitCode: 2, message: 'down', hint: 'wait' }],
    [{}, { code: 'unreachable', message: 'down', hint: 'wait' }],
  ])('changes only %j', (changes, expected) => {
    expect(original.with(changes)).toMatchObject({ ...expected, status: 503, cause });
    expect(original).toMatchObject({ code: 'unreachable', message: 'down', hint: 'wait' });
  });

  it('returns an error of the same class with its fields and its stack', () => {
    const changed = new TransportError('timeout', 'down', { cause, sent: true })
      .with({ message: 'up' })
      .with({ hint: 'x' });
    expect(changed).toBeInstanceOf(TransportError);
    expect(changed).toMatchObject({
      message: 'up',
      hint: 'x',
      sent: true,
      transient: false,
      cause,
    });
    expect(original.with({ message: 'up' }).stack).toBe(original.stack?.replace('down', 'up'));
  });

  it('returns an error that is formatted like a new one', () => {
    const format = { json: true, debug: false };
    const options = { hint: 'wait', status: 503, cause };
    expect(formatError(original.with({ message: 'up' }), format)).toBe(
      formatError(new ImgctlError('unreachable', 'up', options), format),
    );
  });
});
