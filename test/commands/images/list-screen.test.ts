// images list on a terminal: records, the line below the table and the progress.

import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { catalogueOf, testImages } from '../../support/catalogue-page.ts';
import { type FakeIoOptions, fakeIo, runCli } from '../../support/io.ts';
import { configDirectory, scriptedUser } from '../../support/users.ts';

/** Runs `images ...` on a terminal of this width; a width of 0 means a pipe. */
async function onScreen(columns: number, line: string, settings = {}, io: FakeIoOptions = {}) {
  const changes = { IMGCTL_CONFIG_DIR: configDirectory({ concurrency: '1', ...settings }) };
  const { env } = await scriptedUser(catalogueOf(testImages(30)), changes);
  const terminal = columns ? { columns } : {};
  const argv = ['images', ...line.split(' ')];
  return runCli(argv, { ...terminal, ...io, env: { ...env, ...io.env } });
}

describe('images list on a terminal', () => {
  it('shows records below 40 columns', async () => {
    const { stdout, stderr } = await onScreen(39, 'list --limit 2');
    expect(stdout).toMatch(/^id {10}30\nname {8}image-0030\.ova\nfolder {6}linux\n/);
    expect(stdout.split('\n\n')).toHaveLength(2);
    expect(stderr).toBe('2 of 30 images (--limit)\n');
  });

  it.each([
    [40, '', '30 images; hidden: folder (--no-trunc)\n'],
    [100, '', '30 images\n'],
    [100, '--limit 30', '30 images\n'],
    [100, '--limit 1', '1 of 30 images (--limit)\n'],
    [100, '-f name,like,% -f id,gt,1 --limit 2', '2 of 29 images (--limit)\n'],
    [100, '-f id,gt,1 --limit 2 --per-page 5', '2 images (--limit)\n'],
    [40, '--no-trunc', '30 images\n'],
    [100, '-q', ''],
    [100, '--json', ''],
    [100, '--urls', ''],
  ])('ends at %i columns with %j as options with %j', async (width, options, footer) => {
    const { stderr } = await onScreen(width, `list ${options}`.trim());
    expect(stderr).toBe(footer);
  });

  it('keeps the folder if two images have one name', async () => {
    const twins = testImages(2).map((image, index) => {
      return { ...image, name: 'ubuntu-22.04-server.ova', folder: index === 0 ? 'linux' : 'old' };
    });
    const { imgctl } = await scriptedUser(catalogueOf(twins));
    const { stdout } = await imgctl('images list', { columns: 50 });
    expect(stdout).toMatch(/ old\n.* linux\n/);
  });

  it('shows the whole table with --no-trunc, as a pipe does without a footer', async () => {
    const pipe = await onScreen(0, 'list --no-trunc', {}, { errorColumns: 100 });
    expect(pipe).toMatchObject({ stdout: expect.stringContaining('0030.ova'), stderr: '' });
    expect((await onScreen(40, 'list --no-trunc')).stdout).toBe(pipe.stdout);
  });
});

describe('the progress of images list', () => {
  const TERMINAL = { errorColumns: 80, columns: 80 };

  /** Returns what `images list` writes to stderr if the second page takes longer than the delay of the progress. */
  async function errorOutput(line: string, options: FakeIoOptions) {
    vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'clearTimeout', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const { env } = await scriptedUser(async (request, index) => {
      if (request.url.searchParams.has('filter')) {
        await vi.advanceTimersByTimeAsync(100);
        // What the spinner loads.
        for (const name of ['ora', '../../../src/output/width.ts']) await import(name);
        for (let turns = 0; turns < 5; turns += 1) await new Promise(setImmediate);
      }
      return catalogueOf(testImages(40))(request, index);
    });
    const io = fakeIo({ ...options, env });
    await runCli(`images list --per-page 2 --limit 3 ${line}`.trim().split(' '), io);
    return io.stderr;
  }

  it('shows the pages that --limit needs, and disappears at the end', async () => {
    const { written, text } = await errorOutput('', TERMINAL);
    expect(written).toContain('read 2 of 3 images');
    expect(text).toBe('3 of 40 images (--limit)\n');
  });

  it.each<[string, string, FakeIoOptions]>([
    ['if a pager reads the list', '', { errorColumns: 80 }],
    ['if a pager reads ndjson', '-o ndjson', { errorColumns: 80 }],
    ['for ndjson on a terminal', '-o ndjson', TERMINAL],
  ])('is not shown %s', async (_when, line, options) => {
    expect((await errorOutput(line, options)).written).toBe('');
  });
});
