// Declares the commands for settings and profiles.

import type { ArgumentDeclaration } from '../../declarations.ts';
import { SETTING_KEYS, SETTINGS, type SettingDefinition } from '../../session/setting-table.ts';
import { type CommandSpec, GET_OPTION } from './spec.ts';

const KEY: ArgumentDeclaration = {
  name: 'key',
  description: 'name of the setting',
  required: true,
  value: { kind: 'text', from: 'setting-keys' },
};

const PROFILE: ArgumentDeclaration = {
  name: 'profile',
  description: 'name of the profile',
  required: true,
  value: { kind: 'text', from: 'profiles' },
};

/** The summary with the valid values and, in brackets, the default. */
function describe({ summary, valid, fallback }: SettingDefinition): string {
  const values = valid === undefined ? '' : `: ${valid.join(', ')}`;
  return `${summary}${values}${fallback === undefined ? '' : ` (${fallback})`}`;
}

export const config: CommandSpec = {
  name: 'config',
  summary: 'show and change settings',
  description: [
    'Settings:',
    { terms: SETTING_KEYS.map((key) => [key, describe(SETTINGS[key])] as const) },
  ],
  examples: ['imgctl config set base-url https://images.example.com', 'imgctl config list'],
  seeAlso: ['profile', 'help environment'],
  subcommands: [
    {
      name: 'list',
      summary: 'list every setting with its value and origin',
      description: [
        'If a value is invalid, the table shows the reason in an extra column, and the exit code is 2.',
      ],
      examples: ['imgctl config list', 'imgctl config list --profile staging --json'],
      options: [GET_OPTION],
      fields: [
        ['key', 'string', 'name of the setting'],
        ['value', 'string or null', 'value; null if it is not set'],
        ['origin', 'string or null', 'where the value comes from'],
        ['error', 'string or null', 'why the value is invalid'],
      ],
      load: async () => (await import('../config.ts')).list,
    },
    {
      name: 'get',
      summary: 'print the value of a setting',
      description: [
        'Prints the bare value unless you add -o or --json. IMGCTL_OUTPUT and the setting output do not change that.',
      ],
      examples: ['imgctl config get base-url', 'imgctl config get timeout'],
      arguments: [KEY],
      exitCodes: [5],
      fields: [
        ['key', 'string', 'name of the setting'],
        ['value', 'string', 'value'],
        ['origin', 'string', 'where the value comes from'],
      ],
      load: async () => (await import('../config.ts')).get,
    },
    {
      name: 'set',
      summary: 'set the value of a setting',
      examples: [
        'imgctl config set base-url https://images.example.com',
        'imgctl config set columns.images id,name,path',
      ],
      arguments: [
        KEY,
        {
          name: 'value',
          description: 'new value',
          required: true,
          value: { kind: 'text', from: 'setting-values' },
        },
      ],
      mutates: true,
      load: async () => (await import('../config.ts')).set,
    },
    {
      name: 'unset',
      summary: 'remove a setting',
      examples: ['imgctl config unset ca-file', 'imgctl config unset time --profile staging'],
      arguments: [KEY],
      mutates: true,
      load: async () => (await import('../config.ts')).unset,
    },
    {
      name: 'path',
      summary: 'print the path of the settings file',
      description: [
        'Prints the bare path unless you add -o or --json. IMGCTL_OUTPUT and the setting output do not change that.',
      ],
      examples: ['imgctl config path', 'cat "$(imgctl config path)"'],
      fields: [['path', 'string', 'path of the settings file']],
      load: async () => (await import('../config.ts')).showPath,
    },
  ],
};

export const profile: CommandSpec = {
  name: 'profile',
  summary: 'list, select and delete profiles',
  description: [
    'Each profile has its own settings and tokens. A profile is created the first time you log in or set something with --profile NAME.',
  ],
  examples: ['imgctl profile list', 'imgctl profile use staging'],
  seeAlso: ['login', 'config set'],
  subcommands: [
    {
      name: 'list',
      summary: 'list profiles and mark the default one',
      description: [
        'base_url and username show the settings of the profile; flags and environment variables are ignored. token is none, valid or expired, judged by the clock of this machine; the service is not contacted. password is command, helper or keychain, or missing if you have to type the password.',
      ],
      examples: [
        'imgctl profile list',
        'imgctl profile list --json | jq -r \'.[] | select(.token == "valid").name\'',
      ],
      fields: [
        ['name', 'string', 'name of the profile'],
        ['default', 'boolean', 'true for the default profile'],
        ['base_url', 'string or null', 'address of the service'],
        ['username', 'string or null', 'user name of the account'],
        ['token', 'string', 'state of the cached token: valid, expired or none'],
        ['password', 'string or null', 'source of the password: command, helper or keychain'],
      ],
      load: async () => (await import('../profile.ts')).list,
    },
    {
      name: 'use',
      summary: 'make a profile the default',
      description: [
        '--profile and IMGCTL_PROFILE override the default. Exits with 5 if the profile does not exist.',
      ],
      examples: ['imgctl profile use staging', 'imgctl profile use default'],
      seeAlso: ['help environment'],
      arguments: [PROFILE],
      mutates: true,
      exitCodes: [5],
      load: async () => (await import('../profile.ts')).use,
    },
    {
      name: 'delete',
      summary: 'delete a profile with its settings, tokens and password',
      description: [
        'Keeps the history of sync requests. Exits with 5 if the profile does not exist.',
      ],
      examples: [
        'imgctl profile delete staging',
        "imgctl profile list -q | grep '^test-' | xargs -n 1 imgctl profile delete",
      ],
      seeAlso: ['logout'],
      arguments: [PROFILE],
      mutates: true,
      exitCodes: [5],
      load: async () => (await import('../profile.ts')).remove,
    },
  ],
};
