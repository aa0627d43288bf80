// The groups of the root help page: every command and every global option in at most 20 lines.

export interface Group {
  readonly title: string;
  /** Names, separated by commas, with what they do in at most 38 characters. */
  readonly entries: readonly (readonly [names: string, text: string])[];
}

export const GROUPS: readonly Group[] = [
  {
    title: 'Start',
    entries: [
      ['login', 'log in and cache an access token'],
      ['logout, whoami', 'log out; show user and token state'],
      ['demo', 'try imgctl here, without an account'],
      ['doctor', 'check configuration, network and login'],
    ],
  },
  {
    title: 'Images',
    entries: [
      ['images', 'list, choose and watch public images'],
      ['my-images', 'list your own images'],
    ],
  },
  {
    title: 'Packages and sync',
    entries: [
      ['inspect, validate', 'show a local OVA or OVF; check it'],
      ['push', 'upload packages and sync them'],
      ['sync, sync-status', 'submit an image sync; follow it'],
    ],
  },
  {
    title: 'Configuration',
    entries: [
      ['config, profile', 'change settings; manage profiles'],
      ['completion', 'print the completion script of a shell'],
    ],
  },
  {
    title: 'Automation',
    entries: [
      ['api, token, mcp', 'send requests; print token; serve MCP'],
      ['commands, emulator', 'list commands; run the local service'],
      ['help, version', 'show help (-h); print the version (-V)'],
    ],
  },
  {
    title: 'Options',
    entries: [
      ['--profile, --base-url', 'profile to use; address of the service'],
      ['-o, --output, --json', 'table, json, ndjson, yaml, csv or tsv'],
      ['-q, --quiet, --debug', 'identifiers only; trace requests'],
      ['--timeout, --retries', 'time limit (30s), retries of a request'],
      ['--color', 'auto, always or never'],
      ['--wait-for-token', 'wait until the token limit ends'],
    ],
  },
];
