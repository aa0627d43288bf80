// The blocks of the help topics; a test runs every shell line.

import type { Block } from '../../declarations.ts';

export const FILTERS: readonly Block[] = [
  'Filters, search words and sorting, the same for "images list" and "my-images".',
  'Words: images whose name contains each of them. Case is ignored.',
  { shell: ['imgctl images list ubuntu 22.04'] },
  'Filters: -f field,operator,value. If you give several, all must match. A filter is split at the first two commas only, so a value can contain commas.',
  {
    terms: [
      ['fields', 'id, name, path, label, folder, data_store, public, created_on, updated_on'],
      ['eq ne', 'equal, not equal; eq,null and ne,null test for a missing value'],
      ['lt le gt ge', 'less, less or equal, greater, greater or equal'],
      ['like', 'a pattern for the whole value; % matches any text'],
      ['in', 'one of several values, separated by commas'],
    ],
  },
  {
    shell: [
      'imgctl images list -f name,like,%server%',
      'imgctl images list -f id,in,1002,1003,1006',
      'imgctl images list -f folder,ne,null -f id,le,1100',
      'imgctl my-images -f public,eq,false',
    ],
  },
  'Numbers are whole numbers; public is true or false. Text is compared by code point and case-sensitive; like and words ignore case. In a shell, quote a value that contains spaces or a * or $. A missing value matches only eq,null, and ne with anything else.',
  'Times: created_on and updated_on take one of these:',
  {
    terms: [
      ['-30d, -2w, -12h, -15m', 'this long ago (+ is in the future)'],
      ['2024-01-31', 'the start of that day in UTC'],
      ['2024-01-31T12:00:00Z', 'ISO 8601; UTC if it has no offset'],
      ["'2018-07-18 Wed 15:36:49 EDT'", 'as the service writes it'],
    ],
  },
  {
    shell: [
      'imgctl images list -f updated_on,ge,-30d',
      'imgctl images list -f created_on,ge,2024-01-01 -f created_on,lt,2025-01-01',
      'imgctl images list -f created_on,like,2024-05-%',
    ],
  },
  'Times are compared as instants if both can be read, else as text. A zone such as CST or IST has several meanings, so it is never guessed.',
  'Sorting: -s field or -s field,asc or -s field,desc. Repeat it for more keys, most significant first. Missing values come first; text is sorted by code point.',
  {
    shell: [
      'imgctl images list -s updated_on,desc --limit 5',
      'imgctl images list -s folder -s name,desc',
    ],
  },
  'Server and client: the service takes one filter and one sort key. imgctl sends the first word, or else the first filter that the service can answer. It applies the rest, and any sort by several keys, itself. imgctl also applies filters with null, filters too long for a URL (thousands of ids), and times in another format than that of the service.',
];

export const OUTPUT: readonly Block[] = [
  'Output formats, columns and time stamps, for every command that prints data.',
  'Formats: -o FORMAT, or --json for -o json. The format never changes because the output is a pipe; only colour, width and progress do.',
  {
    terms: [
      [
        'table',
        'aligned columns, one line per row, - for a missing value (the default; cut to the width of a terminal, whole in a pipe)',
      ],
      ['json', 'one array, or one object for a single record'],
      ['ndjson', 'one JSON object per line, written as pages arrive'],
      ['yaml', 'the same values as json'],
      [
        'csv',
        "RFC 4180: lines end in CRLF, a missing value is an empty cell; text that a spreadsheet would run as a formula gets a leading '",
      ],
      ['tsv', 'a tab, CR or LF inside a cell becomes a space'],
    ],
  },
  {
    shell: [
      'imgctl images list --limit 5',
      'imgctl images list ubuntu -o csv',
      'imgctl images list -f folder,ne,null -o ndjson',
    ],
  },
  'Columns: --columns a,b selects fields and their order in every format; "all" means all nine. By default tables, csv and tsv show id, name, folder, data_store and updated_on; json, ndjson and yaml show all fields, including those imgctl does not know. --no-header omits the header line of tables, csv and tsv.',
  {
    shell: [
      'imgctl images list --columns id,name,path',
      'imgctl images list -o tsv --columns name,updated_on --no-header',
      'imgctl my-images --columns all',
    ],
  },
  'Times: --time STYLE selects the format of the time stamps of images.',
  {
    terms: [
      ['wire', 'as the service sent them: 2018-07-18 Wed 15:36:49 EDT'],
      ['iso', 'in UTC: 2018-07-18T19:36:49Z'],
      ['local', 'in your own time zone, to the minute: 2018-07-18 21:36'],
      ['age', 'how long ago: 3 months ago'],
    ],
  },
  "Tables show local time; other formats, and sync requests, show the service's own text. A time that only a guess could read is shown as it was sent.",
  {
    shell: [
      'imgctl images list --time age -s updated_on,desc --limit 10',
      'imgctl images list -o csv --time iso',
    ],
  },
  'Less and more:',
  {
    terms: [
      ['-q', 'identifiers only, one per line (json, yaml: a list); no progress'],
      ['--urls', 'one image URL per line'],
      ['--meta', 'json and yaml: {"data": [...], "meta": {...}}'],
    ],
  },
  {
    shell: [
      'imgctl images list -q -f name,like,%server%',
      'imgctl images list --urls --limit 3',
      'imgctl images list --json --meta --limit 3',
    ],
  },
  'An empty result is [] in json and yaml, nothing in ndjson, the header alone in csv and tsv, and a note on stderr for a table. The exit code is 0 unless you add --fail-empty.',
  'Control characters, line breaks and marks that reorder text are never printed raw on a terminal: they are escaped as in JSON, for example \\u001b. Colour needs a terminal; --color, NO_COLOR, FORCE_COLOR and TERM=dumb override that. In a narrow terminal the widest texts of a table are cut first; ids are never cut.',
];

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

export const EXIT_CODES: readonly Block[] = [
  'Exit codes:',
  {
    terms: [
      ['0', 'success; an empty list too'],
      [
        '1',
        'the operation failed: server error, failed sync, unreadable response, invalid package',
      ],
      ['2', 'usage or configuration error'],
      ['3', 'network: unreachable, TLS, timed out'],
      ['4', 'not logged in, wrong credentials, not permitted'],
      ['5', 'not found (and with --fail-empty: nothing matched)'],
      ['6', 'rate limited; the error says until when'],
      ['7', 'still waiting at the limit'],
      ['130', 'interrupted (Ctrl-C)'],
      ['143', 'terminated (SIGTERM)'],
    ],
  },
  'A reader that closes early (imgctl images list | head -1) is not an error.',
  'Errors are printed on stderr, never on stdout:',
  { lines: ['imgctl: <what happened>', 'hint: <the command or setting that helps>'] },
  'With -o json or ndjson each error is one JSON object per line instead:',
  { lines: ['{"error": {"code", "message", "hint", "status", "exitCode"}}'] },
];
