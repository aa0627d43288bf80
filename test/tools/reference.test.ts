// docs/cli.md and the man page: up to date, complete, and shown as they are typed.

import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../support/io.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const MARKDOWN = readFileSync(path.join(ROOT, 'docs/cli.md'), 'utf8');
const HAS_GROFF = spawnSync('groff', ['--version']).status === 0;

const generate = (mode: string) =>
  execFileSync(process.execPath, ['tools/generate.mjs', mode], { cwd: ROOT, stdio: 'pipe' });

describe('docs/cli.md', () => {
  it('is up to date (npm run generate)', () => {
    expect(String(generate('--check'))).toBe('');
  });

  it('links only to its own headings', () => {
    const headings = [...MARKDOWN.matchAll(/^## (.+)$/gm)].map(([, title]) => title);
    const targets = [...MARKDOWN.matchAll(/\]\(#([^)]+)\)/g)].map(([, target]) => target);
    expect(targets.length).toBeGreaterThan(40);
    const anchors = headings.map((title) => title?.toLowerCase().replaceAll(' ', '-'));
    expect(targets.filter((target) => !anchors.includes(target))).toEqual([]);
  });
});

describe.skipIf(!HAS_GROFF)('the man page (needs groff)', () => {
  beforeAll(() => void generate('--man'));

  const groff = (width: string) => {
    const args = ['-ww', '-man', '-Tutf8', '-P-cbou', `-rLL=${width}`, 'dist/man/imgctl.1'];
    const { stdout, stderr } = spawnSync('groff', args, { cwd: ROOT, encoding: 'utf8' });
    expect(stderr).toBe('');
    return stdout;
  };

  it('shows every command, option, argument and example as it is typed', async () => {
    expect(groff('80n')).toContain('IMGCTL IMAGES LIST\n');
    const text = groff('500n');
    const { stdout } = await runCli(['commands', '--json']);
    for (const { command, options, arguments: names } of JSON.parse(stdout).commands) {
      expect(text).toContain(`\nIMGCTL ${command.toUpperCase()}\n`);
      for (const { short, name, value_name: value } of options) {
        const flags = short === undefined ? name : `${short}, ${name}`;
        expect(text).toContain(` ${flags}${value === undefined ? '' : ` <${value}>`}`);
      }
      for (const { name } of names) expect(text.replaceAll('\n', ' ')).toContain(` ${name} `);
    }
    const examples = [...MARKDOWN.matchAll(/^```sh\n(.*?)\n```$/gms)].flatMap(([, shell = '']) =>
      shell.split('\n'),
    );
    for (const line of examples) expect(text).toContain(` $ ${line}\n`);
  });
});
