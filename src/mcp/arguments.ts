// Checks the arguments of a tool call, with errors that say what is valid.

import { ImgctlError } from '../errors.ts';
import { isObject } from '../json.ts';
import { nearest, quoted } from '../query/suggest.ts';

/** The part of JSON Schema that the tools use. */
export type ArgumentSchema = { readonly description: string } & (
  | { readonly type: 'string' | 'boolean' }
  | { readonly type: 'integer'; readonly minimum: number; readonly maximum?: number }
  | { readonly type: 'array'; readonly items: { readonly type: 'string' } }
);

/** What a tool may be called with, after the check. */
export interface ToolArguments {
  readonly text?: readonly string[];
  readonly filter?: readonly string[];
  readonly sort?: readonly string[];
  readonly columns?: readonly string[];
  readonly images?: readonly string[];
  readonly limit?: number;
  readonly offset?: number;
  readonly each?: boolean;
  readonly list?: boolean;
  readonly id?: string;
  readonly file?: string;
}

/** @throws ImgctlError usage */
export function check(
  tool: string,
  schemas: Readonly<Record<string, ArgumentSchema>>,
  required: readonly string[],
  given: unknown,
): ToolArguments {
  const values = given ?? {};
  if (!isObject(values))
    throw new ImgctlError('usage', `the arguments of ${tool} must be an object`);
  const known = Object.keys(schemas);
  for (const [name, value] of Object.entries(values)) {
    const schema = Object.hasOwn(schemas, name) ? schemas[name] : undefined;
    if (schema === undefined) {
      const meant = nearest(name, known);
      throw new ImgctlError('usage', `${tool} has no argument ${quoted(name)}`, {
        hint: meant ? `did you mean ${meant}?` : `valid: ${known.join(', ') || 'none'}`,
      });
    }
    const expected = expectation(schema);
    if (!matches(schema, value)) {
      throw new ImgctlError('usage', `${name} of ${tool} must be ${expected}`, {
        hint: `${name}: ${schema.description}`,
      });
    }
  }
  const missing = required.find((name) => !Object.hasOwn(values, name));
  if (missing === undefined) return values;
  throw new ImgctlError('usage', `${tool} needs the argument ${missing}`, {
    hint: `${missing}: ${schemas[missing]?.description}`,
  });
}

function matches(schema: ArgumentSchema, value: unknown): boolean {
  if (schema.type === 'array') {
    return Array.isArray(value) && value.every((item) => typeof item === 'string');
  }
  if (schema.type !== 'integer') return typeof value === schema.type;
  const { minimum, maximum = Number.MAX_SAFE_INTEGER } = schema;
  return Number.isInteger(value) && Number(value) >= minimum && Number(value) <= maximum;
}

function expectation(schema: ArgumentSchema): string {
  if (schema.type === 'array') return 'an array of strings';
  if (schema.type !== 'integer') return `a ${schema.type}`;
  const { minimum, maximum } = schema;
  return `a whole number ${maximum === undefined ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`}`;
}
