// The blocks of `imgctl help output`; a test runs every shell line.

import type { Block } from '../../declarations.ts';

export const OUTPUT: readonly Block[] = [
  'Output formats, columns and time stamps of every command that prints data.',
  'Formats: -o FORMAT, or --json for -o json. The format is the same on a terminal and in a pipe; only colour, width and progress differ.',
  {
    terms: [
      [
        'table',
        'the default: aligned columns, one line per row, - for a missing value; cut to the width of a terminal, but not in a pipe',
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
  'Columns: --columns a,b selects the fields and their order in every format; "all" selects all nine. By default tables, csv and tsv show id, name, folder, data_store and updated_on; json, ndjson and yaml show all fields, including those imgctl does not know. --no-header omits the header line of tables, csv and tsv.',
  {
    shell: [
      'imgctl images list --columns id,name,path',
      'imgctl images list -o tsv --columns name,updated_on --no-header',
      'imgctl my-images --columns all',
    ],
  },
  'Times: --time STYLE selects the format of time stamps of images.',
  {
    terms: [
      ['wire', 'as the service sent them: 2018-07-18 Wed 15:36:49 EDT'],
      ['iso', 'in UTC: 2018-07-18T19:36:49Z'],
      ['local', 'in your own time zone, to the minute: 2018-07-18 21:36'],
      ['age', 'how long ago: 3 months ago'],
    ],
  },
  "Tables show local time; other formats, and sync requests, show the service's own text. An ambiguous time is shown as the service sent it.",
  {
    shell: [
      'imgctl images list --time age -s updated_on,desc --limit 10',
      'imgctl images list -o csv --time iso',
    ],
  },
  'Shorter and longer output:',
  {
    terms: [
      ['-q', 'identifiers only, one per line (json, yaml: a list); no progress'],
      ['--urls', 'one image URL per line'],
      ['--meta', 'in json and yaml: {"data": [...], "meta": {...}}'],
    ],
  },
  {
    shell: [
      'imgctl images list -q -f name,like,%server%',
      'imgctl images list --urls --limit 3',
      'imgctl images list --json --meta --limit 3',
    ],
  },
  'An empty result prints [] in json and yaml, nothing in ndjson, only the header in csv and tsv, and a note on stderr instead of a table. The exit code is 0 unless you add --fail-empty.',
  'Control characters, line breaks and marks that reorder text are never printed raw on a terminal: they are escaped as in JSON, for example \\u001b. Colour is used on a terminal only; --color, NO_COLOR, FORCE_COLOR and TERM=dumb override that. In a narrow terminal, tables cut their widest texts first, and never ids.',
];
