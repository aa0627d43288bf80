// JSON that reads back to what went in.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { jsonText, ndjsonText } from '../../src/output/rows.ts';
import { anyText, HOSTILE, RAW_HARM } from './hostile.ts';

it('indents as told', () => {
  expect(jsonText([{ id: 1 }], 2)).toBe('[\n  {\n    "id": 1\n  }\n]');
  expect(jsonText([{ id: 1 }], 0)).toBe('[{"id":1}]');
  expect(jsonText([], 2)).toBe('[]');
});

it('has a line for each value', () => {
  expect(ndjsonText([{ a: 'x\ny' }, null, 'z'])).toBe('{"a":"x\\ny"}\nnull\n"z"\n');
  expect(ndjsonText([])).toBe('');
});

it('shows a hostile name in escapes', () => {
  const json = jsonText({ name: HOSTILE }, 0);
  expect(json).toBe(
    '{"name":"=1+1\\u001b]8;;http://example.net\\u0007x\\u001b]8;;\\u0007\\u001b[31m\\u009b2J\\r\\n\\t\\u202eba, \\"q\\""}',
  );
  expect(JSON.parse(json)).toEqual({ name: HOSTILE });
});

it('keeps a key named __proto__ as data', () => {
  const value: unknown = JSON.parse('{"__proto__": {"a": 1}, "constructor": 2}');
  expect(jsonText(value, 0)).toBe('{"__proto__":{"a":1},"constructor":2}');
});

it('gives back any value, with nothing harmful in its text', () => {
  const text = anyText();
  const value = fc.dictionary(text, fc.oneof(text, fc.array(text), fc.double(), fc.constant(null)));
  fc.assert(
    fc.property(value, fc.constantFrom(0, 2), (original, indent) => {
      const json = jsonText(original, indent);
      expect(json.replaceAll('\n', '')).not.toMatch(RAW_HARM);
      expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(original)));
    }),
  );
});
