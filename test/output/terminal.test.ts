// Who may have colour, a width, movement and signs beyond ASCII.

import { describe, expect, it } from 'vitest';
import { decideTerminal, loadBold } from '../../src/output/terminal.ts';
import { MemorySink, PIPE } from '../support/memory-sink.ts';

const SCREEN = new MemorySink(80);
const FILE = new MemorySink();

describe('colour', () => {
  it.each([
    ['a terminal', SCREEN, {}, 'auto', true],
    ['a pipe', FILE, {}, 'auto', false],
    ['NO_COLOR', SCREEN, { NO_COLOR: '1' }, 'auto', false],
    ['NO_COLOR, whatever its value', SCREEN, { NO_COLOR: '0' }, 'auto', false],
    ['NO_COLOR, but empty', SCREEN, { NO_COLOR: '' }, 'auto', true],
    ['FORCE_COLOR in a pipe', FILE, { FORCE_COLOR: '1' }, 'auto', true],
    ['FORCE_COLOR=3 in a pipe', FILE, { FORCE_COLOR: '3' }, 'auto', true],
    ['FORCE_COLOR, but empty', FILE, { FORCE_COLOR: '' }, 'auto', false],
    ['FORCE_COLOR=0 on a terminal', SCREEN, { FORCE_COLOR: '0' }, 'auto', false],
    ['FORCE_COLOR=false on a terminal', SCREEN, { FORCE_COLOR: 'false' }, 'auto', false],
    ['NO_COLOR and FORCE_COLOR', SCREEN, { NO_COLOR: '1', FORCE_COLOR: '1' }, 'auto', false],
    ['TERM=dumb', SCREEN, { TERM: 'dumb' }, 'auto', false],
    ['TERM=dumb and FORCE_COLOR', SCREEN, { TERM: 'dumb', FORCE_COLOR: '1' }, 'auto', true],
    ['--color always in a pipe', FILE, { NO_COLOR: '1', TERM: 'dumb' }, 'always', true],
    ['--color never on a terminal', SCREEN, { FORCE_COLOR: '1' }, 'never', false],
  ] as const)('%s', (_case, sink, env, choice, expected) => {
    expect(decideTerminal(sink, env, choice).color).toBe(expected);
  });

  it('is what chalk does too, whatever chalk itself would find', async () => {
    const colored = decideTerminal(FILE, {}, 'always');
    expect((await loadBold(colored))('x')).toBe('\u001b[1mx\u001b[22m');
    expect((await loadBold(PIPE))('x')).toBe('x');
  });
});

describe('width and movement', () => {
  it.each([
    ['a terminal', new MemorySink(80), {}, 80, true],
    ['a pipe', new MemorySink(), {}, undefined, false],
    ['0 columns', new MemorySink(0), {}, undefined, false],
    ['NaN columns', new MemorySink(Number.NaN), {}, undefined, false],
    ['TERM=dumb', new MemorySink(80), { TERM: 'dumb' }, 80, false],
    ['a pipe that knows columns', { ...new MemorySink(80), isTTY: false }, {}, undefined, false],
    [
      'a terminal of unknown width',
      { ...new MemorySink(80), columns: undefined },
      {},
      undefined,
      false,
    ],
  ] as const)('%s', (_case, sink, env, width, interactive) => {
    const full = { ...sink, write: async () => {} };
    expect(decideTerminal(full, env, 'auto')).toMatchObject({ width, interactive });
  });
});

describe('signs beyond ASCII', () => {
  it.each([
    [{}, true],
    [{ LANG: 'de_DE.UTF-8' }, true],
    [{ LANG: 'C.utf8' }, true],
    [{ LANG: 'de_DE' }, true],
    [{ LANG: 'C' }, false],
    [{ LANG: 'POSIX' }, false],
    [{ LANG: 'de_DE.ISO-8859-1' }, false],
    [{ LANG: 'de_DE.ISO-8859-15@euro' }, false],
    [{ LANG: 'de_DE.UTF-8@euro' }, true],
    [{ LC_ALL: 'C', LANG: 'de_DE.UTF-8' }, false],
    [{ LC_ALL: '', LANG: 'C' }, false],
    [{ LC_CTYPE: 'de_DE.UTF-8', LANG: 'C' }, true],
  ])('%j: %s', (env, expected) => {
    expect(decideTerminal(SCREEN, env, 'auto').unicode).toBe(expected);
  });
});
