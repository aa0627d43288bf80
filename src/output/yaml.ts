// Writes YAML that parsers of version 1.1 (PyYAML) and 1.2 read as the same values.

import { Document, type ScalarTag, visit } from 'yaml';
import { escapeInJson } from './text.ts';

const NUMBER: ScalarTag = {
  tag: 'tag:yaml.org,2002:float',
  default: true,
  test: /^-?\d/,
  identify: (value) => typeof value === 'number',
  resolve: Number,
  // In YAML 1.1 a number with an exponent needs a sign, which JSON writes, and a decimal point.
  stringify: ({ value }) =>
    JSON.stringify(value).replace(
      /(-?\d)(\.\d+)?(e.\d+)/,
      (_, digits, fraction = '.0', exponent) => `${digits}${fraction}${exponent}`,
    ),
};

/** Only ASCII needs no quotes: parsers differ in tabs, U+0085 and U+2028, and in `=`. */
const UNQUOTED = /^(?!=$)[ -~]*$/;

export function yamlText(value: unknown): string {
  const document = new Document(value, {
    compat: 'yaml-1.1',
    aliasDuplicateObjects: false,
    customTags: (tags) => [NUMBER, ...tags],
  });
  visit(document, {
    Scalar(_, scalar) {
      const isQuoted = typeof scalar.value === 'string' && !UNQUOTED.test(scalar.value);
      if (isQuoted) scalar.type = 'QUOTE_DOUBLE';
    },
  });
  const text = document.toString({ doubleQuotedAsJSON: true, singleQuote: false, lineWidth: 0 });
  return escapeInJson(text, escapeCharacter);
}

const BATCH = 100;

/** Returns a list in batches; with meta it becomes `data`. */
export function* yamlList(items: readonly unknown[], meta: unknown): Generator<string> {
  const hasMeta = meta !== undefined;
  if (items.length === 0) return yield yamlText(hasMeta ? { data: [], meta } : []);
  for (let start = 0; start < items.length; start += BATCH) {
    const batch = items.slice(start, start + BATCH);
    const text = yamlText(hasMeta ? { data: batch } : batch);
    // All batches belong to one `data`.
    yield hasMeta && start > 0 ? text.slice(text.indexOf('\n') + 1) : text;
  }
  if (hasMeta) yield yamlText({ meta });
}

/** Returns `\u009b` or `\U000e0001`, as YAML has no surrogate pairs. */
function escapeCharacter(character: string): string {
  const hex = (character.codePointAt(0) ?? 0).toString(16);
  return hex.length > 4 ? `\\U${hex.padStart(8, '0')}` : `\\u${hex.padStart(4, '0')}`;
}
