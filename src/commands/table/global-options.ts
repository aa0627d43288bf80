// Declares the options of every command.

import type { OptionDeclaration } from '../../declarations.ts';
import { COLOR_CHOICES } from '../../output/terminal.ts';
import { FORMATS } from '../../output/writers.ts';
import { SETTINGS } from '../../session/setting-table.ts';
import { DEFAULT_PROFILE } from '../../session/settings.ts';
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
    description: 'use the settings and token of this profile',
    value: { kind: 'text', from: 'profiles' },
    default: DEFAULT_PROFILE,
    env: 'IMGCTL_PROFILE',
  },
  {
    flags: '--base-url <url>',
    description: 'address of the service',
    value: TEXT,
    env: SETTINGS['base-url'].env,
  },
  {
    flags: '-o, --output <format>',
    description: 'output format: table, json, ndjson, yaml, csv or tsv',
    value: { kind: 'choice', noun: 'format', words: FORMATS },
    default: SETTINGS.output.fallback,
    env: SETTINGS.output.env,
  },
  { flags: '--json', description: 'same as -o json' },
  {
    flags: '--timeout <duration>',
    description: 'time limit of each request, such as 500ms, 30s, 5m',
    value: { kind: 'duration', keepText: true },
    default: SETTINGS.timeout.fallback,
    env: SETTINGS.timeout.env,
  },
  {
    flags: '--retries <n>',
    description: 'retries for requests that are safe to repeat',
    value: { kind: 'number', min: 0, max: 100, keepText: true },
    default: SETTINGS.retries.fallback,
  },
  {
    flags: '--wait-for-token <duration>',
    description: 'wait for the end of the token request limit, at most this long',
    value: { kind: 'duration', keepText: true },
  },
  {
    flags: '--debug',
    description: 'trace requests on stderr, with secrets redacted',
    env: 'IMGCTL_DEBUG',
  },
  {
    flags: '--color <when>',
    description: 'use colour: auto, always or never',
    value: { kind: 'choice', noun: 'choice', words: COLOR_CHOICES },
    default: 'auto',
  },
  { flags: '-q, --quiet', description: 'print only identifiers, and no progress' },
];
