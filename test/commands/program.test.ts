// The command line itself: global options, suggestions, and which words errors repeat.

import { describe, expect, it } from 'vitest';
import { failed, runCli } from '../support/io.ts';

const SECRET = 'hunter2';

describe('global options', () => {
  it.each([
    [['--json', 'whoami']],
    [['whoami', '--json']],
    [['whoami', '-o', 'json']],
    [['-o', 'json', 'whoami']],
    [['config', 'list', '--profile', '../x', '--json']],
    [['config', '--json', 'list', '--profile', '../x']],
  ])('%j are accepted before and after the command', async (argv) => {
    const { stderr, exitCode } = await runCli(argv);
    expect(exitCode).toBe(2);
    expect(JSON.parse(stderr)).toMatchObject({ error: { exitCode: 2 } });
  });

  it.each([
    [['images', 'list', '--json', '-o', 'yaml']],
    [['--json', 'images', 'list', '--output', 'yaml']],
    [['-o', 'yaml', 'images', 'list', '--json']],
  ])('%j: --json is rejected with another format', async (argv) => {
    const message = '--json and --output yaml cannot be used together';
    expect(await runCli(argv)).toEqual(failed(2, message));
  });

  it('--json is accepted with -o json, and overrides the format of the environment', async () => {
    const env = { IMGCTL_OUTPUT: 'yaml' };
    const { stdout } = await runCli(['config', 'list', '--json', '-o', 'json'], { env });
    expect(JSON.parse(stdout)).toContainEqual(
      expect.objectContaining({ key: 'output', value: 'json', origin: '--output' }),
    );
  });

  it.each([
    ['-o', 'jsonn', 'did you mean json?'],
    ['--timeout', 'soon', '500ms, 30s, 5m, 1h, 2d or 3w'],
    ['--retries', 'many', 'a whole number from 0 to 100'],
    ['--color', 'pink', ''],
    ['--profile', '../../x', 'a letter or digit'],
    ['--profile', '', 'a letter or digit'],
    ['--profile', 'a'.repeat(65), 'up to 63'],
    ['--base-url', 'ftp://example.com', 'https://'],
    ['--base-url', 'images.example.com:8443', 'use https://images.example.com:8443'],
    ['--base-url', 'http://example.com', 'https://example.com'],
  ])('%s %s is a usage error with a hint', async (option, value, hint) => {
    const env = { IMGCTL_BASE_URL: 'http://127.0.0.1:9' };
    const result = await runCli(['whoami', option, value], { env });
    expect(result).toEqual(failed(2, /^imgctl: .+\nhint: .+\n$/));
    expect(result.stderr).toContain(hint);
  });
});

it.each([
  ['--limit', '0', '--limit must be a whole number of at least 1 (got 0)'],
  ['--limit', '1.5', '--limit must be a whole number of at least 1 (got 1.5)'],
  ['--per-page', '101', '--per-page must be a whole number from 1 to 100 (got 101)'],
])('%s %s is a usage error that names the range', async (option, value, message) => {
  const result = await runCli(['images', 'list', option, value]);
  expect(result).toEqual(failed(2, `imgctl: ${message}\nhint: for example: ${option} 1\n`));
});

describe('usage errors', () => {
  it.each([
    [['imags', 'list'], "unknown command 'imags'", 'images'],
    [['imags', 'list', '--filter', 'x'], "unknown command 'imags'", 'images'],
    [['images', 'lst'], "unknown command 'lst'", 'list'],
    [['config', 'gett', 'time'], "unknown command 'gett'", 'get'],
    [['synk', '--wait'], "unknown command 'synk'", 'sync'],
    [['images', 'list', '--fliter', 'x'], "unknown option '--fliter'", '--filter'],
    [['images', 'list', '--filtr=name,like,%ubuntu%'], "unknown option '--filtr'", '--filter'],
    [['whoami', '--jsn'], "unknown option '--jsn'", '--json'],
  ])('%j suggests what was meant', async (argv, message, suggestion) => {
    const error = new RegExp(`^imgctl: ${message}\nhint: did you mean .*${suggestion}`);
    expect(await runCli(argv)).toEqual(failed(2, error));
  });

  it('an option with a needless value is not called unknown', async () => {
    const result = await runCli(['login', `--password-stdin=${SECRET}`]);
    const error =
      /^imgctl: option '--password-stdin' takes no value\nhint: see: imgctl login --help\n$/;
    expect(result).toEqual(failed(2, error));
    const limited = await runCli(['sync', '--wait=10m']);
    const hint = /^imgctl: option '--wait' takes no value\nhint: did you mean --wait-timeout\?\n$/;
    expect(limited).toEqual(failed(2, hint));
  });

  it.each([
    [['images', 'list', '-x'], 'imgctl images list --help'],
    [['sync', '--zzz'], 'imgctl sync --help'],
    [['profile', 'use'], 'imgctl profile use --help'],
    [['images', 'list', '--limit'], 'imgctl images list --help'],
  ])('%j hints at the help of the command', async (argv, help) => {
    expect((await runCli(argv)).stderr).toMatch(new RegExp(`\nhint: see: ${help}\n$`));
  });

  it.each([
    [['--passwrod=hunter2'], '--passwrod'],
    [['login', `--password=${SECRET}`], '--password'],
    [['login', '--password', SECRET], '--password'],
    [['login', `-p${SECRET}`], '-p'],
    [['images', 'list', `-p${SECRET}`], '-p'],
    [['login', `--password=it's ${SECRET}`], '--password'],
    [['login', `--password=a\n${SECRET}`], '--password'],
    [['login', `--password=a=${SECRET}`], '--password'],
  ])('%j names the option without its value', async (argv, option) => {
    const result = await runCli(argv);
    expect(result).toEqual(failed(2, new RegExp(`^imgctl: unknown option '${option}'\n`)));
    expect(result.stderr).not.toContain(SECRET);
  });

  it.each([
    [['whoami', SECRET], 'whoami takes no arguments (got 1)'],
    [['login', SECRET], 'login takes no arguments (got 1)'],
    [['token', 'a', SECRET], 'token takes no arguments (got 2)'],
    [['config', 'get', 'time', SECRET], 'config get takes at most 1 argument (got 2)'],
    [['sync', SECRET], 'sync takes no arguments (got 1)'],
  ])('%j counts extra arguments and does not repeat them', async (argv, message) => {
    const result = await runCli(argv);
    expect(result).toEqual(failed(2, `imgctl: ${message}\nhint: see: imgctl `));
    expect(result.stderr).not.toContain(SECRET);
  });

  it.each([
    [['api'], "missing required argument 'path'"],
    [['config', 'set', 'time'], "missing required argument 'value'"],
    [['images', 'list', '--limit'], "option '--limit' needs a value"],
    [['images', 'list', '-n'], "option '--limit' needs a value"],
    [['whoami', '--profile'], "option '--profile' needs a value"],
  ])('%j names what is missing', async (argv, message) => {
    expect(await runCli(argv)).toEqual(failed(2, `imgctl: ${message}\n`));
  });
});
