// What a word or filter that matches nothing probably means: each form of each slip, and its hint.

import { expect, it } from 'vitest';
import { hintText } from '../../../src/cli/hints.ts';
import { noMatchError } from '../../../src/commands/images/empty.ts';
import { NO_CONFIG } from '../../../src/config/config-file.ts';
import { settle } from '../../../src/config/settings.ts';
import { parseQuery } from '../../../src/query/query.ts';
import { Tally } from '../../../src/query/tally.ts';
import { rows } from '../../support/rows.ts';

/** Returns the hint for words, or for filters after `-f `. */
function hintFor(...typed: readonly string[]): string | undefined {
  const filters = typed.filter((text) => text.startsWith('-f ')).map((text) => text.slice(3));
  const words = typed.filter((text) => !text.startsWith('-f '));
  const query = parseQuery({ words, filters }, 0);
  const { facts } = noMatchError({ query, tally: new Tally(query) });
  return facts && hintText(facts, () => settle(NO_CONFIG, {}));
}

type Row = readonly [typed: string, hint: string | undefined];

const ANY_PART = 'a word matches any part of the name; omit';
const EVERY = (words: string) =>
  `every word must match; write ${words}, or run the command once for each`;
const OMIT = (word: string) =>
  `every word must match; omit ${word}, or run the command once for each`;
const EACH = 'every filter must match; use -f for each: -f';
const FIELDS_HINT = 'to choose fields: -c or --get, or --json and a pipe to jq';
const WHOLE = '= and like compare the whole value; to find a part of it: -f';
const NOT_URLS = 'words match names, not URLs';
const FOR_HELP = 'words match names; for help, add --help';
const QUOTES = 'quotes are part of the value; did you mean -f';
const NULL = 'did you mean -f folder=null, for images that have none?';

const WORDS: readonly Row[] = [
  ['https://a:p*q,r@h', NOT_URLS],
  ['zz\r', 'remove the invisible character (U+000D): zz\\u000d'],
  ['z\u00a0z', 'remove the invisible character (U+00A0): z\\u00a0z'],
  ['z\u00adz', 'remove the invisible character (U+00AD): z\\u00adz'],
  ['z\u200bz\u200b', 'remove the invisible character (U+200B): z\\u200bz\\u200b'],
  ['z\u2060z', 'remove the invisible character (U+2060): z\\u2060z'],
  ['z\ufeffz', 'remove the invisible character (U+FEFF): z\\ufeffz'],
  ...['.[].id', '.name', '.NAME', '{{.id}}'].map((word): Row => [word, FIELDS_HINT]),
  ...['id>=1100', 'ID <5', 'name~zz', 'folder!x', 'label=zz'].map(
    (word): Row => [word, `did you mean -f '${word}'?`],
  ),
  ['!ubuntu', "to leave out names that contain it: -f 'name!~ubuntu'"],
  ['!a\nb', "to leave out names that contain it: -f 'name!~a\nb'"],
  ['*', `${ANY_PART} *`],
  ['.*', `${ANY_PART} .*`],
  ['zz.*zz*', `${ANY_PART} .**: zzzz`],
  ['"zz%?"', `${ANY_PART} "%?": zz`],
  ['^zz$', `${ANY_PART} ^$: zz`],
  ['\u201czz\u201d', `${ANY_PART} \u201c\u201d: zz`],
  ["'zz'", `${ANY_PART} '': zz`],
  ['\u2018zz\u2019', `${ANY_PART} \u2018\u2019: zz`],
  ['zz,', `${ANY_PART} ,: zz`],
  ...['zz/yy', 'zz/', '/zz'].map(
    (word): Row => [word, `words match names; to match folder and name: -f 'label~${word}'`],
  ),
  ...[...',|:=@<>~+'].map((sign): Row => [`zz${sign}yy`, EVERY('zz yy')]),
  ['(zz|yy:22.04)', EVERY('zz yy 22.04')],
  ['zz>=22.04', EVERY('zz 22.04')],
  ['zz/yy/xx', EVERY('zz yy xx')],
  ...['and', 'OR', '&', '&&', '|', '||'].map((word): Row => [word, OMIT(word)]),
  ...['latest', 'Newest'].map(
    (word): Row => [word, `words match names; omit ${word}, and use: imgctl images latest TEXT`],
  ),
  ...['asc', 'DESC'].map((word): Row => [word, `to sort in this direction: -s FIELD,${word}`]),
  ...['name', 'Updated_on'].map(
    (word): Row => [word, `to show this field: -c ${word}; to search for it: -f 'name~${word}'`],
  ),
  ...rows(FOR_HELP, 'help', 'Get', 'show', 'describe', 'delete', 'remove', 'rm'),
  ['zz  22.04', 'to match each word separately, omit the quotes: zz 22.04'],
  ['1467', 'words match names; to select by id: -f id=1467'],
  ['123456789', 'words match names; to select by id: -f id=123456789'],
  ...rows(
    undefined,
    "it's",
    '12',
    '0123',
    '1234567890',
    'named',
    'helper',
    'android',
    'zz',
    'a-name',
  ),
];

