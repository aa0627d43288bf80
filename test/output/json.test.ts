// JSON that parses to the same values.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonText } from '../../src/output/text.ts';
import { anyText, HOSTILE, HOSTILE_ESCAPED, RAW_HARM } from './hostile.ts';

describe('jsonText', () => {
  it.each([
    [[{ id: 1 }], 0, '[{"id":1}]'],
    [{ name: HOSTILE }, 0, `{"name":"${HOSTILE_ESCAPED.replaceAll('"', '\\"')}"}`],
    [JSON.parse('{"__proto__": {"a": 1}}'), 0, '{"__proto__":{"a":1}}'],
  ])('writes %j with an indent of %i', (value, indent, expected) => {
    expect(jsonText(value, indent)).toBe(expected);
  });

  it('writes any value without harmful characters, and it parses to the same', () => {
    const text = anyText();
    const member = fc.oneof(text, fc.array(text), fc.double(), fc.constant(null));
    fc.assert(
      fc.property(fc.dictionary(text, member), fc.constantFrom(0, 2), (value, indent) => {
        const json = jsonText(value, indent);
        expect(json.replaceAll('\n', '')).not.toMatch(RAW_HARM);
        expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});
