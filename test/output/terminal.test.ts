// What a stream can show.

import { describe, expect, it } from 'vitest';
import { decideTerminal } from '../../src/output/terminal.ts';
import { MemorySink } from '../support/memory-sink.ts';
import { rows } from '../support/rows.ts';

const SCREEN = new MemorySink(80);
const FILE = new MemorySink();

describe('color', () => {
  it.each([
    ['a terminal', SCREEN, {}, 'auto', true],
    ['a pipe', FILE, {}, 'auto', false],
    ['NO_COLOR', SCREEN, { NO_COLOR: '1' }, 'auto', false],
    ['NO_COLOR, whatever its value', SCREEN, { NO_COLOR: '0' }, 'auto', false],
    ['NO_COLOR, but empty', SCREEN, { NO_COLOR: '' }, 'auto', true],
    ['FORCE_COLOR in a pipe', FILE, { FORCE_COLOR: '1' }, 'auto', true],
    ['FORCE_COLOR, but empty', FILE, { FORCE_COLOR: '' }, 'auto', false],
    ['FORCE_COLOR=0 on a terminal', SCREEN, { FORCE_COLOR: '0' }, 'auto', false],
    ['FORCE_COLOR=false on a terminal', SCREEN, { FORCE_COLOR: 'false' }, 'auto', false],
    ['NO_COLOR and FORCE_COLOR', SCREEN, { NO_COLOR: '1', FORCE_COLOR: '1' }, 'auto', false],
    ['TERM=dumb', SCREEN, { TERM: 'dumb' }, 'auto', false],
    ['TERM=dumb and FORCE_COLOR', SCREEN, { TERM: 'dumb', FORCE_COLOR: '1' }, 'auto', true],
    ['--color always in a pipe', FILE, { NO_COLOR: '1', TERM: 'dumb' }, 'always', true],
    ['--color never on a terminal', SCREEN, { FORCE_COLOR: '1' }, 'never', false],
  ] as const)('is decided by %s', (_case, sink, env, choice, expected) => {
    expect(decideTerminal(sink, env, choice).color).toBe(expected);
  });
});

describe('width and movement', () => {
  it.each([
    ['a terminal', new MemorySink(80), {}, 80, true],
    ['a pipe', new MemorySink(), {}, undefined, false],
    ['0 columns', new MemorySink(0), {}, undefined, false],
    ['NaN columns', new MemorySink(Number.NaN), {}, undefined, false],
    ['TERM=dumb', new MemorySink(80), { TERM: 'dumb' }, 80, false],
    ['a pipe with columns', { ...SCREEN, isTTY: false }, {}, undefined, false],
    ['a terminal of unknown width', { ...SCREEN, columns: undefined }, {}, undefined, false],
  ] as const)('are decided by %s', (_case, sink, env, width, interactive) => {
    const full = { ...sink, write: async () => {} };
    expect(decideTerminal(full, env, 'auto')).toMatchObject({ width, interactive });
  });
});

describe('unicode', () => {
  it.each([
    ...rows(true, {}, { LANG: 'de_DE.UTF-8' }, { LANG: 'de_DE' }, { LANG: 'de_DE.UTF-8@euro' }),
    ...rows(true, { LC_CTYPE: 'de_DE.UTF-8', LANG: 'C' }),
    ...rows(false, { LANG: 'C' }, { LANG: 'POSIX' }, { LANG: 'de_DE.ISO-8859-15@euro' }),
    ...rows(false, { LC_ALL: 'C', LANG: 'de_DE.UTF-8' }, { LC_ALL: '', LANG: 'C' }),
  ])('with %j is %s', (env, expected) => {
    expect(decideTerminal(SCREEN, env, 'auto').unicode).toBe(expected);
  });
});
