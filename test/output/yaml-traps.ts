// Texts that some version of YAML takes for something else if they are not quoted.

import { HOSTILE } from './hostile.ts';

export const TRAPS = [
  ...['', ' ', ' x', 'x ', 'yes', 'No', 'ON', 'off', 'y', 'N'],
  ...['true', 'FALSE', 'null', '~', 'Null'],
  ...['1', '-1', '+1', '012', '0o7', '0x1', '0b1', '1_000', '1e3', '1.', '.5', '.inf', '.NaN'],
  ...['1:30', '190:20:30', '2018-07-18', '2018-07-18 15:36:49', '2018-07-18 Wed 15:36:49 EDT'],
  ...['=', '<<', 'E0', 'e+5', 'e-12'],
  ...['-', '- a', '?', '? a', ':', 'a: b', 'a:', 'a #b', '#a', '&a', '*a', '!a', '%a', '@a', '`a'],
  ...['[a]', '{a}', ',', "'a'", '"a"', '|', '>', '---', '...', '\\', 'a\nb', '\ttab', 'a\u0085b'],
  ...['\u2028', '\ufeffa', '\ufffe', '\u{e0001}', '😀', 'Größe', '[ds] a/b.ova', HOSTILE],
];
