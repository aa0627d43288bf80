// What was typed: options, values and arguments are told apart, and dashes and quotes of typesetters are refused.

import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { longFlag } from '../../src/cli/command-types.ts';
import { CommandTree } from '../../src/cli/commander-tree.ts';
import { readTyped } from '../../src/cli/typed.ts';
import { COMMANDS } from '../../src/commands/index.ts';
import { failed } from '../support/io.ts';
import { localUser } from '../support/users.ts';

it.each([
  ['images list a b', ['a', 'b'], []],
  ['--profile p images list -n 5 a', ['a'], ['--profile=p', '--limit=5']],
  [
    'images list -qn5 a -fx -s id,asc -- -b',
    ['a', '-b'],
    ['--quiet', '--limit=5', '--filter=x', '--sort=id,asc'],
  ],
  ['images list --filter -x --json', [], ['--filter=-x', '--json']],
  ['images get -1e+3 -1e-3 -.5', ['-1e+3', '-1e-3', '-.5'], []],
  ['images lock add web ubuntu --file f', ['web', 'ubuntu'], ['--file=f']],
  ['config set password-command -x', ['password-command'], []],
  ['images list --no-header -zx a', ['a'], ['--no-header']],
  ['images list --profile -q a -s -h', ['a'], ['--profile=-q', '--sort=-h']],
  ['-- images list -q', ['-q'], []],
])('%s has the arguments %j and the options %j', (line, args, options) => {
  const typed = readTyped(COMMANDS, line.split(' '));
  const flags: string[] = [];
  for (const { kind, text, option } of typed.words) {
    if (kind === 'option' && option) flags.push(longFlag(option));
    if (kind === 'value') flags.push(`${flags.pop()}=${text}`);
  }
  expect({ args: typed.args, flags }).toEqual({ args, flags: options });
  const parsed = new CommandTree(COMMANDS, {}).parse(line.split(' '));
  const seen = parsed.kind === 'run' ? parsed.args.flat().filter((arg) => arg !== undefined) : args;
  expect(seen, 'as commander reads it').toEqual(args);
});

it.each([
  ['images list -f --color=never web', "option '--filter' needs a value"],
  ['images list -n -q', "option '--limit' needs a value"],
  ['images list -f -- --json', "option '--filter' needs a value"],
  ['images list -n -ocsv 5', "option '--limit' needs a value"],
  ['images list -f -qx web', "option '--filter' needs a value"],
  ['images list --bogus -n -x', "unknown option '--bogus'"],
  ['images list --json=name id', "option '--json' takes no value"],
  [`images list --${'a'.repeat(5_000)}`, `unknown option '--${'a'.repeat(57)}…'`],
])('imgctl %s is refused: %s', async (line, message) => {
  expect(await localUser().imgctl(line)).toEqual(failed(2, `imgctl: ${message}\n`));
});

/** Commands that take an argument where X is. */
const LINES = ['images list X', 'images lock add web X', 'X'];

/** A user without a service, whose folder stays as it is. */
function typist() {
  const { imgctl, directory } = localUser();
  return async (line: string, word: string) => {
    const argv = line.split(' ').map((each) => (each === 'X' ? word : each));
    const result = await imgctl(argv);
    expect(readdirSync(directory)).toEqual([]);
    return result;
  };
}

describe.each(LINES)('imgctl %s refuses', (line) => {
  it.each(['\u2013json', '\u201cubuntu'])('the argument %s', async (word) => {
    expect(await typist()(line, word)).toEqual(failed(2, 'a typeset '));
  });

  it('none of them inside a word, and no file of that name', async () => {
    const { imgctl, directory } = localUser();
    for (const word of ['a\u2013b', 'it\u2019s', '\u2013x.ova', '\u201cx.ova']) {
      writeFileSync(path.join(directory, word), '');
      const argv = line.split(' ').map((each) => (each === 'X' ? word : each));
      expect((await imgctl(argv)).stderr).not.toContain('typeset');
    }
  });
});

it.each([
  ['images list --filter=name=\u201cx', 2],
  ['images list -f name~\u2018x', 2],
  ['images list -f name,like,\u201c%x%\u201d', 2],
  ['images lock add web -f \u2013id=3', 2],
  ['--json images list \u2013n', 2],
])('%s is refused before a request', async (line, exitCode) => {
  const result = await localUser().imgctl(line);
  expect(result).toMatchObject({ stdout: '', exitCode });
  expect(result.stderr).toContain('typeset');
});

it.each([
  'images list --sort \u2013id',
  'images list --profile=\u201cx',
  'login --password-command \u201cx -u a --base-url images.invalid',
  'config set password-command -- \u201cx',
  'images list -- \u2013x',
  '__complete -- images list \u2013x',
])('%s is not refused for its dash or quote', async (line) => {
  const { stderr } = await localUser().imgctl(
    `IMGCTL_RETRIES=0 IMGCTL_BASE_URL=http://127.0.0.1:9 ${line}`,
  );
  expect(stderr).not.toContain('typeset');
});

it('fields after --json, and words with a dash, are refused even if a file has that name', async () => {
  const { imgctl, directory } = localUser();
  for (const word of ['public', '-9']) writeFileSync(path.join(directory, word), '');
  expect(await imgctl('images list --json public')).toEqual(
    failed(2, '"--json takes no value","hint":"choose fields with: -c public"'),
  );
  expect(await imgctl('images list ubuntu -9')).toEqual(failed(2, 'got -9)'));
  expect(await imgctl('images get -9abc')).toEqual(failed(2, "unknown option '-9'\n"));
  expect(await imgctl('config get -9')).toEqual(failed(2, "unknown setting '-9'"));
  const { stderr } = await imgctl('images list -9abc');
  expect(stderr).toBe(
    "imgctl: a word must not begin with a dash (got -9…)\nhint: to leave out names that contain it: -f 'name!~WORD'\n",
  );
});

it('--json before a command that is named as one of its fields is no list of fields', async () => {
  const { imgctl } = localUser();
  const result = await imgctl('--json version');
  expect(result).toMatchObject({ stderr: '', exitCode: 0 });
  expect(await imgctl('images --json lock list')).toEqual(await imgctl('--json images lock list'));
  expect(await imgctl('version --json version')).toMatchObject({ stdout: '', exitCode: 2 });
});
