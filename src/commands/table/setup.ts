// Declares the commands to set up and check: login, token, settings, profiles, doctor and demo.

import type { ArgumentDeclaration } from '../../declarations.ts';
import { SETTING_KEYS, SETTINGS, type SettingDefinition } from '../../session/setting-table.ts';
import { type CommandSpec, TEXT } from './spec.ts';

export const login: CommandSpec = {
  name: 'login',
  summary: 'log in and cache an access token',
  description: [
    'You are prompted for anything you leave out. A password command is stored in the profile, so that other commands can renew an expired token.',
    'With --store-password, you type the password only once. secret-tool (Linux: GNOME Keyring, KWallet and others) or security (macOS) stores it in the keychain, and commands use it to renew the token. To replace the password, run "imgctl login --store-password" again; to delete it, run "imgctl logout". Unattended jobs cannot use a locked keychain: use a password command for them.',
    'The service limits token requests. imgctl remembers the limit and sends no request until it ends. With --ignore-limit it asks the service, for example after the clock was wrong.',
  ],
  examples: [
    'imgctl login --base-url https://images.example.com --username alice',
    'imgctl login --store-password',
    "imgctl login --username backup --password-command 'cat /run/secrets/imgctl'",
    'pass show images | imgctl login --username alice --password-stdin',
  ],
  seeAlso: ['logout', 'whoami', 'help environment'],
  options: [
    { flags: '-u, --username <name>', description: 'user name of the account', value: TEXT },
    { flags: '--password-stdin', description: 'read the password from standard input' },
    {
      flags: '--password-command <command>',
      description: 'shell command whose first output line is the password',
      value: TEXT,
    },
    { flags: '--store-password', description: 'store the password in the system keychain' },
    {
      flags: '--ignore-limit',
      description: 'request a token even if the remembered limit is reached',
    },
  ],
  load: async () => (await import('../login.ts')).run,
};

export const logout: CommandSpec = {
  name: 'logout',
  summary: 'delete cached tokens and the stored password',
  description: [
    'Deletes every token that the profile used, also of another user or base URL. Profiles of the same user and base URL share a token, so the others are logged out too.',
    'Deletes the password that "imgctl login --store-password" stored in the system keychain, if any. Keeps the settings. Does not contact the service, which cannot revoke a token.',
  ],
  examples: ['imgctl logout', 'imgctl logout --profile staging', 'imgctl logout --all'],
  seeAlso: ['login', 'profile delete'],
  options: [
    { flags: '--all', description: 'delete the tokens and stored passwords of all profiles' },
  ],
  load: async () => (await import('../logout.ts')).run,
};

export const whoami: CommandSpec = {
  name: 'whoami',
  summary: 'show profile, service, user and token state',
  description: ['Exits with 4 if there is no valid token.'],
  examples: ['imgctl whoami', 'imgctl whoami --check --json'],
  seeAlso: ['login', 'token', 'doctor'],
  options: [{ flags: '--check', description: 'check the token with the service' }],
  load: async () => (await import('../whoami.ts')).run,
};

export const token: CommandSpec = {
  name: 'token',
  summary: 'print a valid access token',
  description: [
    'Renews the token first if it has expired and the password is available without a prompt.',
  ],
  examples: [
    'curl -H "Authorization: Bearer $(imgctl token)" https://images.example.com/v2',
    'IMGCTL_TOKEN=$(imgctl token) make deploy',
  ],
  seeAlso: ['login', 'api'],
  load: async () => (await import('../token.ts')).run,
};

export const doctor: CommandSpec = {
  name: 'doctor',
  summary: 'check configuration, network and login',
  description: [
    'Checks the program, files and their modes, configuration, settings, environment, base URL, proxy, DNS, connection, TLS, the clock, the token, the source of the password and the limit of token requests. The result of a check is ok, warning, failed, or not checked because another check failed. Each problem comes with a remedy.',
    'Sends one GET /v2, with the token if it is valid, and waits at most as long as --timeout. Does not request a token, send a password or run a password command.',
    'Exits with 0 if no check failed, otherwise with the code of the first failure: 2 configuration, 3 network, 4 token, 6 rate limit, 1 service. With -q, prints only the names of checks with a warning or failure.',
  ],
  examples: [
    'imgctl doctor',
    'imgctl doctor --profile staging --timeout 5s',
    "imgctl doctor --json | jq -r '.[] | select(.remedy) | .remedy'",
  ],
  seeAlso: ['whoami', 'config list', 'help exit-codes'],
  load: async () => (await import('../doctor.ts')).run,
};

export const demo: CommandSpec = {
  name: 'demo',
  summary: 'run login, listing and sync against the embedded service',
  description: ['Runs entirely on this machine, in a temporary folder that is removed afterwards.'],
  examples: ['imgctl demo', 'imgctl demo --color never'],
  seeAlso: ['emulator'],
  load: async () => (await import('../demo.ts')).run,
};

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
  // A getter: no other command needs the texts.
  get description() {
    return [
      'Settings:',
      { terms: SETTING_KEYS.map((key) => [key, describe(SETTINGS[key])] as const) },
    ];
  },
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
      load: async () => (await import('../config.ts')).list,
    },
    {
      name: 'get',
      summary: 'print the value of a setting',
      examples: ['imgctl config get base-url', 'imgctl config get timeout'],
      arguments: [KEY],
      load: async () => (await import('../config.ts')).get,
    },
    {
      name: 'set',
      summary: 'set a value',
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
      load: async () => (await import('../config.ts')).set,
    },
    {
      name: 'unset',
      summary: 'remove a setting',
      examples: ['imgctl config unset ca-file', 'imgctl config unset time --profile staging'],
      arguments: [KEY],
      load: async () => (await import('../config.ts')).unset,
    },
    {
      name: 'path',
      summary: 'print the path of the settings file',
      examples: ['imgctl config path', 'cat "$(imgctl config path)"'],
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
        'base_url and username show the settings of the profile; flags and environment variables are ignored. token is none, valid or expired, judged by the clock of this machine; the service is not contacted. password is command or keychain, or missing if you have to type the password.',
      ],
      examples: [
        'imgctl profile list',
        'imgctl profile list --json | jq -r \'.[] | select(.token == "valid").name\'',
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
      load: async () => (await import('../profile.ts')).remove,
    },
  ],
};
