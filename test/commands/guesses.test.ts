// Hints for commands and options that other tools have.

import { describe, expect, it } from 'vitest';
import { ROOT } from '../../src/commands/command-table.ts';
import { GUESSED_COMMANDS } from '../../src/commands/guesses.ts';
import type { CommandDeclaration } from '../../src/declarations.ts';
import { failed, runCli } from '../support/io.ts';

describe('a command of another tool', () => {
  it.each([
    ['list', 'images list'],
    ['ls', 'images list'],
    ['search ubuntu', 'images list TEXT'],
    ['status', 'sync-status'],
    ['sync status', 'sync-status'],
    ['auth login', 'login'],
    ['auth status --json', 'whoami'],
    ['auth', 'login'],
    ['images search ubuntu', 'images list TEXT'],
    ['images show 1001', 'images get'],
    ['images ubuntu', 'images list TEXT, or imgctl images get ID'],
    ['my images', 'my-images'],
    ['setup', 'login'],
    ['sync keep.ova', 'push keep.ova'],
    ['sync --wait 10m', 'sync --wait-timeout 10m'],
    ['sync-status 1 --wait 10m', 'sync-status 1 --wait-timeout 10m'],
  ])('%s gets the command to use', async (line, command) => {
    const { stdout, stderr, exitCode } = await runCli(line.split(' '));
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 2 });
    expect(stderr).toContain(`use: imgctl ${command}${line.includes('json') ? '"' : '\n'}`);
  });

  it.each([
    ['upgrade', 'git pull && npm ci && npm run build'],
    ['update', 'git pull && npm ci && npm run build'],
    ['uninstall', 'run: npm uninstall --global imgctl'],
  ])('%s gets what to run instead', async (line, hint) => {
    expect(await runCli([line])).toEqual(failed(2, hint));
  });

  it('gets a command that exists', () => {
    for (const line of GUESSED_COMMANDS) {
      let command: CommandDeclaration = ROOT;
      for (const word of line.split(' ')) {
        const next = command.subcommands?.find(({ name }) => name === word);
        if (next) command = next;
        else if (word.startsWith('--')) {
          const flags = command.options?.map((option) => option.flags) ?? [];
          expect(
            [...flags, '--profile'].some((flag) => flag.startsWith(word)),
            line,
          ).toBe(true);
        } else expect(['TEXT', 'NAME', 'FILE']).toContain(word);
      }
      expect(command, line).not.toBe(ROOT);
    }
  });
});

describe('an option of another tool', () => {
  it.each([
    ['images list --all', 'every image is listed'],
    ['images list --format json', 'use -o FORMAT'],
    ['images list --jq .[]', 'pipe JSON to jq'],
    ['images list --insecure', 'imgctl config set ca-file FILE'],
    ['whoami -k', 'imgctl config set ca-file FILE'],
    ['images list --name ubuntu', 'imgctl images list TEXT'],
    ['login --password hunter2', 'use --password-stdin or IMGCTL_PASSWORD'],
    ['sync --follow', 'use --wait'],
    ['sync -w', 'use --wait'],
    ['whoami -v', 'use --debug'],
    ['images list --url x', 'use --base-url URL'],
    ['push x.ova --wait', 'push waits for the sync unless you use --no-wait'],
    ['push x.ova --overwrite', 'use --on-conflict replace'],
    ['push x.ova --to x', 'imgctl config set upload-url URL'],
  ])('%s gets what to use instead', async (line, hint) => {
    expect(await runCli(line.split(' '))).toEqual(failed(2, hint));
  });
});

describe('a query in the words of another tool', () => {
  it.each([
    ['-s', 'updated_on:desc', 'updated_on,desc'],
    ['-s', '-updated_on', 'updated_on,desc'],
    ['-s', '+name', 'name,asc'],
    ['-s', 'Name=ASC', 'name,asc'],
    ['-f', 'name=ubuntu', 'name,eq,ubuntu'],
    ['-f', 'name~ubuntu', 'name,like,%ubuntu%'],
    ['-f', 'id>=5', 'id,ge,5'],
    ['-f', 'folder: x', 'folder,eq,x'],
  ])('%s %s gets the spelling of imgctl', async (option, text, meant) => {
    const result = await runCli(['images', 'list', option, text]);
    expect(result).toEqual(failed(2, `hint: did you mean ${meant}?\n`));
  });
});
