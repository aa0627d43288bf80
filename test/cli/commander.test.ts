// The messages of commander that src/cli/usage-error.ts reads: an upgrade that changes one must not pass unseen.

import { Command, CommanderError, Option } from 'commander';
import { expect, it } from 'vitest';

/** Returns the code of the error and the first line of its message. */
function errorOf(words: readonly string[]) {
  const command = new Command('demo')
    .exitOverride()
    .configureOutput({ writeErr: () => {}, outputError: () => {} })
    .argument('<file>')
    .option('-n, --limit <n>')
    .option('--meta')
    .addOption(new Option('--get <field>').conflicts('meta'))
    .action(() => {});
  try {
    command.parse(words, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) return [error.code, error.message.split('\n')[0]];
  }
  return [];
}

it.each([
  ['--fliter', 'unknownOption', "unknown option '--fliter'"],
  ['-x', 'unknownOption', "unknown option '-x'"],
  ['--meta=1 a', 'unknownOption', "unknown option '--meta=1'"],
  ['-n', 'optionMissingArgument', "option '-n, --limit <n>' argument missing"],
  ['--get', 'optionMissingArgument', "option '--get <field>' argument missing"],
  [
    '--get a --meta a',
    'conflictingOption',
    "option '--get <field>' cannot be used with option '--meta'",
  ],
  ['', 'missingArgument', "missing required argument 'file'"],
  ['a b', 'excessArguments', 'too many arguments. Expected 1 argument but got 2.'],
])('commander says of "%s" what usage errors read', (line, code, message) => {
  expect(errorOf(line.split(' ').filter(Boolean))).toEqual([
    `commander.${code}`,
    `error: ${message}`,
  ]);
});

it('commander says that a word is no command as usage errors read it', () => {
  const group = new Command('demo').exitOverride().configureOutput({ writeErr: () => {} });
  group.command('list');
  expect(() => group.parse(['lst'], { from: 'user' })).toThrow(
    expect.objectContaining({ code: 'commander.unknownCommand' }),
  );
});
