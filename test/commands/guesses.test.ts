// Hints for commands and options that other tools have.

import { describe, expect, it } from 'vitest';
import { failed, runCli } from '../support/io.ts';

describe('a command of another tool', () => {
  it.each([
    ['list', 'images list'],
    ['ls', 'images list'],
    ['lst', 'images list'],
    ['search ubuntu', 'images list TEXT'],
    ['status', 'sync-status'],
    ['upload x.ova', 'push FILE'],
    ['pin', 'images lock'],
    ['auth login', 'login'],
    ['images search ubuntu', 'images list TEXT'],
    ['images diff', 'images changes'],
  ])('%s gets the command to use, which exists', async (line, command) => {
    expect(await runCli(line.split(' '))).toEqual(failed(2, `hint: use: imgctl ${command}\n`));
    const words = command.split(' ').filter((word) => !/^[A-Z]+$/.test(word));
    expect(await runCli([...words, '--help'])).toMatchObject({ exitCode: 0 });
  });

  it('images delete gets how images disappear', async () => {
    const hint = 'hint: images disappear when their upload is removed and synced\n';
    expect(await runCli(['images', 'delete', '1003'])).toEqual(failed(2, hint));
  });

  it.each(['pull', 'deploy', 'auth status', 'diff', 'images ubuntu', 'images pin', 'constructor'])(
    '%s gets no guess, but the help',
    async (line) => {
      expect(await runCli(line.split(' '))).toEqual(failed(2, /\nhint: see: imgctl .*--help\n$/));
    },
  );
});

describe('an option of another tool', () => {
  it.each([
    ['images list --all', 'every image is listed'],
    ['my-images --format json', 'use -o FORMAT'],
    ['images list --jq .[]', 'pipe JSON to jq'],
    ['whoami --insecure', 'imgctl config set ca-file FILE'],
    ['images list --name ubuntu', 'imgctl images list TEXT'],
    ['images list --folder ubuntu', 'use -f folder,eq,NAME'],
    ['images list --mine', 'use: imgctl my-images'],
    ['sync --no-color', 'use --color never'],
    ['login --password hunter2', 'use --password-stdin or IMGCTL_PASSWORD'],
  ])('%s gets what to use instead', async (line, hint) => {
    expect(await runCli(line.split(' '))).toEqual(failed(2, hint));
  });

  it.each(['push x.ova --all', 'validate x.ova --folder x', 'login --mine', 'images list --wide'])(
    '%s gets no guess, but the help',
    async (line) => {
      expect(await runCli(line.split(' '))).toEqual(failed(2, /\nhint: see: imgctl .*--help\n$/));
    },
  );
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
