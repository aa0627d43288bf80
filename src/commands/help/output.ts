// The text of `imgctl help output`; a test runs every line that begins with `  $ `.

export const OUTPUT_HELP = `Output: formats, columns and times, for every command that prints data.

Formats: -o FORMAT, or --json for -o json. The format never changes because
the output is a pipe; only colour, width and progress do.

  table    aligned columns, one line a row, a missing value as -
           (the default; cut to the width of a terminal, whole in a pipe)
  json     one array, or one object for a single record
  ndjson   one JSON object a line, written as the pages arrive
  yaml     the same values as json
  csv      RFC 4180: lines end in CRLF, a missing value is an empty cell; a
           text that a spreadsheet would run as a formula gets a leading '
  tsv      a tab, CR or LF inside of a cell becomes a space

  $ imgctl images list --limit 5
  $ imgctl images list ubuntu -o csv
  $ imgctl images list -f folder,ne,null -o ndjson

Columns: --columns a,b says which fields to show and in which order, in every
format; "all" means all nine. Tables, csv and tsv show id, name, folder,
data_store and updated_on if you do not say; json, ndjson and yaml show all
fields, also those that imgctl does not know. --no-header leaves out the line
of names in tables, csv and tsv.

  $ imgctl images list --columns id,name,path
  $ imgctl images list -o tsv --columns name,updated_on --no-header
  $ imgctl my-images --columns all

Times: --time STYLE says how the time stamps of images show.

  wire     as the service sent them: 2018-07-18 Wed 15:36:49 EDT
  iso      in UTC: 2018-07-18T19:36:49Z
  local    in your own time zone, to the minute: 2018-07-18 21:36
  age      how long ago: 3 months ago

Tables show local times, all other formats and sync requests those of the wire.
A time that cannot be read without a guess shows as it was sent.

  $ imgctl images list --time age -s updated_on,desc --limit 10
  $ imgctl images list -o csv --time iso

Less and more:
  -q       identifiers only, one a line (json, yaml: a list); no progress
  --urls   the URL of each image, one a line
  --meta   json and yaml: {"data": [...], "meta": {...}}

  $ imgctl images list -q -f name,like,%server%
  $ imgctl images list --urls --limit 3
  $ imgctl images list --json --meta --limit 3

Nothing found is [] in json and yaml, nothing in ndjson, the header alone in
csv and tsv, and a note on stderr for a table; the exit code is 0 unless you
say --fail-empty.

Control characters, line breaks and marks that reorder text never show raw on
a terminal: they are written as in JSON, \\u001b for example. Colour needs a
terminal; --color always or never, NO_COLOR and FORCE_COLOR change that, and
so does TERM=dumb. In a narrow terminal the widest texts of a table are cut first;
ids stay whole.
`;
