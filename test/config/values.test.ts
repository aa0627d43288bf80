// Kinds of values: what they return, and how they refuse a text.

import { expect, it } from 'vitest';
import { SETTINGS } from '../../src/config/definitions.ts';
import {
  anyText,
  byteRate,
  certificateFlaw,
  checkName,
  duration,
  parseGiven,
  plainText,
  userName,
  type Value,
  wholeNumber,
} from '../../src/config/values.ts';
import { selfSigned } from '../support/certificate.ts';
import { hintOf, thrownBy } from '../support/errors.ts';

const HOME = { HOME: '/home/ann' };
const PATH = anyText({ mayBePath: true });
const FILE = anyText({ from: 'files' });
const PLAIN = { parse: plainText };
const DIGITS = '9'.repeat(15);
const HELPER: Value = SETTINGS['credential-helper'].value;
const REGION: Value = SETTINGS['upload-region'].value;

it.each<[string, Value, unknown, object?]>([
  ['1', wholeNumber(1, 32), 1],
  ['32', wholeNumber(1, 32), 32],
  [DIGITS, wholeNumber(0), Number(DIGITS)],
  ['0', byteRate(), 0],
  ['1024', byteRate(), 1024],
  ['1.5M', byteRate(), 1.5 * 2 ** 20],
  [' 2kb ', byteRate(), 2048],
  ['1GiB', byteRate(), 2 ** 30],
  ['1t', byteRate(), 2 ** 40],
  ['1p', byteRate(), 2 ** 50],
  ['pass.sh', HELPER, 'pass.sh'],
  ['./two words', HELPER, './two words'],
  ['eu-west-2', REGION, 'eu-west-2'],
  ['name\r\n', PLAIN, 'name'],
  ['~', PATH, '/home/ann'],
  ['~/a', FILE, '/home/ann/a'],
  ['~/a', PATH, '/users/ann/a', { HOME: '', USERPROFILE: '/users/ann' }],
  ['a~', PATH, 'a~'],
  ['~/a', anyText(), '~/a'],
])('%j is valid for a kind of values', (text, value, parsed, env = HOME) => {
  expect(parseGiven(value, text, '--flag', env as typeof HOME)).toBe(parsed);
});

const RATES = 'use bytes per second, such as 500k, 10M or 1G, or 0 for no limit';
const NAMES = 'use a letter or digit, then up to 63 letters, digits,';
const CONTROL = 'remove it, and everything that is not part of the value';
const [NUMBER, CPUS] = [wholeNumber(1), wholeNumber(1, 32)];
const NAME = { parse: (text: string) => checkName(text, 'profile') };
const DOTTED = { parse: (text: string) => checkName(text, 'cursor', { dots: true }) };

it.each<[string, string, Value, string, string, object?]>([
  ['--n', '0', CPUS, '--n must be a whole number from 1 to 32 (got 0)', 'for example: --n 1'],
  ['--n', '33', CPUS, '--n must be a whole number from 1 to 32 (got 33)', 'for example: --n 32'],
  [
    ...(['retries', 'x', NUMBER, 'retries must be a whole number of at least 1 (got x)'] as const),
    'for example: imgctl config set retries 1',
  ],
  ['--r', '1023', byteRate(), '--r must be at least 1k (got 1023)', RATES],
  ['--r', '1x', byteRate(), 'invalid --r: 1x', RATES],
  ['--t', '5', duration(), 'invalid --t: 5', 'use a duration such as 500ms, 30s, 5m, 1h, 2d or 3w'],
  ['--h', 'two words', HELPER, 'invalid --h: two words', 'use a name such as pass, or a path'],
  ['--r', 'eu west', REGION, 'invalid --r: eu west', 'use a region such as us-east-1'],
  ['--u', ' ', anyText(), '--u must not be empty', 'provide a value, or omit it'],
  [
    ...(['username', '', anyText(), 'username must not be empty'] as const),
    'provide a value, or remove the setting: imgctl config unset username',
  ],
  ['--u', 'a:bc', { parse: userName }, 'invalid --u: a:…', 'use a user name without a colon'],
  ['--u', 'a\u001bb', PLAIN, '--u has a control character (U+001B)', CONTROL],
  ['--profile', 'a.b', NAME, 'invalid profile name: a.b', `${NAMES} - or _`],
  ['--cursor', '-', DOTTED, 'invalid cursor name: -', `${NAMES} ., - or _`],
  ['--f', '~bob', PATH, 'cannot expand ~ in --f: ~bob', 'use ~/, a whole path, or ./~ for a name'],
  ['--f', '~/a', PATH, 'cannot expand ~ in --f: ~/a', 'use a whole path: HOME is not set', {}],
])('%s does not accept %j', (name, text, value, message, hint, env = HOME) => {
  const error = thrownBy(() => parseGiven(value, text, name, env as typeof HOME));
  expect({ code: error.code, message: error.message, hint: hintOf(error) }).toEqual({
    ...{ code: 'usage', message, hint },
  });
});

const { cert, key } = selfSigned('images.example');
it.each([
  ['nothing', ''],
  ['a comment', '# from the wiki\n'],
  ['a key', key],
  ['a CRL', '-----BEGIN X509 CRL-----\nMIIB\n-----END X509 CRL-----\n'],
])('a file of certificates may begin with %s', (_what, lead) => {
  expect(certificateFlaw(`${lead}${cert}`)).toBeUndefined();
  const flaw = certificateFlaw(`${lead}${cert}${cert}${cert.slice(0, 200)}`);
  expect(flaw).toBe('certificate 3 of 3 is invalid');
});
