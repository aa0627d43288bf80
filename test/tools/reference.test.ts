// Man pages and docs/cli.md: up to date, complete, clean for groff, and shown as they are typed.

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ROOT as TABLE } from '../../src/commands/command-table.ts';
import { GLOBAL_OPTIONS } from '../../src/commands/table/global-options.ts';
import type { CommandDeclaration } from '../../src/declarations.ts';
import { serve } from '../support/emulator.ts';
import { runCli, temporaryDirectory } from '../support/io.ts';
import { writeOva } from '../support/uploads.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const read = (name: string) => readFileSync(path.join(ROOT, name), 'utf8');
const NAMES = readdirSync(path.join(ROOT, 'man'));
const MARKDOWN = read('docs/cli.md');

const groff = (text: string, ...options: string[]) =>
  spawnSync('groff', ['-ww', '-man', '-Tutf8', ...options], { input: text, encoding: 'utf8' });
const HAS_GROFF = groff('').status === 0;

/** What a page shows: no page breaks, no bold, lines that are never filled. */
function shown(page: string): string {
  const { stdout, stderr } = groff(page, '-P-cbou', '-rLL=500n');
  expect(stderr).toBe('');
  return stdout;
}

it('node tools/generate.mjs --check > finds every page up to date', () => {
  const { stderr, status } = spawnSync(process.execPath, ['tools/generate.mjs', '--check'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
});

describe('man pages', () => {
  it('refer only to pages that exist', () => {
    for (const name of NAMES) {
      const [, references = ''] = read(`man/${name}`).split('.SH SEE ALSO\n');
      const pages = [...references.matchAll(/^\.BR (\S+) \((\d)\)/gm)];
      expect(pages.length).toBeGreaterThan(0);
      for (const [, page = '', section] of pages) {
        expect(NAMES).toContain(`${page.replaceAll('\\-', '-')}.${section}`);
      }
    }
  });

  it.skipIf(!HAS_GROFF)('show every option and example as it is typed (needs groff)', () => {
    const check = (
      { name, options = [], examples, subcommands = [] }: CommandDeclaration,
      parent = '',
    ) => {
      const title = `${parent}${name}`;
      const text = shown(read(`man/${title}.1`));
      for (const { flags } of options) expect(text).toContain(` ${flags.replaceAll(/[<>]/g, '')}`);
      for (const line of examples) expect(text).toContain(` $ ${line}\n`);
      for (const each of subcommands) if (!each.hidden) check(each, `${title}-`);
    };
    check({ ...TABLE, options: GLOBAL_OPTIONS });
  });

  it.skipIf(!HAS_GROFF)('are clean on a terminal of 80 columns (needs groff)', () => {
    const text = NAMES.map((name) => read(`man/${name}`)).join('');
    const { stderr, status } = groff(text, '-z', '-rLL=80n');
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
  });
});

describe('docs/cli.md', () => {
  it('links only to its own headings', () => {
    const anchors = [...MARKDOWN.matchAll(/^## (.+)$/gm)].map(([, title = '']) =>
      title.toLowerCase().replaceAll(' ', '-'),
    );
    const targets = [...MARKDOWN.matchAll(/\]\(#([^)]+)\)/g)].map((match) => match[1]);
    expect(targets.length).toBeGreaterThan(40);
    expect(targets.filter((target) => !anchors.includes(target ?? ''))).toEqual([]);
    expect(new Set(anchors).size).toBe(anchors.length);
  });

  it('escapes bars in tables', () => {
    expect(MARKDOWN).toContain('| `id\\|name\\|path\\|label\\|url` | images to show |');
  });

  it('names the files that imgctl writes', async () => {
    const { baseUrl } = await serve({ images: 1, syncDelay: 0 });
    const HOME = temporaryDirectory();
    const work = temporaryDirectory();
    const env = { HOME, IMGCTL_PASSWORD: 'demo' };
    const login = ['login', '--base-url', baseUrl, '--username', 'demo'];
    const wrong = { HOME, IMGCTL_PASSWORD: 'wrong' };
    expect(await runCli(login, { env: wrong })).toMatchObject({ exitCode: 4 });
    const storage = ['config', 'set', 'upload-url', pathToFileURL(work).href];
    const push = ['push', writeOva(temporaryDirectory(), 'web'), '--no-sync'];
    const lists = [
      ['images', 'list'],
      ['images', 'changes'],
    ];
    for (const argv of [login, ['sync'], storage, push, ...lists]) {
      expect(await runCli(argv, { env })).toMatchObject({ exitCode: 0 });
    }
    const files = [...MARKDOWN.matchAll(/^\| `(~[^`]+)` \|/gm)].map(([, file = '']) => file);
    // The launcher makes one more: test/e2e/compile-cache.test.ts.
    expect(files).toContain('~/.cache/imgctl/compiled/');
    const ours = files.filter((file) => !file.includes('compiled'));
    expect(ours.length).toBeGreaterThan(3);
    const exists = (file: string) => {
      const { dir, base } = path.parse(file.replace('~', HOME));
      const [start = '', end = ''] = base.split('*');
      return readdirSync(dir).some((name) => name.startsWith(start) && name.endsWith(end));
    };
    expect(ours.filter((file) => !exists(file))).toEqual([]);
  });
});
