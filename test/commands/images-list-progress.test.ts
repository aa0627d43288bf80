// images list on a terminal: the progress line.

import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { catalogueOf, testImages } from '../support/catalogue-page.ts';
import { type FakeIoOptions, fakeIo, runCli } from '../support/io.ts';
import type { Handler } from '../support/scripted-server.ts';
import { scriptedUser } from '../support/users.ts';

const LINE = 'images list --per-page 2 --retries 0';
const ERASE = '\u001b[0K';
const twoPages = catalogueOf(testImages(4));

/** Returns what is written to stderr while page 2 waits for `ready`. */
async function errorOutput(
  line: string,
  options: FakeIoOptions,
  ready: (stderr: () => string) => Promise<void>,
  pageTwo: Handler = twoPages,
  pageOne: Handler = twoPages,
): Promise<readonly string[]> {
  const { env } = await scriptedUser(async (request, index) => {
    if (request.url.searchParams.get('page') === '1') return pageOne(request, index);
    await ready(() => io.stderr.text);
    return pageTwo(request, index);
  });
  const io = fakeIo({ ...options, env: { ...env, ...options.env } });
  await runCli(line.split(' '), io);
  return io.stderr.pieces;
}

const untilShown = async (stderr: () => string): Promise<void> => {
  while (!stderr().includes('page 1 of 2')) await wait(5);
};

describe('the progress of images list', () => {
  it('shows pages and images, and disappears at the end', async () => {
    const pieces = await errorOutput(LINE, { errorColumns: 80, columns: 80 }, untilShown);
    expect(pieces.join('')).toContain('page 1 of 2, 2 images');
    expect(pieces.slice(-2)).toEqual([ERASE, '4 images\n']);
    expect(pieces.join('')).toMatch(/⠋ (?:page 1|reading the catalogue)/);
  });

  it('says that it reads the catalogue until the first page is there', async () => {
    const late: Handler = async (request, index) => {
      while (!stderr().includes('reading the catalogue')) await wait(5);
      return twoPages(request, index);
    };
    const { env } = await scriptedUser(late);
    const io = fakeIo({ errorColumns: 80, columns: 80, env });
    const stderr = () => io.stderr.text;
    expect(await runCli(LINE.split(' '), io)).toMatchObject({ exitCode: 0 });
  });

  it('counts only the pages that --limit needs', async () => {
    const line = `${LINE} --limit 3`;
    const known = async (stderr: () => string) => {
      while (!stderr().includes('page 1 of')) await wait(5);
    };
    const many = catalogueOf(testImages(40));
    const pieces = await errorOutput(line, { errorColumns: 80, columns: 80 }, known, many, many);
    expect(pieces.join('')).toContain('page 1 of 2, 2 images');
    expect(pieces.at(-1)).toBe('3 of 40 images (--limit)\n');
  });

  it('disappears before an error', async () => {
    const failing = () => ({ status: 500, json: {} });
    const pieces = await errorOutput(LINE, { errorColumns: 80, columns: 80 }, untilShown, failing);
    expect(pieces.at(-2)).toBe(ERASE);
    expect(pieces.at(-1)).toMatch(/^imgctl: GET .*: 500/);
  });

  it('disappears before notes and warnings', async () => {
    const line = `${LINE} -f name,like,%none% -f id,gt,99 --debug`;
    const pieces = await errorOutput(line, { errorColumns: 80, columns: 80 }, untilShown);
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
    ['if stderr is not a terminal', `${LINE} --json`, { columns: 80 }],
    ['if a pager reads the list', LINE, { errorColumns: 80 }],
    ['if a pager reads ndjson', `${LINE} -o ndjson`, { errorColumns: 80 }],
    ['with -q', `${LINE} -q`, { errorColumns: 80, columns: 80 }],
    ['with TERM=dumb', `${LINE} --json`, { errorColumns: 80, columns: 80, env: { TERM: 'dumb' } }],
    ['for ndjson on a terminal', `${LINE} -o ndjson`, { errorColumns: 80, columns: 80 }],
  ])('is not shown %s', async (_when, line, options) => {
    // Three times the delay of the progress line.
    expect(await errorOutput(line, options, () => wait(300))).toEqual([]);
  });
});
