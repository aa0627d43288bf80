// The blocks of the help topic fleet: one account on many machines.

import type { Block } from '../../declarations.ts';

export const FLEET: readonly Block[] = [
  'The service allows only a few token requests per account. By default each machine stores its own token. With a shared token store, one machine requests a token and all others use it.',
  {
    terms: [
      [
        'token-store',
        'a setting: file (default), or the URL of a Redis server, such as rediss://user@host:6379/0; IMGCTL_TOKEN_STORE overrides it; ca-file trusts a private certificate authority; redis:// without TLS is for this machine only, unless allow-http is set',
      ],
      [
        'IMGCTL_TOKEN_STORE_PASSWORD, IMGCTL_TOKEN_STORE_PASSWORD_FILE',
        'the password of the Redis user, or a file whose first line is that password; or set token-store-password-command to a command that prints it',
      ],
      [
        'IMGCTL_TOKEN_STORE_KEY, IMGCTL_TOKEN_STORE_KEY_FILE',
        'a key that seals tokens with AES-256-GCM, the same on all machines: 32 bytes in base64, as openssl rand -base64 32 prints them; or a file whose first line is that key',
      ],
    ],
  },
  'The store holds the token, a lock and what is known of the token request limit, under names such as imgctl:{digest}:token. Everything expires by itself. Each machine also stores a copy of the token in its token folder and uses it while it is valid.',
  'If the store cannot be used within 2 s, imgctl prints one warning and uses the tokens of this machine. Each machine then requests a token of its own, as far as the limit allows. A token that was sealed with another key is left alone.',
  '--wait-for-token DURATION, or the setting wait-for-token, waits for the end of the token request limit instead of exit code 6. Meanwhile imgctl uses the token of another machine as soon as there is one.',
  {
    shell: [
      'imgctl images list --wait-for-token 5m',
      'imgctl whoami --json',
      'imgctl doctor',
      'imgctl logout --all',
    ],
  },
  'doctor checks the store, and whoami shows which one is set. Do not log in on every machine, because each login requests a token: set base-url, username and password-command with "imgctl config set" instead. logout deletes only the token of this machine; logout --all also deletes the shared one.',
];
