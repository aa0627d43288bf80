// imgctl completion: the script of each shell, errors for other names, and how shells parse and quote.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import {
  parseBash,
  quoteBash,
  quotePowershell,
  replyBash,
} from '../../src/commands/complete/shells.ts';
import { COMPLETION_FILES } from '../../src/commands/completion.ts';
import { failed, runCli } from '../support/io.ts';

const BREAKS = ' \t\n"\'@><=;|&(:';
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
  ['pwsh', 'did you mean powershell? '],
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

it.each([
  ['imgctl images ', { words: ['images'], current: '', settled: '' }],
  ['imgctl  a\\ b "c\'d\\e\\$" \'f\\', { words: ['a b', "c'd\\e$"], current: 'f\\', quote: "'" }],
  ['imgctl --output=a:b', { current: '--output=a:b', settled: '--output=a:' }],
  ['imgctl a\\=b', { current: 'a=b', settled: '' }],
  ['imgctl a"b c', { current: 'ab c', quote: '"', before: 'a' }],
])('bash completion parses the line %j', (line, expected) => {
  expect(parseBash(line, BREAKS)).toMatchObject(expected);
});

it.each([
  ['imgctl x', 'x y', 'x\\ y'],
  ['imgctl --output=', '--output=json', 'json'],
  ["imgctl 'x", "x'y", "x'\\''y"],
  ['imgctl "x', 'x$y`"', 'x\\$y\\`\\""'],
  ['imgctl "x', 'x!', undefined],
  ["imgctl 'x", 'x\ny', undefined],
  ['imgctl a"x', 'axy', 'xy'],
])('after %j bash completion inserts %j as %j', (line, text, expected) => {
  expect(replyBash(text, parseBash(line, BREAKS))).toBe(expected);
});

it.each([
  ['plain-word_1.2', 'plain-word_1.2', 'plain-word_1.2'],
  ["the user's", "the\\ user\\'s", "'the user''s'"],
  ['$(touch x)', '\\$\\(touch\\ x\\)', "'$(touch x)'"],
  ['ü~*', 'ü\\~\\*', "'ü~*'"],
  ['’s', '’s', "'’’s'"],
  ['-x', '-x', "'-x'"],
  ['a\n\u009b`b', "$'a\\012\\302\\233`b'", '"a$([char]10)$([char]155)``b"'],
])('completion quotes %j for bash and PowerShell', (text, bash, powershell) => {
  expect(quoteBash(text)).toBe(bash);
  expect(quotePowershell(text)).toBe(powershell);
});
