// Declares the commands for scripts, tests and shells: api, emulator, completion and help.

import { type CommandSpec, DURATION, SERVICE_CODES, TEXT } from './spec.ts';
import { TOPIC_NAMES } from './topics.ts';

export const api: CommandSpec = {
  name: 'api',
  summary: 'send an authenticated request to the service',
  description: [
    'Prints the bytes of the body unchanged, except that secrets in error responses are redacted and that a terminal gets escaped control characters. With --paginate, each page ends with a line break; with --slurp, the pages are one JSON array, which stays open if a page fails. Only GET, HEAD and OPTIONS are retried.',
  ],
  examples: [
    'imgctl api /v2/image -f per_page=5 -f expand=1',
    'imgctl api /v2/user/image/vm -X PATCH -i',
    "imgctl api /v2/image --paginate --slurp | jq '[.[].data[]] | length'",
  ],
  seeAlso: ['token'],
  arguments: [
    {
      name: 'path',
      description: 'path below the base URL, such as /v2/image, or a URL of the same origin',
      required: true,
      value: { kind: 'text', from: 'api-paths' },
    },
  ],
  mutates: true,
  exitCodes: SERVICE_CODES,
  options: [
    {
      flags: '-X, --method <method>',
      description: 'HTTP method',
      default: 'GET',
      value: { kind: 'text', from: 'methods' },
    },
    {
      flags: '-f, --field <key=value>',
      description: 'query parameter; repeatable',
      value: TEXT,
      repeatable: true,
    },
    { flags: '-i, --include', description: 'also print status and headers' },
    { flags: '--paginate', description: 'follow meta.pages.next_url and print every page' },
    { flags: '--slurp', description: 'with --paginate: print one JSON array of the pages' },
  ],
  load: async () => (await import('../api.ts')).run,
};

export const commands: CommandSpec = {
  name: 'commands',
  summary: 'list every command and whether it changes anything',
  description: [
    'With --json, prints for each command its arguments, options with types and defaults, output fields and exit codes, then the global options, environment variables and exit codes. Programs can read it instead of the help.',
  ],
  examples: [
    'imgctl commands',
    "imgctl commands --json | jq -r '.commands[] | select(.mutates) | .command'",
  ],
  seeAlso: ['help output', 'help exit-codes'],
  output: 'commands',
  load: async () => (await import('../commands.ts')).run,
};

export const emulator: CommandSpec = {
  name: 'emulator',
  summary: 'run the embedded service on this machine',
  description: [
    'Prints one JSON line {"base_url": ...} when it is ready. Stops on SIGTERM or Ctrl-C.',
    'With --uploads, it also takes uploads of its users and prints "upload_url": WebDAV at /upload/ with user name and password, and S3 with the bucket s3 (s3+http://HOST:PORT/s3), where the user name is the access key and the password the secret key.',
    'Faults: METHOD PATH=KIND[,first=N|,every=N]. METHOD may be *, and PATH may end in *. KIND is a status, drop, stall, drip, html, truncate, or 429:SECONDS; for uploads also drop:BYTES (after so many bytes), late:STATUS (after the whole body), etag (a wrong ETag) and partial (a file is visible while it arrives).',
  ],
  examples: [
    'imgctl emulator --port 0 --images 1000',
    'imgctl emulator --uploads ./uploads --sync-delay 5s --user alice:secret',
    "imgctl emulator --fault 'GET /v2/image=503,first=2' --fault 'PATCH /v2/*=drop'",
  ],
  seeAlso: ['demo'],
  options: [
    {
      flags: '--host <address>',
      description: 'address to listen on',
      default: '127.0.0.1',
      value: TEXT,
    },
    {
      flags: '--port <n>',
      description: 'port to listen on; 0 selects a free one',
      default: '8080',
      value: { kind: 'number', min: 0, max: 65_535 },
    },
    {
      flags: '--images <n>',
      description: 'number of images in the public catalogue',
      default: '250',
      value: { kind: 'number', min: 0, max: 1_000_000 },
    },
    {
      flags: '--uploads <dir>',
      description: 'folder that a sync reads, with one subfolder per user',
      value: { kind: 'text', from: 'folders' },
    },
    {
      flags: '--user <name:password>',
      description: 'add a user; repeatable',
      default: 'demo:demo',
      value: TEXT,
      repeatable: true,
    },
    {
      flags: '--denied-user <name:password>',
      description: 'add a user who is not authorized; repeatable',
      value: TEXT,
      repeatable: true,
    },
    {
      flags: '--token-ttl <duration>',
      description: 'lifetime of a token',
      default: '24h',
      value: DURATION,
    },
    {
      flags: '--token-limit <n>',
      description: 'token requests per window',
      default: '5',
      value: { kind: 'number', min: 0, max: 1_000_000 },
    },
    {
      flags: '--token-window <duration>',
      description: 'window for --token-limit',
      default: '1m',
      value: DURATION,
    },
    { flags: '--latency <duration>', description: 'delay before each response', value: DURATION },
    {
      flags: '--sync-delay <duration>',
      description: 'time that a sync takes',
      default: '2s',
      value: DURATION,
    },
    {
      flags: '--fault <spec>',
      description: "inject a fault, such as 'GET /v2/image=503,first=2'; repeatable",
      value: TEXT,
      repeatable: true,
    },
    {
      flags: '--seed <n>',
      description: 'seed for the generated catalogue',
      default: '1',
      value: { kind: 'number', min: 0, max: 2 ** 31 },
    },
  ],
  load: async () => (await import('../emulator.ts')).run,
};

