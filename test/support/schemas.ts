// Checks JSON against docs/schemas with an independent validator.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

const FOLDER = path.resolve(import.meta.dirname, '../../docs/schemas');

const validators = new Map<string, ValidateFunction>();

/** Returns what the schema of that name finds wrong, one text per violation. */
export function violations(name: string, value: unknown): string[] {
  const validate = validators.get(name) ?? compile(name);
  if (validate(value)) return [];
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath}: ${message}`);
}

function compile(name: string): ValidateFunction {
  const schema = JSON.parse(readFileSync(path.join(FOLDER, `${name}.json`), 'utf8'));
  const validate = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(schema);
  validators.set(name, validate);
  return validate;
}
