// The text of `imgctl help filters`; a test runs every line that begins with `  $ `.

export const FILTERS_HELP = `Filters, words and sorting, for "images list" and "my-images" alike.

Words: images whose name contains each of them, in any case.
  $ imgctl images list ubuntu 22.04

Filters: -f field,operator,value. Give several, and all of them must hold.
Split at the first two commas only, so a value may hold commas.

  fields     id, name, path, label, folder, data_store, public,
             created_on, updated_on
  eq ne      equal, not equal; eq,null and ne,null ask for a missing value
  lt le gt ge  lower, lower or equal, greater, greater or equal
  like       a pattern for the whole value; % stands for any text
  in         one of several values, separated by commas

  $ imgctl images list -f name,like,%server%
  $ imgctl images list -f id,in,1002,1003,1006
  $ imgctl images list -f folder,ne,null -f id,le,1100
  $ imgctl my-images -f public,eq,false

Numbers are whole numbers; public is true or false. Text is compared by
code point, with regard to case; like and words ignore case. In a shell,
quote a value that holds spaces or a * or $.

Times: created_on and updated_on take
  -30d, -2w, -12h, -15m    that long ago (+ lies ahead)
  2024-01-31               that day's start, in UTC
  2024-01-31T12:00:00Z     ISO 8601; UTC if no offset is given
  '2018-07-18 Wed 15:36:49 EDT'    as the service writes it

  $ imgctl images list -f updated_on,ge,-30d
  $ imgctl images list -f created_on,ge,2024-01-01 -f created_on,lt,2025-01-01
  $ imgctl images list -f created_on,like,2024-05-%

Times are compared as instants where both can be read, else as text. A zone
such as CST or IST has several meanings: it is never guessed.

Sorting: -s field or -s field,asc or -s field,desc. Repeat it for more keys,
the most significant first. Missing values come first, text by code point.

  $ imgctl images list -s updated_on,desc --limit 5
  $ imgctl images list -s folder -s name,desc

Who does what: the service takes one filter and one sort key. The first word,
or else the first filter that it can answer, goes to it; imgctl applies the
rest, and sorts by several keys, itself. Filters with null, those too long for
a URL (thousands of ids), and times that are not written as the service does,
are always imgctl's. An image without a value equals null alone, is ne to all
else, and passes no other operator.
`;
