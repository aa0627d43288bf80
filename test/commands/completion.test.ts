// imgctl completion: the script of each shell, and errors for other names.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { COMPLETION_FILES } from '../../src/commands/completion.ts';
import { failed, runCli } from '../support/io.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

it.each(Object.entries(COMPLETION_FILES))('completion %s > prints %s', async (shell, file) => {
  const script = readFileSync(path.join(ROOT, file), 'utf8');
  expect(await runCli(['completion', shell])).toEqual({ stdout: script, stderr: '', exitCode: 0 });
});

it('completion > ignores the case of the shell', async () => {
  expect(await runCli(['completion', 'Fish'])).toEqual(await runCli(['completion', 'fish']));
});

it.each([
  ['bsh', 'did you mean bash? '],
  ['pwsh', ''],
  ['tcsh', ''],
  ['constructor', ''],
  ['', ''],
])('completion %j > is a usage error', async (text, suggestion) => {
  const hint = `hint: ${suggestion}valid: bash, zsh, fish, powershell\n`;
  expect(await runCli(['completion', text])).toEqual(failed(2, hint));
});

it('completion --help > shows the commands that install it for each shell', async () => {
  const { stdout } = await runCli(['completion', '--help']);
  for (const shell of Object.keys(COMPLETION_FILES)) {
    expect(stdout).toMatch(new RegExp(`^ {2}\\$ .*imgctl completion ${shell}.* >>? `, 'm'));
  }
});
