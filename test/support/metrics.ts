// Reads a metrics file with an independent parser of the Prometheus text format.

import { createRequire } from 'node:module';

type Family = Readonly<Record<'name' | 'help' | 'type', string>> & {
  readonly metrics: readonly { readonly value: string; readonly labels?: Record<string, string> }[];
};

// The package has no types, and its main file is CommonJS.
const parse = createRequire(import.meta.url)('parse-prometheus-text-format') as (
  text: string,
) => Family[];

/** Returns the families by name. */
export function parseMetrics(text: string): Map<string, Family> {
  return new Map(parse(text).map((family) => [family.name, family]));
}

/** Returns the value of each metric of a profile, by name. */
export function valuesOf(text: string, profile = 'default'): Record<string, number> {
  const samples = [...parseMetrics(text).values()].flatMap(({ name, metrics }) =>
    metrics
      .filter(({ labels }) => labels?.profile === profile)
      .map(({ value }): [string, number] => [name, Number(value)]),
  );
  return Object.fromEntries(samples);
}
