// Help texts taken apart: paragraphs, terms with their meaning, and what stays as it is.

import { expect, it } from 'vitest';
import { type Block, blocksOf } from '../../src/reference/blocks.ts';
import { ownManual } from './tree.ts';

const paragraph = (text: string): Block => ({ kind: 'paragraph', text });
const terms = (...pairs: [string, string][]): Block => ({
  kind: 'terms',
  terms: pairs.map(([term, text]) => ({ term, text })),
});
const literal = (...lines: string[]): Block => ({ kind: 'literal', lines });

it.each<[string, string, Block[]]>([
  ['nothing', '', []],
  ['lines at the margin', '\none\ntwo\n\nthree\n', [paragraph('one two'), paragraph('three')]],
  ['a text with its list', 'Two:\n  a  b\n', [paragraph('Two:'), terms(['a', 'b'])]],
  ['a long meaning', '  a b   c\n        d\n  e  f', [terms(['a b', 'c d'], ['e', 'f'])]],
  [
    'terms that end in one column',
    '    0  c\n       d\n  130  e',
    [terms(['0', 'c d'], ['130', 'e'])],
  ],
  ['shell lines', '  $ one\n  $ two\n', [literal('$ one', '$ two')]],
  ['shell lines with a remark', '  $ one  # first\n', [literal('$ one  # first')]],
  ['a shape', '  one\n    two', [literal('one', '  two')]],
  ['a meaning without a term', '       b\n  a  c', [literal('     b', 'a  c')]],
])('%s', (_, text, expected) => {
  expect(blocksOf(text)).toEqual(expected);
});

it('takes every list of the topics for one', async () => {
  const { topics } = await ownManual();
  const listed = topics.flatMap(({ blocks }) =>
    blocks.flatMap((block) => (block.kind === 'terms' ? block.terms.map(({ term }) => term) : [])),
  );
  const expected = ['like', 'lt le gt ge', '-30d, -2w, -12h, -15m', 'csv', 'age', '-q', 'NO_PROXY'];
  expect(listed).toEqual(expect.arrayContaining([...expected, '0', '130', 'XDG_STATE_HOME']));
});
