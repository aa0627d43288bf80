// YAML as parsers of both versions read it.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { yamlList, yamlText } from '../../src/output/yaml.ts';
import { anyText, HOSTILE, RAW_HARM } from './hostile.ts';

/** Texts that some version of YAML takes for something else if they are not quoted. */
const TRAPS = [
  ...['', ' ', ' x', 'x ', 'yes', 'No', 'ON', 'off', 'y', 'N'],
  ...['true', 'FALSE', 'null', '~', '1', '012', '0o7', '0x1', '1_000', '1e3', '.5', '.inf', '.NaN'],
  ...['1:30', '190:20:30', '2018-07-18', '2018-07-18 15:36:49', '2018-07-18 Wed 15:36:49 EDT'],
  ...['-', '- a', '?', '? a', ':', 'a: b', 'a:', 'a #b', '#a', '&a', '*a', '!a', '%a', '@a', '`a'],
  ...['[a]', '{a}', ',', "'a'", '"a"', '|', '>', '---', '...', '\\', 'a\nb', '\ttab', 'a\u0085b'],
  ...['\u2028', '\ufeffa', '\ufffe', '\u{e0001}', '😀', 'Größe', '[ds] a/b.ova', HOSTILE],
];
const TRAPPED: unknown[] = [
  ...TRAPS.map((text) => ({ [text]: [text, { [text]: text }], folder: null, public: true })),
  ...[0, -5, 1.5, 1e21, 1e-7, 123456789012, -2.5e30].map((id) => ({ id, tags: [['x'], {}, []] })),
  // The YAML package writes a long key in a form of its own.
  ...[999, 1_001, 2_000].map((length) => ({ [':'.repeat(length)]: [{ ['"'.repeat(length)]: 1 }] })),
];

/** An object that stands twice must not become an alias. */
const SHARED = { a: 1 };

it.each([
  [1e21, '1.0e+21\n'],
  [-1.5e-7, '-1.5e-7\n'],
  [Array(2).fill(SHARED), '- a: 1\n- a: 1\n'],
  ['long '.repeat(40), `"${'long '.repeat(40)}"\n`],
  [
    ['yes', '=', 'a: b', '2018-07-18', 'é', '1:30'],
    '- "yes"\n- "="\n- "a: b"\n- "2018-07-18"\n- "é"\n- "1:30"\n',
  ],
  ['a\u009bb\u{e0001}', '"a\\u009bb\\U000e0001"\n'],
  [[{ name: 'a (1).ova', none: {} }, null], '- name: a (1).ova\n  none: {}\n- null\n'],
])('yamlText writes %j as %j', (value, expected) => {
  expect(yamlText(value)).toBe(expected);
});

it.each(['1.1', '1.2'] as const)('a parser of YAML %s reads any text as itself', (version) => {
  for (const value of TRAPPED) expect(parse(yamlText(value), { version })).toEqual(value);
  const leaf = fc.oneof(anyText(), fc.constantFrom(...TRAPS), fc.double(), fc.boolean());
  const value = fc.array(fc.dictionary(anyText(), fc.oneof(leaf, fc.array(leaf))));
  const property = fc.property(value, (original) => {
    const json: unknown = JSON.parse(JSON.stringify(original));
    const yaml = yamlText(json);
    expect(yaml.replaceAll('\n', '')).not.toMatch(RAW_HARM);
    expect(parse(yaml, { version })).toEqual(json);
  });
  fc.assert(property, { numRuns: 40 });
});

it.each([0, 1, 99, 100, 101, 250])('yamlList of %i items is one document in batches', (count) => {
  const items = Array.from({ length: count }, (_, id) => ({ id, tags: ['data:', id] }));
  expect([...yamlList(items, undefined)].join('')).toBe(yamlText(items));
  const meta = { count };
  expect([...yamlList(items, meta)].join('')).toBe(yamlText({ data: items, meta }));
});
