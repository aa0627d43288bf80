// Redaction of secrets by value, in every form and cut anywhere.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ImgctlError } from '../../src/errors.ts';
import type { MessageFormat } from '../../src/output/messages.ts';
import { Redaction } from '../../src/output/redaction.ts';
import { printable } from '../../src/output/text.ts';
import { shorten } from '../../src/words.ts';
import { cpuSeconds } from '../support/cpu.ts';
import { PLAIN } from '../support/message-format.ts';
import { formatError, formatNotice } from '../support/messages.ts';
import { anyCharacter } from '../support/texts.ts';

const inPoints = (text: string, write: (point: number) => string) =>
  Array.from(text, (character) => write(character.codePointAt(0) ?? 0)).join('');
const inBytes = (text: string, write: (hex: string) => string) =>
  Array.from(Buffer.from(text), (byte) => write(byte.toString(16).padStart(2, '0'))).join('');
const inJson = (text: string) => JSON.stringify(text).slice(1, -1);
const HTML = new Map(
  ['&&amp;', '<&lt;', '>&gt;', '"&quot;', "'&#39;"].map((each) => [each.charAt(0), each.slice(1)]),
);
const inHtml = (text: string) => text.replace(/[&<>"']/g, (each) => HTML.get(each) ?? '');

/** Encoders of the standard library or written here, which share nothing with the redaction. */
const ENCODINGS: Readonly<Record<string, (text: string) => string>> = {
  unchanged: String,
  'in capitals': (text) => text.replace(/[a-z]/g, (letter) => letter.toUpperCase()),
  'JSON-escaped': inJson,
  'JSON-escaped in every character': (text) =>
    text.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  'HTML-escaped': inHtml,
  'HTML-escaped in capitals': (text) =>
    inHtml(text).replace(/&[a-z]+;/g, (each) => each.toUpperCase()),
  'in decimal references': (text) => inPoints(text, (point) => `&#${point};`),
  'in hexadecimal references': (text) => inPoints(text, (point) => `&#x${point.toString(16)};`),
  'percent-encoded': encodeURIComponent,
  'percent-encoded in every byte': (text) => inBytes(text, (hex) => `%${hex}`),
  'form-encoded': (text) => new URLSearchParams({ '': text }).toString().slice(1),
  'as messages escape it': printable,
};

const SECRET = 'correct horse/"battery"';
const ENCODED = encodeURIComponent(SECRET);
const WORDS = ['a-long-secret', 'abc', 'q1w2e3'];

function redactionOf(...secrets: string[]): Redaction {
  const redaction = new Redaction();
  for (const secret of secrets) redaction.add(secret);
  return redaction;
}

describe('Redaction', () => {
  it.each<[string | string[], string, string]>([
    [SECRET, `the service says: ${SECRET}`, 'the service says: ***'],
    [SECRET, `${SECRET}${SECRET} and ${SECRET}`, '****** and ***'],
    ['abcabcabc', 'x abcabcabcabc', 'x ***'],
    [SECRET, `cut: ${SECRET.slice(0, 12)}`, 'cut: ***'],
    [SECRET, `cut: ${SECRET.slice(0, 11)}`, 'cut: correct hor'],
    [SECRET, `cut: ${SECRET.slice(0, 15)}…`, 'cut: ***…'],
    [SECRET, ENCODED.slice(0, 21), '***'],
    [SECRET, `${ENCODED.slice(0, 22)}…`, '***…'],
    ['hunter2', 'hun…, hu…', '***…, hu…'],
    [SECRET, 'correct horses are not it', '***s are not it'],
    [SECRET, '&#x110000; &#1114112;', '&#x110000; &#1114112;'],
    [SECRET, 'a correct answer', 'a correct answer'],
    ['hunter2.', 'no hunter2', 'no ***'],
    ['hunter2.', 'hunter2. It', '*** It'],
    ['12.', 'no 12', 'no ***'],
    ['a.bc', 'a.b, a.bc', 'a.b, ***'],
    ['.', 'a. b .', 'a. b ***'],
    ['wait…hunter2', 'wait…hunter2, wait%E2%80%A6hunter2, wait…', '***, ***, ***…'],
    [SECRET, '', ''],
    ['hunter2', 'hunter2, hunter3', '***, hunter3'],
    ['demo', 'demos and demo: "demo", _demo', 'demos and ***: "***", _demo'],
    ['demo', 'Demo at /demo?demo=1', '*** at /***?***=1'],
    ['demo', 'line\\ndemo\\n %20demo%20 \\u0020demo', 'line\\n***\\n %20***%20 \\u0020***'],
    ['demo', '&lt;demo&gt;', '&lt;***&gt;'],
    ["it's-mine", 'no it&apos;s-mine, IT&APOS;S-MINE', 'no ***, ***'],
    ['a', 'a banana', '*** banana'],
    ['12345', 'port 12345, not 123456', 'port ***, not 123456'],
    ['#&!', 'x#&!, #&amp;!', 'x#&!, ***'],
    ['!    !', '! !, 21', '***, 21'],
    ['', 'a demo', 'a demo'],
    ['   ', 'a   demo', 'a   demo'],
    [['second-secret', 'first-secret'], 'first-secret, second-secret', '***, ***'],
    [WORDS, 'abc, a-long-secret, xq1w2e3y', '***, ***, x***y'],
  ])('masks %j in %j: %j', (secrets, text, expected) => {
    expect(redactionOf(...[secrets].flat()).apply(text)).toBe(expected);
  });

  it.each(Object.entries(ENCODINGS))('masks a cut secret that comes back %s', (_how, encode) => {
    const secrets = [
      'correct horse/"battery"',
      'p&ss word%41',
      'hunter2!',
      'a\\b<c>d é€😀 fgh',
      SECRET,
    ];
    for (const secret of [...secrets, 'abcdefgh'.repeat(5)]) {
      const text = `the service says: no ${encode(secret)} here`;
      const redaction = redactionOf(secret);
      for (let max = 20; max < text.length; max += 1) {
        const shown = redaction.apply(shorten(text, max)).toLowerCase();
        const characters = [...secret];
        const inARow = characters
          .slice(4)
          .map((_, at) => encode(characters.slice(at, at + 5).join('')).toLowerCase());
        expect(
          inARow.filter((part) => shown.includes(part)),
          shown,
        ).toEqual([]);
      }
    }
  });

  it('masks the passwords of all URLs of a typed word, each also alone', () => {
    const redaction = new Redaction();
    redaction.addTyped([
      '--run',
      'curl https://ann:first@h https://u:se@cond@h',
      'ftp://u:a b://c@h',
    ]);
    const text = 'ann:first@h, u:se@cond@h, --run, u:a b://c@h, //c';
    expect(redaction.apply(text)).toBe('ann:***@h, u:***@h, --run, u:***@h, //c');
  });

  it('leaves a short secret that messages show anyway', () => {
    const redaction = new Redaction();
    redaction.add('demo', 'demo');
    redaction.add('long-enough', 'long-enough');
    expect(redaction.apply('demo long-enough')).toBe('demo ***');
  });

  it.each(Object.entries(ENCODINGS))('masks a secret that comes back %s', (_how, encode) => {
    const secrets = fc.oneof(
      fc.string({ unit: 'grapheme-ascii', minLength: 6, maxLength: 40 }),
      fc.string({ unit: anyCharacter, minLength: 6, maxLength: 20 }),
      fc.constantFrom('a&amp;b"c', 'two  spaces', '\\\\"\\"\\u0041', 'x &<>\'"/+%=', SECRET),
    );
    const property = fc.property(secrets, (secret) => {
      // An escaped character behind a backslash looks like an escaped backslash.
      fc.pre(!/[<>*]|^\s|\s$|^\\|\\$|\\[^ -~]/.test(secret));
      // Beside escapes of other characters, so does a plain backslash before a quote.
      fc.pre(encode(secret) === secret || encode !== printable || !/\\["\\/bfnrtu]/.test(secret));
      expect(redactionOf(secret).apply(`<${encode(secret)}>`)).toMatch(/^<\*\*\*.{0,2}>$/s);
    });
    fc.assert(property);
  });

  it('masks a secret in a message before it is escaped, but no syntax around it', () => {
    const secrets = fc.oneof(
      fc.string({ unit: anyCharacter, minLength: 6, maxLength: 40 }),
      fc.constantFrom(
        'two\nlines',
        'message',
        'imgctl',
        'status',
        'exitCode',
        'nabcdef',
        '"hint":',
      ),
    );
    const traced = (stack: string) => Object.assign(new Error(), { stack });
    const formatted = (text: string, format: MessageFormat) => [
      formatError(new ImgctlError('failed', text, { facts: text, cause: traced(text) }), format),
      formatNotice('warning', { message: text, hint: text }, format),
    ];
    const property = fc.property(secrets, fc.boolean(), (secret, json) => {
      fc.pre(!/[<>*]|^\s|\s$/.test(secret));
      const redaction = redactionOf(secret);
      const format = { ...PLAIN, json, debug: true };
      const masked = { ...format, redact: redaction.apply };
      expect(formatted(`<${secret}>`, masked)).toEqual(formatted('<***>', format));
      expect(formatted('<\n>', masked)).toEqual(formatted('<\n>', format));
    });
    fc.assert(property);
  });

  it('masks secrets in messages and hints, but not in details, which are data', () => {
    const { apply: redact } = redactionOf('ubuntu');
    const facts = 'imgctl images latest ubuntu 24.04';
    const error = new ImgctlError('failed', 'ubuntu', { facts, details: ['ubuntu-22.04.ova'] });
    expect(formatError(error, { ...PLAIN, redact })).toBe(
      'imgctl: ***\n  ubuntu-22.04.ova\nhint: imgctl images latest *** 24.04\n',
    );
  });

  it.each([
    ['the secret itself', `${SECRET} `],
    ['beginnings of the secret', 'correct hors'],
    ['spaces behind a word of the secret', `correct${' '.repeat(1_000)}`],
    ['escapes', '%25\\&amp;'],
    ['marks of cuts', 'correct…'],
    ['zeros in references', `&#${'0'.repeat(1_000)}`],
  ])('takes little time for much of %s', async (_what, part) => {
    const redaction = redactionOf(SECRET, '%%%%%%', '\\\\\\\\', '&&&&&&', 'x1', 'k'.repeat(2_000));
    const text = part.repeat(Math.ceil(2 ** 18 / part.length));
    expect(await cpuSeconds(() => redaction.apply(text))).toBeLessThan(1.5);
  });
});
