// What a stream can show, and the colours of messages.

import { expect, it } from 'vitest';
import { ImgctlError } from '../../src/errors.ts';
import { formatError, formatNotice } from '../../src/output/messages.ts';
import { decideTerminal, loadStyle, PLAIN, stateStyle } from '../../src/output/terminal.ts';
import { MemorySink } from '../support/memory-sink.ts';
import { rows } from '../support/rows.ts';

const SCREEN = new MemorySink(80);
const FILE = new MemorySink();

it.each([
  ['a terminal', SCREEN, {}, 'auto', true],
  ['a pipe', FILE, {}, 'auto', false],
  ['NO_COLOR', SCREEN, { NO_COLOR: '1' }, 'auto', false],
  ['NO_COLOR, but empty', SCREEN, { NO_COLOR: '' }, 'auto', true],
  ['FORCE_COLOR in a pipe', FILE, { FORCE_COLOR: '1' }, 'auto', true],
  ['FORCE_COLOR, but empty', FILE, { FORCE_COLOR: '' }, 'auto', false],
  ['FORCE_COLOR=0 on a terminal', SCREEN, { FORCE_COLOR: '0' }, 'auto', false],
  ['NO_COLOR and FORCE_COLOR', SCREEN, { NO_COLOR: '1', FORCE_COLOR: '1' }, 'auto', false],
  ['TERM=dumb', SCREEN, { TERM: 'dumb' }, 'auto', false],
  ['TERM=dumb and FORCE_COLOR', SCREEN, { TERM: 'dumb', FORCE_COLOR: '1' }, 'auto', true],
  ['--color always in a pipe', FILE, { NO_COLOR: '1', TERM: 'dumb' }, 'always', true],
  ['--color never on a terminal', SCREEN, { FORCE_COLOR: '1' }, 'never', false],
] as const)('colour is decided by %s', (_case, sink, env, choice, expected) => {
  expect(decideTerminal(sink, env, choice).color).toBe(expected);
});

it.each([
  ['a terminal', SCREEN, {}, 80, true],
  ['a pipe', FILE, {}, undefined, false],
  ['0 columns', new MemorySink(0), {}, undefined, false],
  ['TERM=dumb', SCREEN, { TERM: 'dumb' }, 80, false],
  ['a terminal of unknown width', { ...SCREEN, columns: undefined }, {}, undefined, false],
] as const)('width and movement are decided by %s', (_case, sink, env, width, interactive) => {
  const full = { ...sink, write: async () => {} };
  expect(decideTerminal(full, env, 'auto')).toMatchObject({ width, interactive });
});

it.each([
  ...rows(true, {}, { LANG: 'de_DE.UTF-8' }, { LANG: 'de_DE' }, { LANG: 'de_DE.UTF-8@euro' }),
  ...rows(true, { LC_CTYPE: 'de_DE.UTF-8', LANG: 'C' }),
  ...rows(false, { LANG: 'C' }, { LANG: 'POSIX' }, { LANG: 'de_DE.ISO-8859-15@euro' }),
  ...rows(false, { LC_ALL: 'C', LANG: 'de_DE.UTF-8' }, { LC_ALL: '', LANG: 'C' }),
])('Unicode with %j is %s', (env, expected) => {
  expect(decideTerminal(SCREEN, env, 'auto').unicode).toBe(expected);
});

const colored = () => loadStyle({ color: true });

it('loadStyle uses the 16 colours that every terminal has, or none', async () => {
  const painted = Object.entries(await colored()).map(([role, paint]) => [role, paint('x')]);
  const codes = painted.map(([role, text = '']) => [role, text.slice(1).split('x')[0]]);
  expect(Object.fromEntries(codes)).toEqual({
    ...{ heading: '[1m', id: '[36m', faint: '[2m', hint: '[36m' },
    ...{ good: '[32m', waiting: '[33m', bad: '[31m' },
  });
  expect(await loadStyle({ color: false })).toBe(PLAIN);
});

it.each([
  ...rows('good', 'ok', 'valid', 'succeeded', 'SUCCESS'),
  ...rows('waiting', 'waiting', 'PENDING', 'IN_PROGRESS', 'warning'),
  ...rows('bad', 'failed', 'ERROR', 'expired'),
  ...rows('faint', '-', 'none', 'not checked'),
] as const)('stateStyle of %j is %s', async (word, kind) => {
  const style = await colored();
  expect(stateStyle(word, style)).toBe(style[kind]);
  expect(stateStyle(`${word}.ova`, style)).toBe(String);
});

it('messages have a red name, a cyan hint, and a yellow word for a warning', async () => {
  const format = { json: false, debug: false, style: await colored() };
  const error = new ImgctlError('not-found', 'no image', { hint: 'look' });
  expect(formatError(error, format)).toBe(
    '\u001b[31mimgctl:\u001b[39m no image\n\u001b[36mhint:\u001b[39m look\n',
  );
  const warning = formatNotice('warning', 'w', undefined, format);
  expect(warning).toBe('imgctl: \u001b[33mwarning:\u001b[39m w\n');
  const json = { ...format, json: true };
  expect(formatError(error, json)).toMatch(/^\{"error".*\}\n$/);
  expect(formatNotice('warning', 'w', 'h', json)).not.toContain('\u001b');
});
