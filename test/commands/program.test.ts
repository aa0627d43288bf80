// The command line itself: global options, suggestions, guesses from other tools, and which words errors repeat.

import { describe, expect, it } from 'vitest';
import { failed, runCli } from '../support/io.ts';
import { localUser } from '../support/users.ts';

/** Runs a line that is a usage error. */
const rejected = async (line: string, message: string | RegExp) => {
  const result = await localUser().imgctl(line);
  expect(result).toEqual(failed(2, message));
  expect(result.stderr).not.toContain('hunter2');
};

describe('global options', () => {
  it.each([
    '--json whoami',
    'whoami --json',
    '-o json whoami',
    'config list --profile ../x --json',
    'config --json list --profile ../x',
  ])('are accepted before and after the command: %s', async (line) => {
    const { stderr, exitCode } = await localUser().imgctl(line);
    expect(exitCode).toBe(2);
    expect(JSON.parse(stderr)).toMatchObject({ error: { exitCode: 2 } });
  });

  it.each([
    'images list --json -o yaml',
    '--json images list --output yaml',
    '-o yaml images list --json',
  ])('reject --json with another format: %s', async (line) => {
    await rejected(line, '--json and --output yaml cannot be used together');
  });

  it('accept --json with -o json, which overrides the format of the environment', async () => {
    const { stdout } = await localUser().imgctl('IMGCTL_OUTPUT=yaml config list --json -o json');
    const row = { key: 'output', value: 'json', origin: '--output' };
    expect(JSON.parse(stdout)).toContainEqual(expect.objectContaining(row));
  });

  it.each([
    ['-o jsonn', 'did you mean json?'],
    ['--timeout soon', '500ms, 30s, 5m, 1h, 2d or 3w'],
    ['--retries many', 'a whole number from 0 to 100'],
    ['--color pink', 'hint: '],
    ['--profile ../../x', 'a letter or digit'],
    ["--profile ''", 'a letter or digit'],
    [`--profile ${'a'.repeat(65)}`, 'up to 63'],
    ['--base-url ftp://example.com', 'https://'],
    ['--base-url images.example.com:8443', 'use https://images.example.com:8443'],
    ['--base-url http://example.com', 'https://example.com'],
  ])('reject %s with a hint', async (option, hint) => {
    await rejected(`IMGCTL_BASE_URL=http://127.0.0.1:9 whoami ${option}`, hint);
  });
});

describe('a usage error', () => {
  it.each([
    ['imags list --filter x', "unknown command 'imags'\nhint: did you mean images\\?"],
    ['images lst', "unknown command 'lst'\nhint: did you mean .*list"],
    ['config gett time', "unknown command 'gett'\nhint: did you mean .*get"],
    ['images list --fliter x', "unknown option '--fliter'\nhint: did you mean --filter"],
    ['images list --filtr=name,like,x', "unknown option '--filtr'\nhint: did you mean --filter"],
    ['whoami --jsn', "unknown option '--jsn'\nhint: did you mean --json"],
    ['sync --wait=10m', "option '--wait' takes no value\nhint: did you mean --wait-timeout\\?"],
    ['login --password-stdin=hunter2', "option '--password-stdin' takes no value\nhint: see: "],
    ['images list -x', '.*\nhint: see: imgctl images list --help'],
    ['profile use', 'missing required argument .*\nhint: see: imgctl profile use --help'],
    ['config set time', "missing required argument 'value'"],
    ['images list --limit', "option '--limit' needs a value\nhint: see: imgctl images list --help"],
    ['images list -n', "option '--limit' needs a value"],
    ['whoami --profile', "option '--profile' needs a value"],
    [
      'images list -n 0',
      '--limit must be a whole number of at least 1 \\(got 0\\)\nhint: .* --limit 1',
    ],
    ['images list -n 1.5', '--limit must be .* \\(got 1.5\\)'],
    ['images list --per-page 101', '--per-page must be a whole number from 1 to 100 \\(got 101\\)'],
  ])('says what is wrong and suggests what was meant: %s', async (line, message) => {
    await rejected(line, new RegExp(`^imgctl: ${message}`));
  });

  it.each([
    [['--passwrod=hunter2'], "unknown option '--passwrod'"],
    [['login', '--password=hunter2'], "unknown option '--password'"],
    [['login', '--password', 'hunter2'], "unknown option '--password'"],
    [['login', '-phunter2'], "unknown option '-p'"],
    [['images', 'list', '-phunter2'], "unknown option '-p'"],
    [['login', "--password=it's hunter2"], "unknown option '--password'"],
    [['login', '--password=a\nhunter2'], "unknown option '--password'"],
    [['login', '--password=a=hunter2'], "unknown option '--password'"],
    [['whoami', 'hunter2'], 'whoami takes no arguments (got 1)'],
    [['token', 'a', 'hunter2'], 'token takes no arguments (got 2)'],
    [['config', 'get', 'time', 'hunter2'], 'config get takes at most 1 argument (got 2)'],
  ])('repeats no value that may be a secret: %j', async (argv, message) => {
    const result = await runCli(argv);
    expect(result).toEqual(failed(2, `imgctl: ${message}\nhint: `));
    expect(result.stderr).not.toContain('hunter2');
  });
});

