// The blocks of `imgctl help exit-codes`.

import type { Block } from '../../declarations.ts';

export const EXIT_CODES: readonly Block[] = [
  'Exit codes:',
  {
    terms: [
      ['0', 'success, including an empty list'],
      [
        '1',
        'the operation failed: server error, failed sync, unreadable response, invalid package',
      ],
      ['2', 'usage or configuration error'],
      ['3', 'network: unreachable, TLS, timed out'],
      ['4', 'not logged in, wrong credentials, not permitted'],
      ['5', 'not found (and with --fail-empty: nothing matched)'],
      ['6', 'rate limited; the error shows when to try again'],
      ['7', 'still waiting when --wait-timeout expired'],
      ['130', 'interrupted (Ctrl-C)'],
      ['143', 'terminated (SIGTERM)'],
    ],
  },
  'A pipe that closes early (imgctl images list | head -1) is not an error.',
  'Errors are printed on stderr, never on stdout:',
  { lines: ['imgctl: <what happened>', 'hint: <the command or setting that helps>'] },
  'With -o json or ndjson each error is one JSON object per line instead:',
  { lines: ['{"error": {"code", "message", "hint", "status", "exitCode"}}'] },
];
