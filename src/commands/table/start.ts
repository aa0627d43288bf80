// Declares the commands to start with: login, logout, whoami, token, doctor and demo.

import { type CommandSpec, TEXT } from './spec.ts';

export const login: CommandSpec = {
  name: 'login',
  summary: 'log in and cache an access token',
  description: [
    'You are prompted for anything you leave out. A password command is stored in the profile, so that commands renew an expired token by themselves.',
    'With --store-password you type the password once. secret-tool (Linux: GNOME Keyring, KWallet and others) or security (macOS) stores it, and commands renew the token with it. Run it again to replace the password; "imgctl logout" deletes it. Jobs without a session that unlocks the keychain need a password command.',
  ],
  examples: [
    'imgctl login --base-url https://images.example.com --username alice',
    'imgctl login --store-password',
    "imgctl login --username backup --password-command 'cat /run/secrets/imgctl'",
    'pass show images | imgctl login --username alice --password-stdin',
  ],
  seeAlso: ['logout', 'whoami', 'help environment'],
  options: [
    { flags: '--username <name>', description: 'user name of the account', value: TEXT },
    { flags: '--password-stdin', description: 'read the password from standard input' },
    {
      flags: '--password-command <command>',
      description: 'run by the shell; its first output line is the password',
      value: TEXT,
    },
    { flags: '--store-password', description: 'store the password in the system keychain' },
  ],
  load: async () => (await import('../login.ts')).run,
};

export const logout: CommandSpec = {
  name: 'logout',
  summary: 'delete the cached token and a stored password',
  description: [
    'Also deletes a password that "imgctl login --store-password" put into the system keychain. Settings stay. The service is not contacted: it cannot revoke a token.',
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
    'Checks the program, files and their modes, configuration, settings, environment, base URL, proxy, DNS, connection, TLS, the clock, the token, the source of the password and the limit of token requests. Each check is ok, warning, failed, or not checked because another one failed. Each problem comes with a remedy.',
    'The service gets one GET /v2, within --timeout and with the token if it is valid. No token is requested, no password is sent, and no password command is run.',
    'Exits with 0 if nothing failed, else with the code of the first failure: 2 configuration, 3 network, 4 token, 6 rate limit, 1 failure of the service. With -q only the names of failed checks and warnings are printed.',
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
  description: [
    'Everything happens on this machine, in a temporary folder that is removed afterwards.',
  ],
  examples: ['imgctl demo', 'imgctl demo --color never'],
  seeAlso: ['emulator'],
  load: async () => (await import('../demo.ts')).run,
};
