// images list on a terminal: progress shows, stands in nobody's way, and is gone when done.

import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { testImages } from '../support/catalogue-page.ts';
import { type FakeIoOptions, fakeIo, runCli } from '../support/io.ts';
import type { Handler } from '../support/scripted-server.ts';
import { catalogueOf, scripted, wordsOf } from './listing-harness.ts';

const LINE = 'images list --per-page 2 --retries 0';
const ERASE = '\r\u001b[K';
const twoPages = catalogueOf(testImages(4));

/** Everything that stderr got, where page 2 waits for `ready`. */
async function errorOutput(
  line: string,
  options: FakeIoOptions,
  ready: (stderr: () => string) => Promise<void>,
  pageTwo: Handler = twoPages,
): Promise<readonly string[]> {
  const { server } = await scripted(async (request, index) => {
    if (request.url.searchParams.get('page') === '1') return twoPages(request, index);
    await ready(() => io.stderr.text);
    return pageTwo(request, index);
  });
  const env = { IMGCTL_BASE_URL: server.baseUrl, IMGCTL_TOKEN: 'T', ...options.env };
  const io = fakeIo({ ...options, env });
  await runCli(wordsOf(line), io);
  return io.stderr.pieces;
}

const untilShown = async (stderr: () => string): Promise<void> => {
  while (!stderr().includes('page 1 of 2')) await wait(5);
};

describe('progress', () => {
  it('shows pages and images so far, and is gone when done', async () => {
    const pieces = await errorOutput(LINE, { errorColumns: 80, columns: 80 }, untilShown);
    expect(pieces.join('')).toContain('page 1 of 2, 2 images');
    expect(pieces.at(-1)).toBe(ERASE);
    expect(pieces.slice(0, -1).every((piece) => piece.startsWith(ERASE))).toBe(true);
  });

  it('leaves its line to an error', async () => {
    const failing = () => ({ status: 500, json: {} });
    const pieces = await errorOutput(LINE, { errorColumns: 80 }, untilShown, failing);
    expect(pieces.at(-2)).toBe(ERASE);
    expect(pieces.at(-1)).toMatch(/^imgctl: GET .*: 500/);
  });

  it('leaves its line to a note, and to a warning in the middle', async () => {
    const line = `${LINE} -f name,like,%none% -f id,gt,99 --debug`;
    const pieces = await errorOutput(line, { errorColumns: 80 }, untilShown);
    const notes = pieces.flatMap((piece, index) => (piece.startsWith('imgctl: ') ? [index] : []));
    expect(pieces.at(-1)).toBe('imgctl: no images match\n');
    expect(notes.length).toBeGreaterThan(2);
    for (const index of notes.slice(1)) {
      expect(pieces[index - 1]).toSatisfy(
        (before: string) => before === ERASE || before.endsWith('\n'),
      );
    }
  });

  it.each<[string, string, FakeIoOptions]>([
    ['where stderr is no terminal', LINE, { columns: 80 }],
    ['with -q', `${LINE} -q`, { errorColumns: 80 }],
    ['where nothing may move', LINE, { errorColumns: 80, env: { TERM: 'dumb' } }],
    [
      'among rows that show while they come',
      `${LINE} -o ndjson`,
      { errorColumns: 80, columns: 80 },
    ],
  ])('never shows %s', async (_where, line, options) => {
    // Three times as long as a line that moves takes to show.
    expect(await errorOutput(line, options, () => wait(300))).toEqual([]);
  });
});
