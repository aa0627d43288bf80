// YAML as parsers of both versions read it.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { escapeInYaml, writeYaml } from '../../src/output/yaml.ts';
import { textOf } from '../support/memory-sink.ts';
import { anyText, RAW_HARM } from './hostile.ts';
import { TRAPS } from './yaml-traps.ts';

const READERS = [
  ['1.2', (text: string): unknown => parse(text, { version: '1.2' })],
  ['1.1', (text: string): unknown => parse(text, { version: '1.1' })],
] as const;

const yamlText = (value: unknown) => textOf((out) => writeYaml(out, value), escapeInYaml);

describe('writeYaml', () => {
  it('writes blocks, and quotes only if needed', async () => {
    const rows = [
      { id: 1, name: 'debian (12).ova', folder: null, public: true, created_on: '2018-07-18 Wed' },
      { id: 2, tags: ['a', ['b', 'yes']], empty: [], none: {}, more: { deep: { x: 1 } } },
    ];
    expect(await yamlText(rows)).toBe(
      `- id: 1
  name: debian (12).ova
  folder: null
  public: true
  created_on: "2018-07-18 Wed"
- id: 2
  tags:
    - a
    - - b
      - "yes"
  empty: []
  none: {}
  more:
    deep:
      x: 1
`,
    );
  });

  it.each([
    [[], '[]\n'],
    [{}, '{}\n'],
    [null, 'null\n'],
    ['x', 'x\n'],
    [1e21, '1.0e+21\n'],
    [-1.5e-7, '-1.5e-7\n'],
    ['a\u009bb\u{e0001}', '"a\\u009bb\\U000e0001"\n'],
  ])('writes %j', async (value, expected) => {
    expect(await yamlText(value)).toBe(expected);
  });

  describe.each(READERS)('for a parser of version %s', (_version, read) => {
    it.each(TRAPS)('writes %j as a value and a key that parse to the same text', async (text) => {
      expect(read(await yamlText([text, { [text]: text }]))).toEqual([text, { [text]: text }]);
    });

    it('writes keys of any length', async () => {
      for (const length of [999, 1_001, 2_000]) {
        const key = (unit: string) => unit.repeat(length);
        const rows = [{ [key('k')]: 1, [key('"')]: { [key(':')]: [{}], b: 2 } }];
        expect(read(await yamlText(rows))).toEqual(rows);
      }
    });

    it('writes any JSON so that it parses to the same', async () => {
      const leaf = fc.oneof(anyText(), fc.constantFrom(...TRAPS), fc.double(), fc.boolean());
      const value = fc.array(fc.dictionary(anyText(), fc.oneof(leaf, fc.array(leaf))));
      await fc.assert(
        fc.asyncProperty(value, async (original) => {
          const json: unknown = JSON.parse(JSON.stringify(original));
          const yaml = await yamlText(json);
          expect(yaml.replaceAll('\n', '')).not.toMatch(RAW_HARM);
          expect(read(yaml)).toEqual(json);
        }),
      );
    });
  });
});
