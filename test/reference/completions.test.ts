// The completion scripts before any shell reads them: what the command tree turns into, and how texts are quoted.

import { Argument, Command } from 'commander';
import { beforeAll, describe, expect, it } from 'vitest';
import { shellQuote } from '../../src/output/index.ts';
import { bashScript } from '../../src/reference/completions/bash.ts';
import { fishScript, quoted as quotedInFish } from '../../src/reference/completions/fish.ts';
import {
  type CommandModel,
  type CompletionModel,
  completionModel,
} from '../../src/reference/completions/model.ts';
import {
  powershellScript,
  quoted as quotedInPowershell,
} from '../../src/reference/completions/powershell.ts';
import { valueCases } from '../../src/reference/completions/template.ts';
import { zshScript } from '../../src/reference/completions/zsh.ts';
import { ownProgram } from './tree.ts';

const SCRIPTS = [
  ['bash', bashScript],
  ['zsh', zshScript],
  ['fish', fishScript],
  ['powershell', powershellScript],
] as const;

/** A tree of a few commands with all that a tree can have. */
function smallTree(): Command {
  const root = new Command('imgctl').helpCommand(false).option('--profile <name>', "the user's");
  const group = root.command('profile').helpCommand(false).summary('profiles');
  group.command('use').alias('switch').summary('choose one').argument('<name>');
  root.command('spell', { hidden: true });
  root
    .command('images')
    .summary('$(touch x) `touch x` "quoted"')
    .option('-t, --time <style>')
    .option('--no-header', 'without')
    .addArgument(new Argument('<kind>').choices(['ova', 'ovf']))
    .argument('<file...>');
  return root;
}

describe('the model', () => {
  const { global, commands } = completionModel(smallTree());
  const find = (path: string) => commands.find(({ paths }) => paths.includes(path));

  it('has the options of the root apart, and every command by every name', () => {
    expect(global.flatMap(({ flags }) => flags)).toEqual(['--profile', '-h', '--help']);
    expect(commands.map(({ paths }) => paths)).toEqual([
      [''],
      ['profile'],
      ['profile use', 'profile switch'],
      ['images'],
    ]);
    expect(find('profile')?.subcommands).toEqual([
      { word: 'use', summary: 'choose one' },
      { word: 'switch', summary: 'choose one' },
    ]);
  });

  it('knows values by the names of options and arguments, and by their choices', () => {
    expect(global[0]).toMatchObject({ flags: ['--profile'], value: 'ask profiles' });
    expect(find('profile switch')).toMatchObject({
      arguments: ['ask profiles'],
      isVariadic: false,
    });
    expect(find('images')).toMatchObject({
      arguments: ['words ova ovf', 'files'],
      isVariadic: true,
      options: [
        { flags: ['-t', '--time'], value: 'words wire iso local age' },
        { flags: ['--no-header'], value: undefined },
        { flags: ['-h', '--help'] },
      ],
    });
  });
});

describe("imgctl's own tree", () => {
  let model: CompletionModel;
  const find = (path: string): CommandModel | undefined =>
    model.commands.find(({ paths }) => paths.includes(path));

  beforeAll(async () => {
    model = completionModel(await ownProgram());
  });

  it.each([
    ['images get', ['ask image-names']],
    ['sync-status', ['ask sync-ids']],
    ['images ls', ['none']],
    ['inspect', ['files']],
    ['validate', ['files']],
    ['config set', [expect.stringMatching(/^words base-url /), 'setting']],
    ['help', ['help filters output environment exit-codes']],
    ['completion', ['words bash zsh fish powershell']],
  ])('%s takes %j', (path, kinds) => {
    expect(find(path)?.arguments).toEqual(kinds);
  });

  it.each([
    ['*:--profile', 'ask profiles'],
    ['*:--output', 'words table json ndjson yaml csv tsv'],
    ['*:--color', 'words auto always never'],
    ['*:--base-url', 'none'],
    ['images ls:--time', 'words wire iso local age'],
    ['images list:-s', expect.stringMatching(/^steps id name .* : asc desc$/)],
    [
      'my-images:--filter',
      expect.stringMatching(/^steps id .* : eq, ne, lt, le, gt, ge, like, in,$/),
    ],
    ['images get:--columns', expect.stringMatching(/^list id name .* all$/)],
    ['emulator:--uploads', 'directories'],
    ['login:--username', 'none'],
  ])('%s takes %s', (text, kind) => {
    expect(valueCases(model).find(({ texts }) => texts.includes(text))?.kind).toEqual(kind);
  });

  it('is described in ASCII: PowerShell 5.1 reads other characters by the code page of the machine', () => {
    for (const [, script] of SCRIPTS) expect(script(model)).not.toMatch(/[^\n\x20-\x7e]/);
  });

  it('names no command that is not for people', () => {
    expect(find('')?.subcommands.map(({ word }) => word)).not.toContain('__complete');
    expect(find('__complete')).toBeUndefined();
  });
});

describe.each(SCRIPTS)('the script for %s', (_shell, script) => {
  const text = script(completionModel(smallTree()));

  it('has no place left to fill, and every word of the tree', () => {
    expect(text).not.toMatch(/^\s*@\w+@\s*$/m);
    for (const word of ['switch', '--no-header', 'words ova ovf']) expect(text).toContain(word);
    expect(text).not.toContain('spell');
  });
});

describe('texts in quotes', () => {
  it.each([
    ['plain-word_1.2', 'plain-word_1.2', "'plain-word_1.2'", "'plain-word_1.2'"],
    ['', "''", "''", "''"],
    ['two words', "'two words'", "'two words'", "'two words'"],
    ["the user's", "'the user'\\''s'", "'the user\\'s'", "'the user''s'"],
    ['$(touch x)', "'$(touch x)'", "'$(touch x)'", "'$(touch x)'"],
    ['`x` "y"', '\'`x` "y"\'', '\'`x` "y"\'', '\'`x` "y"\''],
    ['back\\slash', "'back\\slash'", "'back\\\\slash'", "'back\\slash'"],
    ['’s', "'’s'", "'’s'", "'’’s'"],
    ['-x*', "'-x*'", "'-x*'", "'-x*'"],
  ])('%s', (text, posix, fish, powershell) => {
    expect(shellQuote(text)).toBe(posix);
    expect(quotedInFish(text)).toBe(fish);
    expect(quotedInPowershell(text)).toBe(powershell);
  });
});
