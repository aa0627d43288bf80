// The blocks of `imgctl help filters`; a test runs every shell line.

import type { Block } from '../../declarations.ts';

export const FILTERS: readonly Block[] = [
  'Filters, search words and sorting work the same in "images list" and "my-images".',
  'Words: only images whose name contains every word are shown. Case is ignored.',
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
  'Numbers are whole numbers; public is true or false. Text is compared by code point and is case-sensitive, but like and words ignore case. In a shell, quote a value that contains spaces or a * or $. A missing value matches only eq,null, and ne with anything else.',
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
  'Two times are compared as instants if both can be parsed, otherwise as text. A zone such as CST or IST has several meanings, and imgctl does not guess.',
  'Sorting: -s field or -s field,asc or -s field,desc. Repeat it for more keys, most significant first. Missing values come first; text is sorted by code point.',
  {
    shell: [
      'imgctl images list -s updated_on,desc --limit 5',
      'imgctl images list -s folder -s name,desc',
    ],
  },
  'Server and client: the service takes one filter and one sort key. imgctl sends the first word, or else the first filter that the service supports. It applies the other filters itself, and sorts by several keys itself. It never sends a filter with null, a filter too long for a URL (thousands of ids), or a time that is not in the format of the service.',
];
