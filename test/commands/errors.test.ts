// Errors and notices as text and as JSON.

import { describe, expect, it } from 'vitest';
import { asImgctlError, CHANGES_EXIT_CODE, EXIT_CODES, ImgctlError } from '../../src/errors.ts';
import { formatError, formatNotice } from '../../src/output/messages.ts';
import { fakeIo, runCli } from '../support/io.ts';

const TEXT = { json: false, debug: false };
const JSON_LINE = { json: true, debug: false };
const HOSTILE = 'a\u001b[31m\r\nimgctl: b\u009b\u202e';

describe('formatError', () => {
  it('prints a line and a hint', () => {
    const error = new ImgctlError('not-found', 'no such image', { hint: 'imgctl images list' });
    expect(formatError(error, TEXT)).toBe('imgctl: no such image\nhint: imgctl images list\n');
    expect(formatError(new ImgctlError('failed', 'why'), TEXT)).toBe('imgctl: why\n');
  });

  it('prints a JSON object, with a status if there is one', () => {
    const error = new ImgctlError('server-error', 'oops', { hint: 'wait', status: 503 });
    expect(JSON.parse(formatError(error, JSON_LINE))).toEqual({
      error: { code: 'server-error', message: 'oops', hint: 'wait', status: 503, exitCode: 1 },
    });
    expect(formatError(new ImgctlError('usage', 'x'), JSON_LINE)).toBe(
      '{"error":{"code":"usage","message":"x","exitCode":2}}\n',
    );
  });

  it.each([[TEXT], [JSON_LINE]])('escapes control characters: %j', (format) => {
    const text = formatError(new ImgctlError('failed', HOSTILE, { hint: HOSTILE }), format);
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(text.match(/\n/g)).toHaveLength(format.json ? 1 : 2);
  });

  it('prints the stack trace of the cause with debug only', () => {
    const error = asImgctlError(new TypeError('x is not a function'));
    expect(formatError(error, TEXT)).toMatch(
      /^imgctl: unexpected error: x is not a function\nhint: .*--debug.*\n$/,
    );
    const debug = formatError(error, { json: false, debug: true });
    expect(debug).toMatch(
      /^imgctl: .*\nhint: .*\ndebug: TypeError: x is not a function\n(debug: {5}at .*\n)+$/,
    );
  });
});

describe('asImgctlError', () => {
  it('returns an ImgctlError unchanged and wraps anything else', () => {
    const error = new ImgctlError('empty', 'nothing');
    expect(asImgctlError(error)).toBe(error);
    expect(asImgctlError('text')).toMatchObject({ code: 'failed', exitCode: 1 });
    expect(asImgctlError(undefined).message).toBe('unexpected error: undefined');
  });
});

describe('formatNotice', () => {
  it.each([
    ['warning', 'imgctl: warning: a\nhint: b\n'],
    ['note', 'imgctl: a\nhint: b\n'],
    ['debug', 'imgctl: debug: a\nhint: b\n'],
  ] as const)('formats a %s', (kind, text) => {
    expect(formatNotice(kind, 'a', 'b', TEXT)).toBe(text);
    expect(formatNotice(kind, 'a', undefined, JSON_LINE)).toBe(`{"${kind}":{"message":"a"}}\n`);
  });
});

it('help exit-codes lists the exit codes of all errors', async () => {
  const { stdout } = await runCli(['help', 'exit-codes']);
  const documented = [...stdout.matchAll(/^ +(\d+) {2,}\S/gm)].map((match) => Number(match[1]));
  const used = new Set<number>([0, ...Object.values(EXIT_CODES), CHANGES_EXIT_CODE]);
  expect(documented).toEqual([...used].sort((left, right) => left - right));
});

it('an invalid output format does not hide an error', async () => {
  const io = fakeIo({ env: { IMGCTL_OUTPUT: 'nonsense', IMGCTL_PROFILE: '../x' } });
  const result = await runCli(['whoami'], io);
  expect(result).toMatchObject({ stdout: '', exitCode: 2 });
  expect(result.stderr).toMatch(/^imgctl: invalid profile name: \.\.\/x\nhint: .+\n$/);
});
