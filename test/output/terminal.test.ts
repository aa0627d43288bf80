// What a stream can show, and the colours of messages.

import { expect, it } from 'vitest';
import { ImgctlError } from '../../src/errors.ts';
import { loadStyle, stateStyle } from '../../src/output/style.ts';
import { decideTerminal } from '../../src/output/terminal.ts';
import { MemorySink } from '../support/memory-sink.ts';
import { PLAIN } from '../support/message-format.ts';
import { formatError, formatNotice } from '../support/messages.ts';
import { rows } from '../support/rows.ts';

const SCREEN = new MemorySink(80);
const FILE = new MemorySink();

it.each([
  ['a terminal', SCREEN, {}, 'auto', true],
  ['a pipe', FILE, {}, 'auto', false],
  ['NO_COLOR, but empty', SCREEN, { NO_COLOR: '' }, 'auto', true],
  ['FORCE_COLOR in a pipe', FILE, { FORCE_COLOR: '1' }, 'auto', true],
  ['FORCE_COLOR=0 on a terminal', SCREEN, { FORCE_COLOR: '0' }, 'auto', false],
  ['FORCE_COLOR=false on a terminal', SCREEN, { FORCE_COLOR: 'false' }, 'auto', false],
  ['NO_COLOR and FORCE_COLOR', SCREEN, { NO_COLOR: '1', FORCE_COLOR: '1' }, 'auto', false],
  ['TERM=dumb', SCREEN, { TERM: 'dumb' }, 'auto', false],
  ['TERM=dumb and FORCE_COLOR', SCREEN, { TERM: 'dumb', FORCE_COLOR: '1' }, 'auto', true],
  ['--color always in a pipe', FILE, { NO_COLOR: '1', TERM: 'dumb' }, 'always', true],
  ['--color never on a terminal', SCREEN, { FORCE_COLOR: '1' }, 'never', false],
] as const)('colour is decided by %s', (_case, sink, env, choice, expected) => {
  expect(decideTerminal(sink, env, choice).color).toBe(expected);
});

it.each([
  [true, 80, {}, 80, true],
  [false, undefined, {}, undefined, false],
  [true, 0, {}, undefined, false],
  [true, undefined, {}, undefined, false],
  [true, 80, { TERM: 'dumb' }, 80, false],
])('a terminal (%s) of %s columns with %j has the width %s and can move: %s', (...row) => {
  const [isTTY, columns, env, width, interactive] = row;
  const sink = { isTTY, columns, write: async () => {} };
  expect(decideTerminal(sink, env)).toMatchObject({ width, interactive });
});

it.each([
  ...rows(true, {}, { LANG: 'de_DE.UTF-8' }, { LANG: 'de_DE' }, { LANG: 'de_DE.UTF-8@euro' }),
  ...rows(true, { LC_CTYPE: 'de_DE.UTF-8', LANG: 'C' }, { LC_ALL: 'C.utf8', LC_CTYPE: 'C' }),
  ...rows(false, { LANG: 'C' }, { LANG: 'POSIX' }, { LANG: 'de_DE.ISO-8859-15@euro' }),
  ...rows(false, { LC_ALL: 'C', LANG: 'de_DE.UTF-8' }, { LC_ALL: '', LANG: 'C' }),
])('Unicode with %j is %s', (env, expected) => {
  expect(decideTerminal(SCREEN, env, 'auto').unicode).toBe(expected);
});

it.each([
  ...rows('32', 'ok', 'valid', 'succeeded', 'SUCCESS', 'done', 'complete', 'completed', 'finished'),
  ...rows('32', 'processed', 'added'),
  ...rows('33', 'waiting', 'PENDING', 'IN_PROGRESS', 'running', 'processing', 'queued', 'warning'),
  ...rows('33', 'updated', 'moved', 'newer'),
  ...rows('31', 'failed', 'failure', 'ERROR', 'expired', 'rejected', 'aborted', 'cancelled'),
  ...rows('31', 'canceled', 'gone', 'replaced', 'removed', '1 error', '2 errors'),
  ...rows('2', 'none', 'not checked'),
])('the state %j has the colour %s', async (word, code) => {
  const style = await loadStyle({ color: true });
  expect(stateStyle(word, style)(word)).toContain(`\u001b[${code}m`);
  for (const name of [`${word}.ova`, `un${word}`]) expect(stateStyle(name, style)(name)).toBe(name);
});

it('messages have a red name, a cyan hint, and a yellow word for a warning, but not as JSON', async () => {
  const format = { ...PLAIN, style: await loadStyle({ color: true }) };
  const error = new ImgctlError('not-found', 'no image', { facts: 'look' });
  const lines = '\u001b[31mimgctl:\u001b[39m no image\n\u001b[36mhint:\u001b[39m look\n';
  expect(formatError(error, format)).toBe(lines);
  const warning = formatNotice('warning', { message: 'w' }, format);
  expect(warning).toBe('imgctl: \u001b[33mwarning:\u001b[39m w\n');
  const debug = formatNotice('debug', { message: 'd' }, format);
  expect(debug).toBe('imgctl: \u001b[2mdebug:\u001b[22m d\n');
  // Colours take no cells.
  const exact = formatNotice('warning', { message: 'a b' }, { ...format, width: 20 });
  expect(exact).toBe(warning.replace('w\n', 'a b\n'));
  const json = { ...format, json: true };
  expect(formatError(error, json)).not.toContain('\u001b');
  expect(formatNotice('warning', { message: 'w', hint: 'h' }, json)).not.toContain('\u001b');
});

it('a message keeps its mark beside a first word that is longer than the terminal is wide', () => {
  const format = { ...PLAIN, width: 20 };
  const message = `${'a'.repeat(20)}.ova is invalid`;
  const text = formatNotice('failed part', { message }, format);
  expect(text).toBe(`✗ ${'a'.repeat(20)}.ova\n    is invalid\n`);
});
