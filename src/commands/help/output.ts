// The text of `imgctl help output`; a test runs every line that begins with `  $ `.

export const OUTPUT_HELP = `Output: formats, columns and times for every command that prints data.

Formats: -o FORMAT, or --json for -o json. A pipe never changes the format,
only colour, width and progress.

  table    aligned columns, one line per row, - for a missing value
           (the default; cut to the width of a terminal, never in a pipe)
  json     one array, or one object for a single record
  ndjson   one JSON object per line, written as pages arrive
  yaml     the same values as json
  csv      RFC 4180: lines end in CRLF, a missing value is an empty cell; a
           text that a spreadsheet would run as a formula gets a leading '
  tsv      a tab, CR or LF in a cell becomes a space

  $ imgctl images list --limit 5
  $ imgctl images list ubuntu -o csv
  $ imgctl images list -f folder,ne,null -o ndjson

Columns: --columns a,b selects the fields and their order in every format;
"all" selects all nine. By default tables, csv and tsv show id, name, folder,
data_store and updated_on; json, ndjson and yaml show all fields, including
those unknown to imgctl. --no-header omits the header line of tables, csv and
tsv.

  $ imgctl images list --columns id,name,path
  $ imgctl images list -o tsv --columns name,updated_on --no-header
  $ imgctl my-images --columns all

Times: --time STYLE sets the style of image time stamps.

  wire     as the service sent them: 2018-07-18 Wed 15:36:49 EDT
  iso      in UTC: 2018-07-18T19:36:49Z
  local    in your own time zone, to the minute: 2018-07-18 21:36
  age      the time since then: 3 months ago

Tables show local time; other formats and sync requests show the service's own
text. A time that cannot be parsed without a guess is shown as it was sent.

  $ imgctl images list --time age -s updated_on,desc --limit 10
  $ imgctl images list -o csv --time iso

Less and more:
  -q       identifiers only, one per line (json, yaml: a list); no progress
  --urls   the URL of each image, one per line
  --meta   json and yaml: {"data": [...], "meta": {...}}

  $ imgctl images list -q -f name,like,%server%
  $ imgctl images list --urls --limit 3
  $ imgctl images list --json --meta --limit 3

An empty result is [] in json and yaml, nothing in ndjson, only the header in
csv and tsv, and a note on stderr for a table. The exit code is 0, or 5 with
--fail-empty.

On a terminal, control characters, line breaks and marks that reorder text are
escaped as in JSON, for example \\u001b. Colour needs a terminal, unless
--color always or FORCE_COLOR is set; --color never, NO_COLOR and TERM=dumb
turn it off. In a narrow terminal the widest text columns of a table are cut
first; ids are never cut.
`;
