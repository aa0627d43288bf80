// The options of every command.

import { DEFAULT_PROFILE } from '../config/config-file.ts';
import { choice } from '../config/values.ts';
import { FORMAT_LIST } from '../output/formats.ts';
import { COLOR_CHOICES } from '../output/terminal.ts';
import type { OptionDeclaration } from './command-types.ts';
import { option, settingOption } from './declare.ts';
import { suggestProfiles } from './suggestions.ts';

export const VERSION_OPTION = option('-V, --version', 'print the version');

export const HELP_OPTION = option('-h, --help', 'show help');

export const BASE_URL_OPTION = settingOption('--base-url <url>', 'base-url');

export const GLOBAL_OPTIONS = [
  option('--profile <name>', 'use the settings and token of this profile', {
    suggest: suggestProfiles,
    default: DEFAULT_PROFILE,
    env: 'IMGCTL_PROFILE',
  }),
  BASE_URL_OPTION,
  settingOption('-o, --output <format>', 'output', `output format: ${FORMAT_LIST}`),
  option('--json', 'same as -o json'),
  settingOption(
    '--timeout <duration>',
    'timeout',
    'time limit of each request, such as 500ms, 30s, 5m',
  ),
  settingOption('--retries <n>', 'retries'),
  settingOption(
    '--wait-for-token <duration>',
    'wait-for-token',
    'if the service allows no login now, wait up to this long',
  ),
  option('--debug', 'trace requests on stderr, with secrets redacted'),
  option('--color <when>', 'use colour: auto, always or never', {
    value: choice('choice', COLOR_CHOICES),
    default: 'auto',
  }),
  option('-q, --quiet', 'print only identifiers, and no progress'),
] as const;

/** Options of every command, as help shows them. */
export const ALL_GLOBAL_OPTIONS: readonly OptionDeclaration[] = [
  ...GLOBAL_OPTIONS,
  HELP_OPTION,
  VERSION_OPTION,
];
