// What the command table writes: the man page is complete, and shown as it is typed; docs/cli.md is up to date.

import { execFileSync, spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { leavesOf } from '../support/commands.ts';
import { codeBlocks, ROOT, readPage } from '../support/documents.ts';
import { missing, skipped } from '../support/requirements.ts';

const generate = (mode: string) =>
  execFileSync(process.execPath, ['tools/generate.mjs', mode], { cwd: ROOT, stdio: 'pipe' });

it('docs/cli.md is what `npm run generate` writes', () => {
  generate('--check');
});

const NO_GROFF = skipped(missing('groff'));

const title = `the man page shows every command, option, argument and example${NO_GROFF}`;

it.skipIf(NO_GROFF)(title, async () => {
  generate('--man');
  const args = ['-ww', '-man', '-Tutf8', '-P-cbou', '-rLL=500n', 'dist/man/imgctl.1'];
  const { stdout: text, stderr } = spawnSync('groff', args, { cwd: ROOT, encoding: 'utf8' });
  expect(stderr).toBe('');
  for (const [command, { options = [], arguments: names = [] }] of leavesOf()) {
    expect(text).toContain(`\nIMGCTL ${command.toUpperCase()}\n`);
    for (const { flags } of options) expect(text).toContain(` ${flags}`);
    for (const { name } of names) expect(text.replaceAll('\n', ' ')).toContain(` ${name} `);
  }
  for (const topic of ['ENVIRONMENT', 'EXIT-CODES'])
    expect(text).toContain(`\nIMGCTL HELP ${topic}\n`);
  const examples = codeBlocks(readPage('docs/cli.md'), 'sh');
  for (const line of examples.join('').trim().split('\n')) {
    expect(text).toContain(` $ ${line}\n`);
  }
});