export const completion: CommandSpec = {
  name: 'completion',
  summary: 'print the completion script for a shell',
  description: [
    'Completes commands, options and their values, profiles, sync requests, and the names, folders and data stores of images that you listed on this machine. Completion never contacts the service.',
    'To install it for bash with the bash-completion package:',
    {
      shell: [
        'mkdir -p ~/.local/share/bash-completion/completions',
        'imgctl completion bash > ~/.local/share/bash-completion/completions/imgctl',
      ],
    },
    'To install it for bash without that package:',
    { shell: [`echo '. <(imgctl completion bash)' >> ~/.bashrc`] },
    'To install it for zsh:',
    {
      shell: [
        'mkdir -p ~/.zfunc',
        'imgctl completion zsh > ~/.zfunc/_imgctl',
        `echo 'fpath=(~/.zfunc $fpath); autoload -Uz compinit; compinit' >> ~/.zshrc`,
      ],
    },
    'To install it for fish:',
    {
      shell: [
        'mkdir -p ~/.config/fish/completions',
        'imgctl completion fish > ~/.config/fish/completions/imgctl.fish',
      ],
    },
    'To install it for PowerShell:',
    {
      shell: [`'imgctl completion powershell | Out-String | Invoke-Expression' >> $PROFILE`],
      language: 'powershell',
    },
  ],
  examples: [
    '. <(imgctl completion bash)',
    'source <(imgctl completion zsh)',
    'imgctl completion fish | source',
  ],
  arguments: [
    {
      name: 'shell',
      description: 'shell to generate completions for: bash, zsh, fish or powershell',
      required: true,
      value: {
        kind: 'choice',
        noun: 'shell',
        words: ['bash', 'zsh', 'fish', 'powershell'],
        synonyms: new Map([
          ['sh', 'bash'],
          ['pwsh', 'powershell'],
          ['ps1', 'powershell'],
        ]),
      },
    },
  ],
  load: async () => (await import('../completion.ts')).run,
};

/** The command that the completion scripts run. */
export const complete: CommandSpec = {
  name: '__complete',
  summary: 'print completions of a command line',
  examples: [],
  hidden: true,
  arguments: [
    { name: 'shell', description: 'shell that runs the completion' },
    { name: 'word', description: 'words up to the cursor', variadic: true },
  ],
  load: async () => (await import('../complete.ts')).run,
};

export const help: CommandSpec = {
  name: 'help',
  summary: 'show help for a command or topic',
  examples: ['imgctl help images list', 'imgctl help filters'],
  seeAlso: TOPIC_NAMES.map((name) => `help ${name}`),
  arguments: [
    {
      name: 'command or topic',
      description: `a command, or ${TOPIC_NAMES.join(', ')}`,
      variadic: true,
      value: { kind: 'text', from: 'commands' },
    },
  ],
  load: async () => (await import('../help.ts')).run,
};

export const printVersion: CommandSpec = {
  name: 'version',
  summary: 'print the version',
  examples: ['imgctl version', 'imgctl --version'],
  load: async () => (await import('../version.ts')).run,
};
