// Man pages: complete, clean for groff, and what is copied from them is what can be typed.

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { FILES } from '../../src/reference/files.ts';
import { manPages } from '../../src/reference/man.ts';
import { literal, quoted, syntax, textLine } from '../../src/reference/roff.ts';
import { serve } from '../support/emulator.ts';
import { runCli, temporaryDirectory } from '../support/io.ts';
import { manualOf, ownManual, smallTree } from './tree.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

const groff = (text: string, ...options: string[]) =>
  spawnSync('groff', ['-ww', '-man', '-Tutf8', ...options], { input: text, encoding: 'utf8' });
const hasGroff = groff('').status === 0;

/** What a page shows: no page breaks, no bold, lines that are never filled. */
function shown(page: string): string {
  const { stdout, stderr } = groff(page, '-P-cbou', '-rLL=500n');
  expect(stderr).toBe('');
  return stdout;
}

const sectionsOf = (page: string) => [...page.matchAll(/^\.SH (.*)$/gm)].map((match) => match[1]);

describe('roff', () => {
  it.each([
    ['plain', 'plain'],
    ['.dot', '\\&.dot'],
    ["'quote'", '\\(aqquote\\(aq'],
    ['a\\b --c ^ ~ `', 'a\\(rsb \\-\\-c \\(ha \\(ti \\(ga'],
    ['é 🚀', '\\[u00E9] \\[u1F680]'],
  ])('text %j', (text, expected) => {
    expect(textLine(text)).toBe(expected);
  });

  it.each([
    ['-f, --filter <field,op,value>', '\\fB\\-f\\fR, \\fB\\-\\-filter\\fR \\fIfield,op,value\\fR'],
    ['--no-header', '\\fB\\-\\-no\\-header\\fR'],
    ['[options] <id|name...>', '[\\fIoptions\\fR] \\fIid|name...\\fR'],
    ['--color [when]', '\\fB\\-\\-color\\fR [\\fIwhen\\fR]'],
  ])('syntax %j', (text, expected) => {
    expect(syntax(text)).toBe(expected);
  });

  it('a macro takes an argument with quotes whole', () => {
    expect(quoted('a "b" c')).toBe('"a \\(dqb\\(dq c"');
  });

  it.skipIf(!hasGroff)('any line shows as it was written (skipped without groff)', () => {
    const line = fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 60 });
    const visible = line.filter((text) => /^\S.*\S$/.test(text));
    const lines = fc.sample(visible, { numRuns: 300, seed: 1 });
    const page = `.TH A 1 "" "" ""\n.SH EXAMPLES\n${literal(lines)}\n`;
    const rows = shown(page)
      .split('\n')
      .map((row) => row.trim());
    expect(rows).toEqual(expect.arrayContaining(lines));
  });
});

describe('the pages of a small tree', () => {
  const pages = manPages(manualOf(smallTree()), '1.2.3');
  const list = pages.get('man/imgctl-list.1') ?? '';

  it('are one for each command that help shows', () => {
    expect([...pages.keys()]).toEqual(['man/imgctl.1', 'man/imgctl-list.1', 'man/imgctl-drop.1']);
    expect(pages.get('man/imgctl.1')).not.toContain('secret');
  });

  it('have name, version and every section', () => {
    expect(list).toContain('.TH "IMGCTL\\-LIST" 1 "" "imgctl 1.2.3" "User Commands"\n');
    expect(list).toContain('\nimgctl\\-list \\- list *all* of it\n');
    const shared = ['NAME', 'SYNOPSIS', 'DESCRIPTION', 'OPTIONS', 'EXAMPLES'];
    expect(sectionsOf(list)).toEqual([
      ...shared,
      'EXIT STATUS',
      'ENVIRONMENT',
      'FILES',
      'SEE ALSO',
    ]);
  });

  it.skipIf(!hasGroff)('show what the command tree says (skipped without groff)', () => {
    const text = shown(list);
    expect(text).toMatch(/^ +imgctl list \[options\] \[word\.\.\.\]\n +imgctl ls \[options\]/m);
    expect(text).toMatch(/^ +\.dot first, back\\slash and <tag>\.$/m);
    expect(text).toMatch(/^ +word +a user's word$/m);
    expect(text).toMatch(/^ +-a, --all a\|b\n +one of a\|b_c_$/m);
    expect(text).toMatch(/^ +\$ imgctl list 'it''s' \| tee out$/m);
    expect(text).toMatch(/^SEE ALSO\n +imgctl\(1\), imgctl-drop\(1\)$/m);
  });
});

describe('the pages of imgctl', async () => {
  const manual = await ownManual();
  const pages = manPages(manual, manifest.version);

  it('have all sections of their kind', () => {
    const sections = sectionsOf(pages.get('man/imgctl.1') ?? '');
    expect(sections).toContain('GLOBAL OPTIONS');
    expect(sections).toEqual(
      expect.arrayContaining(['COMMANDS', 'EXAMPLES', 'EXIT STATUS', 'ENVIRONMENT', 'FILES']),
    );
    for (const topic of ['filters', 'output']) {
      expect(sectionsOf(pages.get(`man/imgctl-${topic}.7`) ?? '')).toContain('DESCRIPTION');
    }
  });

  it('refer to pages that there are', () => {
    for (const page of pages.values()) {
      const [, references = ''] = page.split('.SH SEE ALSO\n');
      const names = [...references.matchAll(/^\.BR (\S+) \((\d)\)/gm)];
      expect(names.length).toBeGreaterThan(0);
      for (const [, name = '', section] of names) {
        expect([...pages.keys()]).toContain(`man/${name.replaceAll('\\-', '-')}.${section}`);
      }
    }
  });

  it('are named in package.json, each of them', () => {
    const present = readdirSync(path.join(ROOT, 'man')).map((name) => `man/${name}`);
    expect([...manifest.man].sort()).toEqual(present.sort());
  });

  it.skipIf(!hasGroff)(
    'show every option and example as it is typed (without groff: skipped)',
    () => {
      for (const { words, options, examples } of manual.commands) {
        const text = shown(pages.get(`man/${words.join('-')}.1`) ?? '');
        for (const { term } of options) expect(text).toContain(` ${term.replaceAll(/[<>]/g, '')}`);
        for (const line of examples) expect(text).toContain(` ${line}\n`);
      }
    },
  );

  it.skipIf(!hasGroff)(
    'are clean on a terminal of 80 columns, too (without groff: skipped)',
    () => {
      const { stderr, status } = groff([...pages.values()].join(''), '-z', '-rLL=80n');
      expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
    },
  );
});

it('the files that pages name are those that imgctl keeps', async () => {
  const { baseUrl } = await serve({ images: 1, syncDelay: 0 });
  const HOME = temporaryDirectory();
  const env = { HOME, IMGCTL_PASSWORD: 'demo' };
  const login = ['login', '--base-url', baseUrl, '--username', 'demo'];
  for (const argv of [login, ['sync'], ['images', 'list']]) {
    expect(await runCli(argv, { env })).toMatchObject({ exitCode: 0 });
  }
  const missing = FILES.filter(({ term }) => !existsSync(term.replace('~', HOME)));
  expect(missing).toEqual([]);
});
