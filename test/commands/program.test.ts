// The command line itself: global options, suggestions, and which words errors repeat.

import { describe, expect, it } from 'vitest';
import { catalogueOf } from '../support/catalogue-page.ts';
import { failed } from '../support/io.ts';
import { localUser, scriptedUser } from '../support/users.ts';

/** Runs a line that is a usage error. */
const rejected = async (line: string | readonly string[], message: string | RegExp) => {
  const result = await localUser().imgctl(line);
  expect(result).toEqual(failed(2, message));
  expect(result.stderr).not.toContain('hunter2');
};

const TWICE =
  '--json and --output yaml cannot be used together\nhint: omit --json or --output yaml';
const BOTH = '--get and --columns cannot be used together\nhint: omit --get or --columns\n';
const TOO_LONG = 'a'.repeat(65);

describe('global options', () => {
  it.each([
    '--json whoami',
    '-o json whoami',
    'config list --profile ../x --json',
    'config --json list --profile ../x',
  ])('are accepted before and after the command: %s', async (line) => {
    const { stderr, exitCode } = await localUser().imgctl(line);
    expect(exitCode).toBe(2);
    expect(JSON.parse(stderr)).toMatchObject({ error: { exitCode: 2 } });
  });

  it.each([
    ['whoami --json -o yaml', TWICE],
    ['--json whoami --output yaml', TWICE],
    ['images list --get id -c name', BOTH],
    ['config get foo', "unknown setting 'foo'\nhint: see: imgctl config list --all\n"],
    ['whoami -o jsonn', 'did you mean json?'],
    ['whoami --timeout soon', '500ms, 30s, 5m, 1h, 2d or 3w'],
    ['whoami --retries many', 'a whole number from 0 to 100'],
    ['whoami --color pink', 'hint: '],
    ['whoami --profile ../../x', 'a letter or digit'],
    ["whoami --profile ''", '--profile must not be empty\nhint: provide a value, or omit it\n'],
    ["sync --wait-timeout ''", '--wait-timeout must not be empty\nhint: use a duration such as '],
    ["images list --from ''", '--from must not be empty'],
    ["api -X POST ''", 'the path must not be empty'],
    [`whoami --profile ${TOO_LONG}`, 'up to 63'],
    ['whoami --base-url ftp://example.com', 'https://'],
    ['whoami --base-url http://example.com', 'https://example.com'],
  ])('reject %s with a hint', async (line, hint) => {
    await rejected(`IMGCTL_BASE_URL=http://127.0.0.1:9 ${line}`, hint);
  });
});

const NO_LIMIT = '--limit must be a whole number of at least 1 \\(got 0\\)\nhint: .* --limit 1';
const PER_PAGE = '--per-page must be a whole number from 1 to 100 \\(got 101\\)';

describe('a usage error', () => {
  it.each([
    ['imags list --filter x', "unknown command 'imags'\nhint: did you mean imgctl images list\\?"],
    ['config gett time', "unknown command 'gett'\nhint: did you mean imgctl config get\\?"],
    ['profile lst', "unknown command 'lst'\nhint: did you mean imgctl profile list\\?"],
    ['images list --fliter x', "unknown option '--fliter'\nhint: did you mean --filter"],
    ['images list --filtr=name,like,x', "unknown option '--filtr'\nhint: did you mean --filter"],
    ['sync --wait=10m', "option '--wait' takes no value\nhint: did you mean --wait-timeout\\?"],
    ['login --password-stdin=hunter2', "option '--password-stdin' takes no value\nhint: see: "],
    ['images list -q=true', "option '-q' takes no value"],
    [['images', 'list', '--limit 5'], "option '--limit' and its value are one word"],
    ['images list -x', '.*\nhint: see: imgctl images list --help'],
    ['--limit 3 images list', '.*\nhint: use: imgctl images list --limit N\n'],
    ['profile use', 'missing required argument .*\nhint: use: imgctl profile use .*<profile>'],
    ['syncstatus', "unknown command 'syncstatus'\nhint: did you mean imgctl sync-status\\?"],
    ['images list --limit', "option '--limit' needs a value\nhint: see: imgctl images list --help"],
    ['images list -n', "option '--limit' needs a value"],
    ['whoami --profile', "option '--profile' needs a value\nhint: see: imgctl help options"],
    ['images list -n 0', NO_LIMIT],
    ['images list -n 1.5', '--limit must be .* \\(got 1.5\\)'],
    ['images list --per-page 101', PER_PAGE],
  ])('says what is wrong and suggests what was meant: %s', async (line, message) => {
    await rejected(line, new RegExp(`^imgctl: ${message}`));
  });

  it.each([
    ['--passwrod=hunter2', "unknown option '--passwrod'"],
    ['--user demo:hunter2 emulator', "unknown option '--user'"],
    ['--field a=hunter2 api /v2', "unknown option '--field'"],
    ['--password-stdin=hunter2 login', "unknown option '--password-stdin'"],
    ['login --password=hunter2', "unknown option '--password'"],
    ['login -phunter2', "unknown option '-p'"],
    ['login --password=it\\s\nhunter2', "unknown option '--password'"],
    ['login --password=a=hunter2', "unknown option '--password'"],
    ['config password=hunter22', "unknown command 'password'"],
    ['images lock password=hunter22', "unknown command 'password'"],
    ['help password=hunter22', "unknown command or topic 'password'"],
    ['config password hunter2 --help', "unknown command or topic 'config password'"],
    ['--profile https://bob:a@hunter22@h token', 'invalid profile name: https://bob:***@h'],
    ['whoami hunter2', 'whoami takes no arguments (got 1)'],
    ['token a hunter2', 'token takes no arguments (got 2)'],
    ['config get time hunter2', 'config get takes at most 1 argument (got 2)'],
  ])('repeats no value that may be a secret: %j', async (line, message) => {
    await rejected(line.split(' '), `imgctl: ${message}\nhint: `);
  });
});

describe('fields after --json', () => {
  it.each([
    ['images list debian --json id,name', '-c id,name'],
    ["images latest debian --json 'path,a b'", "-c 'path,a b'"],
    ['images changes --json ID', '--json | jq'],
    ['my-images --json id,nam', '-c id,nam'],
    ['whoami --json profile', '--json | jq'],
    ['--json id,name images list', '--json | jq'],
  ])('are not searched for: %s', async (line, fields) => {
    const hint = `choose fields with: ${fields}`;
    await rejected(line, `"message":"--json takes no value","hint":"${hint}"`);
  });

  it('are arguments of a command that prints none', async () => {
    const { stderr } = await localUser().imgctl('profile use --json public');
    expect(stderr).toContain("unknown profile 'public'");
  });

  it('are words after --', async () => {
    const { imgctl } = await scriptedUser(catalogueOf([]));
    const expected = { stdout: '', stderr: '', exitCode: 0 };
    expect(await imgctl('images list -q -- --json web')).toEqual(expected);
  });
});
