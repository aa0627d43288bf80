// images list on a terminal: the table that fits, and the line below it.

import { describe, expect, it } from 'vitest';
import type { Image } from '../../src/api/types.ts';
import { catalogueOf, testImage } from '../support/catalogue-page.ts';
import { type FakeIoOptions, fakeIo, runCli } from '../support/io.ts';
import { configDirectory, scriptedUser } from '../support/users.ts';

/** Images whose names differ only in the last 12 characters. */
function similarImages(count: number): Image[] {
  return Array.from({ length: count }, (_, index) => {
    const build = `${20231100 + index}.ova`;
    const name = `ubuntu-22.04-server-cloudimg-amd64-${build}`;
    const folder = index % 2 === 0 ? 'ubuntu' : 'canonical';
    const updated_on = `2018-07-18 Wed 15:${10 + index}:49 UTC`;
    const image = { ...testImage(1001 + index), name, folder, updated_on };
    return { ...image, data_store: `images-0${index % 3}` };
  });
}

async function onScreen(
  columns: number,
  words = '',
  images: readonly Image[] = similarImages(30),
  options: FakeIoOptions & { settings?: Record<string, string> } = {},
) {
  const { settings = {}, ...io } = options;
  const changes = {
    IMGCTL_CONFIG_DIR: configDirectory({ concurrency: '1', ...settings }),
    TZ: 'UTC',
  };
  const { env } = await scriptedUser(catalogueOf(images), changes);
  const argv = `images list ${words}`.split(' ').filter(Boolean);
  return runCli(argv, { columns, ...io, env: { ...env, ...io.env } });
}

describe.each([40, 60, 80, 100, 160])('images list on %i columns', (width) => {
  it('shows every name differently, and whole ids, headers and times', async () => {
    const { stdout, exitCode } = await onScreen(width);
    const [header = '', ...rows] = stdout.replace(/\n$/, '').split('\n');
    expect(exitCode).toBe(0);
    expect(header.trim().split(/ +/)).toEqual(expect.arrayContaining(['id', 'name', 'updated_on']));
    expect(rows).toHaveLength(30);
    expect(new Set(rows.map((row) => row.split(/ +/)[1])).size).toBe(30);
    for (const [index, row] of rows.entries()) {
      expect(row).toMatch(new RegExp(`^${1001 + index} .* 2018-07-1\\d \\d\\d:\\d\\d$`));
    }
    expect(Math.max(...[header, ...rows].map((line) => line.length))).toBeLessThanOrEqual(width);
  });

  it('does so for a window that changes during the listing', async () => {
    const images = similarImages(4);
    const { env } = await scriptedUser((request, index) => {
      if (request.url.searchParams.get('page') === '2') io.stdout.columns = width;
      return catalogueOf(images)(request, index);
    });
    const io = fakeIo({ env, columns: 300 });
    await runCli(['images', 'list', '--per-page', '2'], io);
    const resized = io.stdout.text;
    expect(resized).toBe((await onScreen(width, '', images)).stdout);
  });
});

describe('images list on a terminal', () => {
  it('shows records below 40 columns', async () => {
    const { stdout, stderr } = await onScreen(39, '', similarImages(2));
    expect(stdout).toMatch(
      /^id {10}1001\nname {8}ubuntu-22\.04-server-cloudimg-amd64-20231100\.ova\nfolder {6}ubuntu\n/,
    );
    expect(stdout.split('\n\n')).toHaveLength(2);
    expect(stderr).toBe('2 images\n');
  });

  it.each([
    [80, '', '30 images, hidden: folder, data_store; --no-trunc shows all\n'],
    [100, '', '30 images\n'],
    [100, '--limit 1', '1 of 30 images (--limit)\n'],
    [100, '-f name,like,% -f id,gt,1 --limit 2', '2 images (--limit)\n'],
    [40, '--no-trunc', '30 images\n'],
    [100, '-q', ''],
    [100, '--json', ''],
    [100, '--urls', ''],
  ])('ends at %i columns with %j as options with %j', async (width, words, footer) => {
    expect((await onScreen(width, words)).stderr).toBe(footer);
  });

  it('paints the line below the table and names no count in a pipe', async () => {
    const { env } = await scriptedUser(catalogueOf(similarImages(1)));
    const io = { columns: 100, errorColumns: 100, color: true, env };
    expect((await runCli(['images', 'list'], io)).stderr).toBe('\u001b[2m1 image\u001b[22m\n');
    expect((await runCli(['images', 'list'], { env, errorColumns: 100 })).stderr).toBe('');
  });

  it.each(['list', 'latest --each', 'latest --explain'])(
    'is as whole with --no-trunc as in a pipe: images %s',
    async (command) => {
      const { env } = await scriptedUser(catalogueOf(similarImages(3)));
      const argv = ['images', ...command.split(' '), '--no-trunc'];
      const pipe = await runCli(argv, { env });
      expect(pipe.stdout).toContain('ubuntu-22.04');
      expect((await runCli(argv, { env, columns: 40 })).stdout).toBe(pipe.stdout);
    },
  );

  it('has frames with the setting table-style, in ASCII if the locale is', async () => {
    const settings = { 'table-style': 'box' };
    const { stdout } = await onScreen(80, '', undefined, { settings });
    expect(stdout.split('\n')[0]).toMatch(/^┌─+┬─+┬─+┐$/);
    expect(stdout.split('\n').every((line) => line.length <= 80)).toBe(true);
    const ascii = await onScreen(80, '', undefined, { settings, env: { LANG: 'C' } });
    expect(ascii.stdout).toMatch(/^[\n -~]+$/);
    const { env } = await scriptedUser(catalogueOf(similarImages(3)), {
      IMGCTL_CONFIG_DIR: configDirectory(settings),
    });
    expect((await runCli(['images', 'list'], { env })).stdout).not.toContain('│');
  });
});
