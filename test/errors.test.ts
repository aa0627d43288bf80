// The error class.

import { describe, expect, it } from 'vitest';
import { NoAnswer } from '../src/api/network-errors.ts';
import { ImgctlError } from '../src/errors.ts';
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
    const changed = new NoAnswer(original, true, false).with({ message: 'up' }).with({ hint: 'x' });
    expect(changed).toBeInstanceOf(NoAnswer);
    expect(changed).toMatchObject({
      message: 'up',
      hint: 'x',
      sent: true,
      transient: false,
      cause,
    });
    expect(original.with({ message: 'up' }).stack).toBe(original.stack);
  });

  it('returns an error that is formatted like a new one', () => {
    const format = { json: true, debug: false };
    const options = { hint: 'wait', status: 503, cause };
    expect(formatError(original.with({ message: 'up' }), format)).toBe(
      formatError(new ImgctlError('unreachable', 'up', options), format),
    );
  });
});
