// The blocks of `imgctl help environment`.

import type { Block } from '../../declarations.ts';

export const ENVIRONMENT: readonly Block[] = [
  'Environment variables: a flag overrides a variable, a variable overrides the profile. An empty variable counts as unset.',
  {
    terms: [
      ['IMGCTL_PROFILE', 'use the settings and token of this profile'],
      ['IMGCTL_BASE_URL', 'address of the service'],
      ['IMGCTL_USERNAME', 'user name for token requests'],
      ['IMGCTL_PASSWORD', 'the password'],
      ['IMGCTL_PASSWORD_FILE', 'a file whose first line is the password'],
      ['IMGCTL_PASSWORD_COMMAND', 'a command whose first output line is the password'],
      ['IMGCTL_TOKEN', 'an access token, used unchanged: never cached, never renewed'],
      ['IMGCTL_OUTPUT', 'table, json, ndjson, yaml, csv or tsv'],
      ['IMGCTL_TIMEOUT', 'time limit of each request, such as 30s'],
      ['IMGCTL_DEBUG', '1 traces requests on stderr, with secrets redacted'],
      ['IMGCTL_CONFIG_DIR', 'one directory for settings, tokens and everything else'],
    ],
  },
  {
    terms: [
      ['XDG_CONFIG_HOME', 'settings and tokens are in imgctl/ below it (~/.config)'],
      ['XDG_STATE_HOME', 'the history of sync requests is in imgctl/ below it (~/.local/state)'],
      ['XDG_CACHE_HOME', 'names of images, for completion, are in imgctl/ below it (~/.cache)'],
    ],
  },
  {
    terms: [
      [
        'HTTPS_PROXY, HTTP_PROXY',
        'a proxy: http:// or https://user:password@host:port; this machine itself is always reached directly',
      ],
      [
        'NO_PROXY',
        'what is reached directly: hosts including their subdomains, and addresses, each with or without a port; address ranges (10.0.0.0/8); or *',
      ],
      [
        'NODE_EXTRA_CA_CERTS',
        'additional trusted certificates (see also: imgctl config set ca-file); certificates are verified whatever NODE_TLS_REJECT_UNAUTHORIZED says',
      ],
      ['NO_COLOR, FORCE_COLOR', 'colour off, colour on'],
    ],
  },
  'If a token is needed and none is valid, the password comes from the first of these that is set: IMGCTL_PASSWORD, IMGCTL_PASSWORD_FILE, the password command, and the system keychain if "imgctl login --store-password" stored it there. Only "imgctl login" prompts for it. No flag ever takes a secret.',
  'Of a file or command only the first line counts, without its line break. The path of a file is relative to the working directory; its mode is not checked, because mounted secrets have their own. The shell runs a command. It and the program of the keychain (secret-tool, security) have 30 s, and IMGCTL_PASSWORD and IMGCTL_TOKEN are removed from their environment.',
];
