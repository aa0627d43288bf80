// The text of `imgctl help filters`; a test runs every line that begins with `  $ `.

export const FILTERS_HELP = `Filters, search words and sorting for "images list" and "my-images".

Words: images whose name contains every word, ignoring case.
  $ imgctl images list ubuntu 22.04

Filters: -f field,operator,value (repeatable; an image must match all of them).
Only the first two commas separate, so a value may contain commas.

  fields     id, name, path, label, folder, data_store, public,
             created_on, updated_on
  eq ne      equal, not equal; eq,null and ne,null test for a missing value
  lt le gt ge  less, less or equal, greater, greater or equal
  like       a pattern for the whole value; % matches any text
  in         one of several values, separated by commas

  $ imgctl images list -f name,like,%server%
  $ imgctl images list -f id,in,1002,1003,1006
  $ imgctl images list -f folder,ne,null -f id,le,1100
  $ imgctl my-images -f public,eq,false

Ids are whole numbers; public is true or false. Text is compared by code
point and is case-sensitive; like and words ignore case. Quote a value that
contains spaces, * or $ for your shell.

Times: created_on and updated_on accept
  -30d, -2w, -12h, -15m    a time ago (+ for the future)
  2024-01-31               the start of that day in UTC
  2024-01-31T12:00:00Z     ISO 8601; UTC without an offset
  '2018-07-18 Wed 15:36:49 EDT'    the format of the service

  $ imgctl images list -f updated_on,ge,-30d
  $ imgctl images list -f created_on,ge,2024-01-01 -f created_on,lt,2025-01-01
  $ imgctl images list -f created_on,like,2024-05-%

Times are compared as instants if both can be parsed, else as text. An
ambiguous zone such as CST or IST is never guessed.

Sorting: -s field, -s field,asc or -s field,desc. Repeat it to sort by several
keys, the most significant first. Missing values come first.

  $ imgctl images list -s updated_on,desc --limit 5
  $ imgctl images list -s folder -s name,desc

Where filters run: the service applies one filter and one sort key. imgctl
sends it the first word, or else the first filter that it can apply, and
applies the rest locally. It sorts by several keys locally too. Always local
are filters with null, filters too long for a URL (thousands of ids) and times
in another format than the service's. A missing value matches only eq,null,
and ne with anything else.
`;
