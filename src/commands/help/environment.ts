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
      ['IMGCTL_TOKEN', 'an access token; it is never cached and never renewed'],
      ['IMGCTL_OUTPUT', 'output format: table, json, ndjson, yaml, csv or tsv'],
      ['IMGCTL_TIMEOUT', 'time limit of each request, such as 30s'],
      ['IMGCTL_DEBUG', 'set it to 1 to trace requests on stderr, with secrets redacted'],
      ['IMGCTL_CONFIG_DIR', 'one directory for settings, tokens and everything else'],
    ],
  },
  {
    terms: [
      ['XDG_CONFIG_HOME', 'settings and tokens are in its folder imgctl (~/.config)'],
      ['XDG_STATE_HOME', 'the history of sync requests is in its folder imgctl (~/.local/state)'],
      ['XDG_CACHE_HOME', 'names of images, for completion, are in its folder imgctl (~/.cache)'],
    ],
  },
  {
    terms: [
      [
        'HTTPS_PROXY, HTTP_PROXY',
        'proxy, as http:// or https://user:password@host:port; connections to this machine never use it',
      ],
      [
        'NO_PROXY',
        'hosts to reach without the proxy: names, which include their subdomains, and addresses, both with or without a port; address ranges (10.0.0.0/8); or *',
      ],
      [
        'NODE_EXTRA_CA_CERTS',
        'additional trusted certificates (see also: imgctl config set ca-file); NODE_TLS_REJECT_UNAUTHORIZED=0 is ignored, because certificates are always verified',
      ],
      ['NO_COLOR, FORCE_COLOR', 'turn colour off, turn colour on'],
    ],
  },
  'If a token is needed and none is valid, the password comes from the first of these that is set: IMGCTL_PASSWORD, IMGCTL_PASSWORD_FILE, the password command, and the system keychain if "imgctl login --store-password" stored it there. Only "imgctl login" prompts for it. No flag ever takes a secret.',
  'The password is the first line of the file, or of what the command prints, without the line break. A relative path is relative to the working directory. The mode of the file is not checked, because mounted secrets have their own. The shell runs the password command. The command and the keychain program (secret-tool, security) must finish within 30 s. IMGCTL_PASSWORD and IMGCTL_TOKEN are removed from their environment.',
];
