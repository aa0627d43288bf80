// YAML as parsers of both versions read it.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { yamlList, yamlText } from '../../src/output/yaml.ts';
import { anyText, RAW_HARM } from './hostile.ts';
import { TRAPS } from './yaml-traps.ts';

const READERS = [
  ['1.2', (text: string): unknown => parse(text, { version: '1.2' })],
  ['1.1', (text: string): unknown => parse(text, { version: '1.1' })],
] as const;

describe('yamlText', () => {
  it('writes blocks with every text in quotes', () => {
    const rows = [
      { id: 1, name: 'debian (12).ova', folder: null, public: true, created_on: '2018-07-18 Wed' },
      { id: 2, tags: ['a', ['b', 'yes']], empty: [], none: {}, more: { deep: { x: 1 } } },
    ];
    expect(yamlText(rows)).toBe(
      `- "id": 1
  "name": "debian (12).ova"
  "folder": null
  "public": true
  "created_on": "2018-07-18 Wed"
- "id": 2
  "tags":
    - "a"
    - - "b"
      - "yes"
  "empty": []
  "none": {}
  "more":
    "deep":
      "x": 1
`,
    );
  });

  it.each([
    [[], '[]\n'],
    [{}, '{}\n'],
    [null, 'null\n'],
    ['x', '"x"\n'],
    [1e21, '1.0e+21\n'],
    [-1.5e-7, '-1.5e-7\n'],
    ['a\u009bb\u{e0001}', '"a\\u009bb\\U000e0001"\n'],
  ])('writes %j', (value, expected) => {
    expect(yamlText(value)).toBe(expected);
  });

  describe.each(READERS)('for a parser of version %s', (_version, read) => {
    it.each(TRAPS)('writes %j as a value and a key that parse to the same text', (text) => {
      expect(read(yamlText([text, { [text]: text }]))).toEqual([text, { [text]: text }]);
    });

    it('writes keys of any length', () => {
      for (const length of [999, 1_001, 2_000]) {
        const key = (unit: string) => unit.repeat(length);
        const rows = [{ [key('k')]: 1, [key('"')]: { [key(':')]: [{}], b: 2 } }];
        expect(read(yamlText(rows))).toEqual(rows);
      }
    });

    it('writes any JSON so that it parses to the same', () => {
      const leaf = fc.oneof(anyText(), fc.constantFrom(...TRAPS), fc.double(), fc.boolean());
      const value = fc.array(fc.dictionary(anyText(), fc.oneof(leaf, fc.array(leaf))));
      fc.assert(
        fc.property(value, (original) => {
          const json: unknown = JSON.parse(JSON.stringify(original));
          const yaml = yamlText(json);
          expect(yaml.replaceAll('\n', '')).not.toMatch(RAW_HARM);
          expect(read(yaml)).toEqual(json);
        }),
      );
    });
  });
});

describe('yamlList', () => {
  it.each([0, 1, 99, 100, 101, 250])('of %i items is one document in batches', (count) => {
    const items = Array.from({ length: count }, (_, id) => ({ id, tags: ['data:', id] }));
    expect([...yamlList(items, undefined)].join('')).toBe(yamlText(items));
    const meta = { count };
    expect([...yamlList(items, meta)].join('')).toBe(yamlText({ data: items, meta }));
  });
});
