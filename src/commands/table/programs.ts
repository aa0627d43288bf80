// Declares the commands for programs: api, commands and mcp.

import { type CommandSpec, option, SERVICE_CODES } from './spec.ts';

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
    option('-X, --method <method>', 'HTTP method', {
      default: 'GET',
      value: { kind: 'text', from: 'methods' },
    }),
    option('-f, --field <key=value>', 'query parameter; repeatable', { repeatable: true }),
    option('-i, --include', 'also print status and headers'),
    option('--paginate', 'follow meta.pages.next_url and print every page'),
    option('--slurp', 'with --paginate: print one JSON array of the pages', {
      conflicts: ['include'],
    }),
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
  fields: [
    ['version', 'string', 'version of imgctl'],
    ['commands', 'array', 'commands: arguments, options, fields of the JSON output and more'],
    ['global_options', 'array', 'options of every command'],
    ['environment', 'array', 'environment variables: name and meaning'],
    ['exit_codes', 'array', 'exit codes: code and meaning'],
  ],
  load: async () => (await import('../commands.ts')).run,
};

export const mcp: CommandSpec = {
  name: 'mcp',
  summary: 'serve images to assistants over MCP',
  description: [
    'Speaks the Model Context Protocol on standard input and output. An MCP client starts it, and it ends when the client closes its input. It uses the login, settings and tokens of the other commands, but never prompts.',
    'Tools:',
    {
      terms: [
        ['images_list', 'list public images, with the total'],
        ['images_get', 'show images with all fields'],
        ['images_latest', 'show the newest image of a series'],
        ['my_images', 'list your own images'],
        ['sync_status', 'show sync requests'],
        ['package_inspect', 'show the contents of a local OVA or OVF'],
        ['sync', 'submit an image sync; only with --allow-sync'],
      ],
    },
    'A client starts it with a configuration such as:',
    { lines: ['{"mcpServers": {"imgctl": {"command": "imgctl", "args": ["mcp"]}}}'] },
  ],
  examples: ['imgctl mcp', 'imgctl mcp --profile staging --allow-sync'],
  seeAlso: ['commands', 'login'],
  mutates: true,
  options: [{ flags: '--allow-sync', description: 'add a tool that submits image syncs' }],
  load: async () => (await import('../mcp.ts')).run,
};
