// How errors and notices look, as text and as JSON, and what no service can make of them.

import { describe, expect, it } from 'vitest';
import { asImgctlError, type ErrorCode, EXIT_CODES, ImgctlError } from '../../src/errors.ts';
import { formatError, formatNotice } from '../../src/output/messages.ts';
import { fakeIo, runCli } from '../support/io.ts';

const TEXT = { json: false, debug: false };
const JSON_LINE = { json: true, debug: false };
const HOSTILE = 'a\u001b[31m\r\nimgctl: b\u009b\u202e';

describe('formatError', () => {
  it('is a line and a hint', () => {
    const error = new ImgctlError('not-found', 'no such image', { hint: 'imgctl images list' });
    expect(formatError(error, TEXT)).toBe('imgctl: no such image\nhint: imgctl images list\n');
    expect(formatError(new ImgctlError('failed', 'why'), TEXT)).toBe('imgctl: why\n');
  });

  it('is one object of JSON with a status where there is one', () => {
    const error = new ImgctlError('server-error', 'oops', { hint: 'wait', status: 503 });
    expect(JSON.parse(formatError(error, JSON_LINE))).toEqual({
      error: { code: 'server-error', message: 'oops', hint: 'wait', status: 503, exitCode: 1 },
    });
    expect(formatError(new ImgctlError('usage', 'x'), JSON_LINE)).toBe(
      '{"error":{"code":"usage","message":"x","exitCode":2}}\n',
    );
  });

  it.each([[TEXT], [JSON_LINE]])('lets nothing through that moves a terminal: %j', (format) => {
    const text = formatError(new ImgctlError('failed', HOSTILE, { hint: HOSTILE }), format);
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(text.match(/\n/g)).toHaveLength(format.json ? 1 : 2);
  });

  it('has a stack trace with debug alone, that of the cause', () => {
    const error = asImgctlError(new TypeError('x is not a function'));
    expect(formatError(error, TEXT)).toMatch(
      /^imgctl: unexpected error: x is not a function\nhint: .*--debug.*\n$/,
    );
    const debug = formatError(error, { json: false, debug: true });
    expect(debug).toMatch(/\ndebug: TypeError: x is not a function\ndebug: {5}at /);
    expect(
      debug
        .trimEnd()
        .split('\n')
        .slice(2)
        .every((line) => line.startsWith('debug: ')),
    ).toBe(true);
  });
});

describe('asImgctlError', () => {
  it('keeps what was thrown on purpose, and takes anything else', () => {
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
  ] as const)('%s', (kind, text) => {
    expect(formatNotice(kind, 'a', 'b', TEXT)).toBe(text);
    expect(formatNotice(kind, 'a', undefined, JSON_LINE)).toBe(`{"${kind}":{"message":"a"}}\n`);
  });
});

describe('exit codes', () => {
  it('are those of the help topic', async () => {
    const { stdout } = await runCli(['help', 'exit-codes']);
    const documented = [...stdout.matchAll(/^ +(\d+) {2}\S/gm)].map((match) => Number(match[1]));
    const used = new Set<number>([0, ...Object.values(EXIT_CODES)]);
    expect(documented).toEqual([...used].sort((left, right) => left - right));
  });

  it.each(Object.entries(EXIT_CODES))('%s ends with %i', (code, exitCode) => {
    expect(new ImgctlError(code as ErrorCode, 'x').exitCode).toBe(exitCode);
  });
});

it('an error format that is broken itself still shows the error', async () => {
  const io = fakeIo({ env: { IMGCTL_OUTPUT: 'nonsense', IMGCTL_PROFILE: '../x' } });
  const result = await runCli(['whoami'], io);
  expect(result).toMatchObject({ stdout: '', exitCode: 2 });
  expect(result.stderr).toMatch(/^imgctl: invalid profile name: \.\.\/x\nhint: .+\n$/);
});