it.each(WORDS)('the word %j that matches nothing gets the hint: %s', (word, hint) => {
  expect(hintFor(word)).toBe(hint);
});

const FILTERS: readonly Row[] = [
  ['name~\u00a0zz', 'remove the invisible character (U+00A0): name~\\u00a0zz'],
  ...['&&', '&', '||', '|', 'and', 'OR'].map(
    (sign): Row => [`name~zz ${sign} id<5`, `${EACH} 'name~zz' -f 'id<5'`],
  ),
  ['name~zz,id<5', `${EACH} 'name~zz' -f 'id<5'`],
  ['name~zz, ID <5', `${EACH} 'name~zz' -f 'ID <5'`],
  ['name~z\nz and folder=a\nb', `${EACH} 'name~z\nz' -f 'folder=a\nb'`],
  ['name==zz', "did you mean -f 'name=zz'?"],
  ['name==z\nz', "did you mean -f 'name=z\nz'?"],
  ['name="zz"', `${QUOTES} 'name=zz'?`],
  ["name ~ 'zz'", `${QUOTES} 'name ~ zz'?`],
  ['name,eq,"zz"', `${QUOTES} name,eq,zz?`],
  ['name,like,"zz"', `${QUOTES} name,like,zz?`],
  ['name,in,"a","b"', `${QUOTES} name,in,a,b?`],
  ['folder=a,b', 'to match one of several values: -f folder,in,a,b'],
  ['name~^zz', "~ takes ^ and $ literally; did you mean -f 'name,like,zz%'?"],
  ['name~zz$', "~ takes ^ and $ literally; did you mean -f 'name,like,%zz'?"],
  ['name~^zz$', '~ takes ^ and $ literally; did you mean -f name,like,zz?'],
  ...['*zz*', '.*zz.*', '*zz', 'zz.*'].map(
    (value): Row => [`name~${value}`, "~ takes * literally; did you mean -f 'name~zz'?"],
  ),
  ...rows(NULL, `folder=Null`, `folder=None`, `folder=nil`, `folder=""`, `folder=''`),
  ['name=*zz*', `${WHOLE} 'name~zz'`],
  ['name=zz', `${WHOLE} 'name~zz'`],
  ['name,like,zz', `${WHOLE} 'name~zz'`],
  ...rows(
    undefined,
    'name,like,zz%',
    'name~zz',
    'name!=zz',
    'name~*',
    'name~.*',
    'id=5',
    'folder~none',
    'folder=null',
  ),
];

it.each(FILTERS)('the filter %j that matches nothing gets the hint: %s', (filter, hint) => {
  expect(hintFor(`-f ${filter}`)).toBe(hint);
});

it('a filter with a slip counts before a word with one, and a word before a filter that may be right', () => {
  expect(hintFor('zz,yy', '-f name==zz')).toBe("did you mean -f 'name=zz'?");
  expect(hintFor('zz,yy', '-f name=zz')).toBe(EVERY('zz yy'));
  expect(hintFor('1467', 'zz')).toBeUndefined();
});
