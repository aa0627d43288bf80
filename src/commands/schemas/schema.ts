// Builds JSON Schemas (draft 2020-12) of what commands print.

export interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly (string | null)[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

export function value(type: string | readonly string[], description: string): Schema {
  return { type, description };
}

export function word(words: readonly (string | null)[], description: string): Schema {
  return { enum: words, description };
}

export function listOf(items: Schema, description?: string): Schema {
  return { type: 'array', ...(description !== undefined && { description }), items };
}

/** An object that has all these members, and may have others. */
export function record(properties: Readonly<Record<string, Schema>>, description?: string): Schema {
  const required = Object.keys(properties);
  return {
    type: 'object',
    ...(description !== undefined && { description }),
    properties,
    required,
  };
}

/** The same object, in which these members may be missing. */
export function optional(schema: Schema, ...names: readonly string[]): Schema {
  return { ...schema, required: schema.required?.filter((name) => !names.includes(name)) ?? [] };
}

/** One of several shapes, such as those of two options. */
export function anyOf(...shapes: readonly Schema[]): Schema {
  return { anyOf: shapes };
}

/** The members of the records that a schema describes, in all its shapes. */
export function fieldsOf(schema: Schema): Map<string, Schema> {
  const inner = [...(schema.anyOf ?? []), ...(schema.items ? [schema.items] : [])];
  return new Map([
    ...Object.entries(schema.properties ?? {}),
    ...inner.flatMap((each) => [...fieldsOf(each)]),
  ]);
}
