// The names and summaries of the help topics; help/pages.ts has their texts.

export const TOPICS = [
  { name: 'options', summary: 'options of every command' },
  { name: 'filters', summary: 'filters, search words and sorting of images' },
  { name: 'choosing', summary: 'choosing, pinning and watching images' },
  { name: 'output', summary: 'output formats, columns and timestamps' },
  { name: 'environment', summary: 'environment variables and sources of the password' },
  { name: 'fleet', summary: 'one token for many machines' },
  { name: 'exit-codes', summary: 'exit codes and the format of errors' },
] as const;

export type TopicName = (typeof TOPICS)[number]['name'];

export const TOPIC_NAMES: readonly string[] = TOPICS.map(({ name }) => name);
