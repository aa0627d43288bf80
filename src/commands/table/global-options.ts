// Declares the options of every command.

import type { OptionDeclaration } from '../../declarations.ts';
import { COLOR_CHOICES } from '../../output/terminal.ts';
import { FORMATS } from '../../output/writers.ts';
import { TEXT } from './spec.ts';

export const VERSION_OPTION: OptionDeclaration = {
  flags: '-V, --version',
  description: 'print the version',
};

export const HELP_OPTION: OptionDeclaration = { flags: '-h, --help', description: 'show help' };

/** Options of every command. Most have a setting of the same name, which checks the value again. */
export const GLOBAL_OPTIONS: readonly OptionDeclaration[] = [
  {
    flags: '--profile <name>',
    description: 'use the settings and token of this profile (default)',
    value: { kind: 'text', from: 'profiles' },
  },
  { flags: '--base-url <url>', description: 'address of the service', value: TEXT },
  {
    flags: '-o, --output <format>',
    description: 'output format: table, json, ndjson, yaml, csv or tsv (table)',
    value: { kind: 'choice', noun: 'format', words: FORMATS },
  },
  { flags: '--json', description: 'same as -o json' },
  {
    flags: '--timeout <duration>',
    description: 'time limit of each request, such as 500ms, 30s, 5m (30s)',
    value: { kind: 'duration', keepText: true },
  },
  {
    flags: '--retries <n>',
    description: 'retries for requests that are safe to repeat (4)',
    value: TEXT,
  },
  {
    flags: '--wait-for-token <duration>',
    description: 'wait for the end of the token request limit, at most this long',
    value: { kind: 'duration', keepText: true },
  },
  { flags: '--debug', description: 'trace requests on stderr, with secrets redacted' },
  {
    flags: '--color <when>',
    description: 'use colour: auto, always or never (auto)',
    value: { kind: 'choice', noun: 'choice', words: COLOR_CHOICES },
  },
  { flags: '-q, --quiet', description: 'print only identifiers, and no progress' },
];
