// Writes docs/schemas: a JSON Schema of what each command prints with --json.

/** Returns the schemas by their path from the root of the project. */
export function schemaFiles({ commands, schemas }) {
  return Object.entries(schemas).map(([name, schema]) => {
    const page = commands.find(({ output }) => output === name);
    const title = page
      ? `${page.words.join(' ')} --json`
      : 'errors, warnings and notes with --json';
    const document = { $schema: 'https://json-schema.org/draft/2020-12/schema', title, ...schema };
    return [`docs/schemas/${name}.json`, `${JSON.stringify(document, null, 2)}\n`];
  });
}
