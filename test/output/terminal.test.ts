// What a stream can show, and how wide texts are.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutToWidth, decideTerminal, displayWidth } from '../../src/output/terminal.ts';
import { MemorySink } from '../support/memory-sink.ts';
import { rows } from '../support/rows.ts';
import { anyText } from './hostile.ts';

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

describe('displayWidth', () => {
  it.each([
    ...rows(0, ''),
    ...rows(1, 'e\u0301', '❤', 'นี้'),
    ...rows(2, '\u1100\u1161\u11a8', 'a\u200cb', '😀', '❤️', '1️⃣', '👍🏽', '👨‍👩‍👧', '🏴‍☠️'),
    ...rows(4, 'ﾊﾝｶｸ', '🇩🇪🇫🇷'),
    ...rows(2, 'é\ud800', '\ud800é'),
    ...rows(6, '日本語', '한국어'),
    ...rows(257, `${'é'.repeat(255)}\ud800\ud800`, `${'é'.repeat(255)}😀`),
    ...rows(8, 'ｆｕｌｌ'),
  ])('of %j is %i', (text, expected) => {
    expect(displayWidth(text)).toBe(expected);
  });

  it('of a long text takes linear time', () => {
    // In one piece ICU takes half a minute.
    const text = '👍🏽e\u0301👨‍👩‍👧'.repeat(6_000);
    expect(displayWidth(text)).toBe(5 * 6_000);
    expect(displayWidth(`a${text}`)).toBe(5 * 6_000 + 1);
  });
});

describe('cutToWidth', () => {
  it.each([
    ['ubuntu.ova', 10, true, 'ubuntu.ova'],
    ['ubuntu.ova', 9, true, 'ubuntu.o…'],
    ['ubuntu.ova', 9, false, 'ubuntu...'],
    ['ubuntu.ova', 2, false, '..'],
    ['ubuntu.ova', 1, true, '…'],
    ['ubuntu.ova', 0, true, ''],
    ['日本語', 6, true, '日本語'],
    ['日本語', 5, true, '日本…'],
    ['日本語', 4, true, '日…'],
    ['👨‍👩‍👧👨‍👩‍👧', 3, true, '👨‍👩‍👧…'],
    ['e\u0301e\u0301e\u0301', 2, true, 'e\u0301…'],
  ])('cuts %j to %i cells, unicode %s: %j', (text, width, unicode, expected) => {
    expect(cutToWidth(text, width, unicode)).toBe(expected);
  });

  it('never exceeds the width, and changes nothing that fits', () => {
    fc.assert(
      fc.property(anyText(), fc.nat(20), fc.boolean(), (text, width, unicode) => {
        const cut = cutToWidth(text, width, unicode);
        expect(displayWidth(cut)).toBeLessThanOrEqual(width);
        expect(cut === text).toBe(displayWidth(text) <= width);
      }),
    );
  });
});
