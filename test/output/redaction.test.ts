// Redaction of secrets by value, in every form and cut anywhere.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ImgctlError } from '../../src/errors.ts';
import { type ErrorFormat, formatError, formatNotice } from '../../src/output/messages.ts';
import { Redaction, redactingSink } from '../../src/output/redaction.ts';
import { MemorySink } from '../support/memory-sink.ts';

const SECRET = 'correct horse/"battery"';

function redactionOf(...secrets: string[]): Redaction {
  const redaction = new Redaction();
  for (const secret of secrets) redaction.add(secret);
  return redaction;
}

describe('Redaction', () => {
  it.each([
    [`the service says: ${SECRET}`, 'the service says: ***'],
    [`${SECRET}${SECRET} and ${SECRET}`, '****** and ***'],
    [JSON.stringify({ message: SECRET }), '{"message":"***"}'],
    [`https://x/?q=${encodeURIComponent(SECRET)}&r=1`, 'https://x/?q=***&r=1'],
    [`https://${SECRET.toUpperCase()}.evil/`, 'https://***.evil/'],
    [`cut: ${SECRET.slice(0, 15)}`, 'cut: ***'],
    [`cut: ${SECRET.slice(0, 15)}…`, 'cut: ***…'],
    ['correct horses are not it', '***s are not it'],
    ['a correct answer', 'a correct answer'],
    ['', ''],
  ])('masks the secret in: %s', (text, expected) => {
    expect(redactionOf(SECRET).apply(text)).toBe(expected);
  });

  it.each(['', 'a', 'demo', '12345'])('ignores the short secret %j', (secret) => {
    const text = 'a demo on port 12345';
    expect(redactionOf(secret).apply(text)).toBe(text);
  });

  it('masks a secret only if all of it matches', () => {
    expect(redactionOf('hunter2').apply('hunter2, hunter3')).toBe('***, hunter3');
  });

  it('masks a secret in a message before it is escaped, but no syntax around it', () => {
    const secrets = fc.oneof(
      fc.string({ unit: 'binary', minLength: 6, maxLength: 40 }),
      fc.constantFrom('message', 'imgctl', 'status', 'exitCode', 'nabcdef', '"hint":'),
    );
    fc.assert(
      fc.property(secrets, fc.boolean(), (secret, json) => {
        fc.pre(!/[<>*]/.test(secret));
        const redaction = redactionOf(secret);
        const redact = (text: string) => redaction.apply(text);
        const formatted = (text: string, format: ErrorFormat) => [
          formatError(new ImgctlError('failed', text, { hint: text }), format),
          formatNotice('warning', text, text, format),
        ];
        const format = { json, debug: false };
        expect(formatted(`<${secret}>`, { ...format, redact })).toEqual(formatted('<***>', format));
        expect(formatted('<\n>', { ...format, redact })).toEqual(formatted('<\n>', format));
      }),
    );
  });

  it('masks several secrets, added in any order', () => {
    const redaction = redactionOf('second-secret', 'first-secret');
    const text = 'first-secret, second-secret, first-secret';
    expect(redaction.apply(text)).toBe('***, ***, ***');
  });

  it('masks what is written to a redacting sink', async () => {
    const sink = new MemorySink(80);
    const redacting = redactingSink(sink, redactionOf(SECRET));
    await redacting.write(`a ${SECRET}\n`);
    expect([sink.text, redacting.isTTY, redacting.columns]).toEqual(['a ***\n', true, 80]);
  });

  it('masks the texts of a JSON object at any depth, but not its member names', () => {
    const record = (text: string) => ({
      [SECRET]: 1,
      errors: [text, { deep: [`a ${text}`, null, true, 12] }],
      response: { __proto__: null, message: text },
    });
    expect(redactionOf(SECRET).applyWithin(record(SECRET))).toEqual(record('***'));
  });
});
