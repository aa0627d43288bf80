// Declares the options of every command.

import type { OptionDeclaration } from '../../declarations.ts';
import { COLOR_CHOICES } from '../../output/terminal.ts';
import { FORMATS } from '../../output/writers.ts';
import { SETTINGS } from '../../session/setting-table.ts';
import { DEFAULT_PROFILE } from '../../session/settings.ts';
import { option } from './spec.ts';

export const VERSION_OPTION = option('-V, --version', 'print the version');

export const HELP_OPTION = option('-h, --help', 'show help');

/** Options of every command. Most have a setting of the same name, which checks the value again. */
export const GLOBAL_OPTIONS: readonly OptionDeclaration[] = [
  option('--profile <name>', 'use the settings and token of this profile', {
    value: { kind: 'text', from: 'profiles' },
    default: DEFAULT_PROFILE,
    env: 'IMGCTL_PROFILE',
  }),
  option('--base-url <url>', 'address of the service', { env: SETTINGS['base-url'].env }),
  option('-o, --output <format>', 'output format: table, json, ndjson, yaml, csv or tsv', {
    value: { kind: 'choice', noun: 'format', words: FORMATS },
    default: SETTINGS.output.fallback,
    env: SETTINGS.output.env,
  }),
  option('--json', 'same as -o json'),
  option('--timeout <duration>', 'time limit of each request, such as 500ms, 30s, 5m', {
    value: { kind: 'duration', keepText: true },
    default: SETTINGS.timeout.fallback,
    env: SETTINGS.timeout.env,
  }),
  option('--retries <n>', 'retries for requests that are safe to repeat', {
    value: { kind: 'number', min: 0, max: 100, keepText: true },
    default: SETTINGS.retries.fallback,
  }),
  option(
    '--wait-for-token <duration>',
    'wait for the end of the token request limit, at most this long',
    { value: { kind: 'duration', keepText: true } },
  ),
  option('--debug', 'trace requests on stderr, with secrets redacted', { env: 'IMGCTL_DEBUG' }),
  option('--color <when>', 'use colour: auto, always or never', {
    value: { kind: 'choice', noun: 'choice', words: COLOR_CHOICES },
    default: 'auto',
  }),
  option('-q, --quiet', 'print only identifiers, and no progress'),
];
