// Declares the commands to log in and to check: login, token, doctor and demo.

import { SETTINGS } from '../../session/setting-table.ts';
import { type CommandSpec, GET_OPTION, option, SERVICE_CODES } from './spec.ts';

export const login: CommandSpec = {
  name: 'login',
  summary: 'log in and cache an access token',
  description: [
    'You are prompted for anything you leave out, and again after a wrong password, up to three times. A base URL and user name that the profile lacks are saved before the token request, so that you need not type them again if it fails. Other values replace those of the profile only if the login succeeds.',
    'A password command is stored in the profile, so that other commands can renew an expired token. It has 30 s and no terminal to prompt on: after that, or at Ctrl-C, it is killed with its children.',
    'With --store-password, you type the password only once. secret-tool (Linux: GNOME Keyring, KWallet and others) or security (macOS) stores it in the keychain, and commands use it to renew the token. If the setting credential-helper is set, that program stores it instead (Windows: wincred). To replace the password, run "imgctl login --store-password" again; to delete it, run "imgctl logout". Unattended jobs cannot use a locked keychain: use a password command for them.',
    'The service limits token requests. imgctl remembers the limit and sends no request until it ends. Use --ignore-limit to send one anyway, for example after you corrected the clock.',
  ],
  examples: [
    'imgctl login --base-url https://images.example.com -u alice',
    'imgctl login --store-password',
    "imgctl login --username backup --password-command 'cat /run/secrets/imgctl'",
    'pass show images | imgctl login --username alice --password-stdin',
  ],
  seeAlso: ['logout', 'whoami', 'help environment'],
  options: [
    option('-u, --username <name>', 'user name of the account', { env: SETTINGS.username.env }),
    option('--password-stdin', 'read the password from standard input', {
      conflicts: ['passwordCommand'],
    }),
    option(
      '--password-command <command>',
      'shell command whose first output line is the password',
      { env: SETTINGS['password-command'].env },
    ),
    option('--store-password', 'store the password in the keychain or the credential helper'),
    option('--ignore-limit', 'request a token even if the remembered limit is reached'),
  ],
  mutates: true,
  exitCodes: SERVICE_CODES,
  load: async () => (await import('../login.ts')).run,
};

export const logout: CommandSpec = {
  name: 'logout',
  summary: 'delete cached tokens and the stored password',
  description: [
    'Deletes every token that the profile used, including those of other users and base URLs. Profiles of the same user and base URL share a token, so the others are logged out too.',
    'Deletes the password that "imgctl login --store-password" stored in the keychain or the credential helper, if any. Keeps the settings. Does not contact the service, which cannot revoke a token. A token in a shared store (see "imgctl help fleet") is deleted only by --all.',
  ],
  examples: ['imgctl logout', 'imgctl logout --profile staging', 'imgctl logout --all'],
  seeAlso: ['login', 'profile delete'],
  options: [option('--all', 'delete the tokens, also shared ones, and passwords of all profiles')],
  mutates: true,
  exitCodes: [3],
  load: async () => (await import('../logout.ts')).run,
};

export const whoami: CommandSpec = {
  name: 'whoami',
  summary: 'show profile, service, user and token state',
  description: [
    'Exits with 4 if there is no valid token, such as before the first command that requests one. stored_in is the file or the token store that has the token.',
  ],
  examples: ['imgctl whoami', 'imgctl whoami --check --json'],
  seeAlso: ['login', 'token', 'doctor'],
  options: [{ flags: '--check', description: 'check the token with the service' }, GET_OPTION],
  fields: [
    ['profile', 'string', 'name of the profile'],
    ['base_url', 'string', 'address of the service'],
    ['username', 'string or null', 'user name of the account'],
    ['token', 'string', 'state of the token: valid, expired, none or from IMGCTL_TOKEN'],
    ['expires_on', 'string or null', 'when the token expires, in UTC (ISO 8601)'],
    ['expires_in', 'number or null', 'seconds until then'],
    ['stored_in', 'string or null', 'file or token store that has the token'],
  ],
  exitCodes: SERVICE_CODES,
  load: async () => (await import('../whoami.ts')).run,
};

export const token: CommandSpec = {
  name: 'token',
  summary: 'print a valid access token',
  description: [
    'Renews the token first if it has expired and the password is available without a prompt. Prints the bare token unless you add -o or --json. IMGCTL_OUTPUT and the setting output do not change that.',
  ],
  examples: [
    'curl -H "Authorization: Bearer $(imgctl token)" https://images.example.com/v2',
    'IMGCTL_TOKEN=$(imgctl token) make deploy',
  ],
  seeAlso: ['login', 'api'],
  exitCodes: SERVICE_CODES,
  fields: [
    ['token', 'string', 'the access token'],
    ['expires_on', 'string or null', 'when it expires, in UTC (ISO 8601); null with IMGCTL_TOKEN'],
    ['expires_in', 'number or null', 'seconds until then'],
  ],
  load: async () => (await import('../token.ts')).run,
};

export const doctor: CommandSpec = {
  name: 'doctor',
  summary: 'check configuration, network and login',
  description: [
    'Checks the program, files and their modes, the settings file, settings, environment, the connection to the service, the clock, the token, the shared token store, the source of the password, the limit of token requests and the upload storage. The result of a check is ok, warning, failed, or not checked because another check failed. Each problem comes with a hint.',
    'Sends one GET /v2, with the token if it is valid, and waits at most as long as --timeout. Does not request a token, send a password to the service or run its password command. Reads the token store, and writes a value that expires after 1 s. If upload-url is set, runs upload-password-command or upload-secret-command, logs in to the storage and lists it.',
    'Exits with 0 if no check failed, otherwise with the code of the first failure: 2 configuration, 3 network, 4 token, 6 rate limit, 1 service. With -q, prints only the names of checks with a warning or failure.',
  ],
  examples: [
    'imgctl doctor',
    'imgctl doctor --profile staging --timeout 5s',
    "imgctl doctor --json | jq -r '.[] | select(.hint) | .hint'",
  ],
  seeAlso: ['whoami', 'config list', 'help exit-codes'],
  fields: [
    ['check', 'string', 'what was checked'],
    ['state', 'string', 'ok, warning, failed or not checked'],
    ['finding', 'string', 'what was found'],
    ['hint', 'string or null', 'command or setting that fixes it'],
  ],
  exitCodes: SERVICE_CODES,
  load: async () => (await import('../doctor.ts')).run,
};

export const demo: CommandSpec = {
  name: 'demo',
  summary: 'try imgctl on this machine, without an account',
  description: [
    'Starts a copy of the service, logs in, lists images, uploads a package and syncs it. Everything happens on this machine, in a temporary folder that is removed at the end.',
  ],
  examples: ['imgctl demo', 'imgctl demo --color never'],
  seeAlso: ['emulator'],
  load: async () => (await import('../demo.ts')).run,
};
