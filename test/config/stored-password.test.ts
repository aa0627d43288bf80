// Where a login has stored the password, as its mark says it.

import { expect, it } from 'vitest';
import { STORED_PASSWORD } from '../../src/config/definitions.ts';
import { Settings } from '../../src/config/settings.ts';
import { markedPassword, markOf, passwordsToDelete } from '../../src/config/stored-password.ts';

const URL = 'https://images.example';

function settingsWith(mark: string | undefined, more: Readonly<Record<string, string>> = {}) {
  const stored = { 'base-url': URL, username: 'al', ...more };
  const texts = mark === undefined ? stored : { ...stored, [STORED_PASSWORD]: mark };
  return new Settings({ profile: undefined, profiles: new Map([['work', texts]]) }, 'work', {});
}

const keychain = (username = 'al') => ({
  location: { kind: 'keychain' },
  account: { profile: 'work', baseUrl: URL, username },
});
const helper = (name: string, baseUrl = URL, username = 'al') => ({
  location: { kind: 'helper', name },
  account: { profile: 'work', baseUrl, username },
});

it.each([
  ['keychain', keychain()],
  ['helper:pass', helper('pass')],
  ['helper:/a b/pass', helper('/a b/pass')],
  ['helper:pass http://old.example/x bob b', helper('pass', 'http://old.example/x', 'bob b')],
  ['helper:/a b/pass https://old.example ', helper('/a b/pass', 'https://old.example', '')],
  ['helper:pass ftp://x y', helper('pass ftp://x y')],
  [undefined, undefined],
  ['', undefined],
  ['xhelper:pass', undefined],
  ['keychains', undefined],
])('the mark %s is of the password %j', (mark, expected) => {
  expect(markedPassword(settingsWith(mark))).toEqual(expected);
});

it.each([keychain(), helper('/a b/pass'), helper('pass', 'http://old.example/x', 'bob b')])(
  'a mark is read as it was written: %j',
  (password) => {
    const mark = markOf(password as Parameters<typeof markOf>[0]);
    expect(markedPassword(settingsWith(mark))).toEqual(password);
  },
);

it.each([
  [undefined, {}, []],
  ['keychain', {}, [keychain()]],
  ['keychain', { 'credential-helper': 'pass' }, [helper('pass'), keychain()]],
  ['helper:pass', { 'credential-helper': 'pass' }, [helper('pass')]],
  [
    `helper:pass ${URL} bob`,
    { 'credential-helper': 'pass' },
    [helper('pass'), helper('pass', URL, 'bob')],
  ],
  [`helper:other ${URL} al`, { 'credential-helper': 'pass' }, [helper('pass'), helper('other')]],
  ['helper:other', { 'credential-helper': 'a b' }, [helper('other')]],
  [undefined, { 'base-url': '', 'credential-helper': 'pass' }, []],
])('a logout deletes of the mark %s and %j: %j', (mark, more, expected) => {
  expect(passwordsToDelete(settingsWith(mark, more))).toEqual(expected);
});
