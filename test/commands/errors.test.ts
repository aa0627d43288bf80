// Errors and notices as text and as JSON.

import { expect, it } from 'vitest';
import { asImgctlError, ImgctlError } from '../../src/errors.ts';
import { formatError, formatNotice } from '../../src/output/messages.ts';
import { runCli } from '../support/io.ts';

const TEXT = { json: false, debug: false };
const JSON_LINE = { json: true, debug: false };
const found = new ImgctlError('server-error', 'oops', { hint: 'wait', status: 503 });
const FIELDS = '"code":"server-error","message":"oops","hint":"wait","status":503,"exitCode":1';
const bare = new ImgctlError('usage', 'why');

it.each([
  [formatError(found, TEXT), 'imgctl: oops\nhint: wait\n'],
  [formatError(found, JSON_LINE), `{"error":{${FIELDS}}}\n`],
  [formatError(bare, TEXT), 'imgctl: why\n'],
  [formatError(bare, JSON_LINE), '{"error":{"code":"usage","message":"why","exitCode":2}}\n'],
  [formatNotice('warning', 'a', 'b', TEXT), 'imgctl: warning: a\nhint: b\n'],
  [formatNotice('note', 'a', undefined, JSON_LINE), '{"note":{"message":"a"}}\n'],
])('a message is printed as %j', (text, expected) => {
  expect(text).toBe(expected);
});

it.each([[TEXT], [JSON_LINE]])('an error escapes control characters: %j', (format) => {
  const hint = 'a\u001b[31m\r\nimgctl: b\u009b\u202e';
  const text = formatError(new ImgctlError('failed', hint, { hint }), format);
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  expect(text.match(/\n/g)).toHaveLength(format.json ? 1 : 2);
});

it('an unexpected error shows its stack trace with debug only', () => {
  expect(asImgctlError(undefined).message).toBe('unexpected error: undefined');
  const error = asImgctlError(new TypeError('x is not a function'));
  const line = 'imgctl: unexpected error: x is not a function\nhint: .*--debug.*\n';
  expect(formatError(error, TEXT)).toMatch(new RegExp(`^${line}$`));
  const trace = 'debug: TypeError: x is not a function\n(debug: {5}at .*\n)+';
  const traced = formatError(error, { json: false, debug: true });
  expect(traced).toMatch(new RegExp(`^${line}${trace}$`));
});

it('an invalid output format does not hide an error', async () => {
  const { stderr } = await runCli(['whoami'], {
    env: { IMGCTL_OUTPUT: 'nonsense', IMGCTL_PROFILE: '../x' },
  });
  expect(stderr).toMatch(/^imgctl: invalid profile name: \.\.\/x\nhint: .+\n$/);
});
