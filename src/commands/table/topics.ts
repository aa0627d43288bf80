// Declares the help topics; the text of each is loaded on demand.

import type { Block } from '../../declarations.ts';

interface Topic {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<readonly Block[]>;
}

export const TOPICS: readonly Topic[] = [
  {
    name: 'options',
    summary: 'options of every command',
    load: async () => (await import('../help/pages.ts')).OPTIONS,
  },
  {
    name: 'filters',
    summary: 'filters, search words and sorting of images',
    load: async () => (await import('../help/pages.ts')).FILTERS,
  },
  {
    name: 'choosing',
    summary: 'choosing, pinning and watching images',
    load: async () => (await import('../help/choosing.ts')).CHOOSING,
  },
  {
    name: 'output',
    summary: 'output formats, columns and timestamps',
    load: async () => (await import('../help/pages.ts')).OUTPUT,
  },
  {
    name: 'environment',
    summary: 'environment variables and sources of the password',
    load: async () => (await import('../help/pages.ts')).ENVIRONMENT,
  },
  {
    name: 'fleet',
    summary: 'one token for many machines',
    load: async () => (await import('../help/fleet.ts')).FLEET,
  },
  {
    name: 'exit-codes',
    summary: 'exit codes and the format of errors',
    load: async () => (await import('../help/pages.ts')).EXIT_CODES,
  },
];

export const TOPIC_NAMES: readonly string[] = TOPICS.map(({ name }) => name);