describe('a guess from another tool', () => {
  it.each([
    ['list', 'images list'],
    ['ls', 'images list'],
    ['search ubuntu', 'images list TEXT'],
    ['status', 'sync-status'],
    ['upload x.ova', 'push FILE'],
    ['pin', 'images lock'],
    ['auth login', 'login'],
    ['images search ubuntu', 'images list TEXT'],
    ['images diff', 'images changes'],
  ])('%s gets the command to use, which exists', async (line, command) => {
    await rejected(line, `hint: use: imgctl ${command}\n`);
    const words = command.split(' ').filter((word) => !/^[A-Z]+$/.test(word));
    expect(await runCli([...words, '--help'])).toMatchObject({ exitCode: 0 });
  });

  it.each([
    ['images delete 1003', 'hint: images disappear when their upload is removed and synced\n'],
    ['images list --all', 'every image is listed'],
    ['my-images --format json', 'use -o FORMAT'],
    ['images list --jq .[]', 'pipe JSON to jq'],
    ['whoami --insecure', 'imgctl config set ca-file FILE'],
    ['images list --name ubuntu', 'imgctl images list TEXT'],
    ['images list --folder ubuntu', 'use -f folder,eq,NAME'],
    ['images list --mine', 'use: imgctl my-images'],
    ['sync --no-color', 'use --color never'],
    ['login --password hunter2', 'use --password-stdin or IMGCTL_PASSWORD'],
    ['images list -s updated_on:desc', 'hint: did you mean updated_on,desc?\n'],
    ['images list -s -updated_on', 'hint: did you mean updated_on,desc?\n'],
    ['images list -s +name', 'hint: did you mean name,asc?\n'],
    ['images list -s Name=ASC', 'hint: did you mean name,asc?\n'],
    ['images list -f name=ubuntu', 'hint: did you mean name,eq,ubuntu?\n'],
    ['images list -f name~ubuntu', 'hint: did you mean name,like,%ubuntu%?\n'],
    ['images list -f id>=5', 'hint: did you mean id,ge,5?\n'],
    ["images list -f 'folder: x'", 'hint: did you mean folder,eq,x?\n'],
  ])('%s gets what to use instead', async (line, hint) => {
    await rejected(line, hint);
  });

  it.each([
    ...['pull', 'deploy', 'auth status', 'diff', 'images ubuntu', 'images pin', 'constructor'],
    ...['push x.ova --all', 'validate x.ova --folder x', 'login --mine', 'images list --wide'],
  ])('%s gets no guess, but the help', async (line) => {
    await rejected(line, /\nhint: see: imgctl .*--help\n$/);
  });
});
