// The command line itself: global options, suggestions, guesses from other tools, and which words errors repeat.

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

  it('accept --json with -o json, which overrides the format of the environment', async () => {
    const { stdout } = await localUser().imgctl('IMGCTL_OUTPUT=yaml config list --json -o json');
    const row = { key: 'output', value: 'json', origin: '--json' };
    expect(JSON.parse(stdout)).toContainEqual(expect.objectContaining(row));
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
    ['imags list --filter x', "unknown command 'imags'\nhint: did you mean imgctl images\\?"],
    ['images lst', "unknown command 'lst'\nhint: did you mean imgctl images list\\?"],
    ['config gett time', "unknown command 'gett'\nhint: did you mean imgctl config get\\?"],
    ['profile ls', "unknown command 'ls'\nhint: did you mean imgctl profile list\\?"],
    ['images list --fliter x', "unknown option '--fliter'\nhint: did you mean --filter"],
    ['images list --filtr=name,like,x', "unknown option '--filtr'\nhint: did you mean --filter"],
    ['sync --wait=10m', "option '--wait' takes no value\nhint: did you mean --wait-timeout\\?"],
    ['login --password-stdin=hunter2', "option '--password-stdin' takes no value\nhint: see: "],
    ['images list -x', '.*\nhint: see: imgctl images list --help'],
    ['--limit 3 images list', '.*\nhint: put it after the command; .* imgctl help options'],
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
    ['login --password=hunter2', "unknown option '--password'"],
    ['login -phunter2', "unknown option '-p'"],
    ['login --password=it\\s\nhunter2', "unknown option '--password'"],
    ['login --password=a=hunter2', "unknown option '--password'"],
    ['whoami hunter2', 'whoami takes no arguments (got 1)'],
    ['token a hunter2', 'token takes no arguments (got 2)'],
    ['config get time hunter2', 'config get takes at most 1 argument (got 2)'],
  ])('repeats no value that may be a secret: %j', async (line, message) => {
    await rejected(line.split(' '), `imgctl: ${message}\nhint: `);
  });
});

const DELETE = 'remove its files from the storage, then run: imgctl sync';

describe('a guess from another tool', () => {
  it.each([
    ['images list debian --json id,name', 'id,name'],
    ['images latest debian --json path', 'path'],
    ['images changes --json ID', 'ID'],
    ['my-images --json id,nam', 'id,nam'],
  ])('%s does not search for the fields', async (line, fields) => {
    const hint = `choose fields with: -c ${fields}`;
    await rejected(line, `"message":"--json takes no value","hint":"${hint}"`);
  });

  it('searches for the words after --', async () => {
    const { imgctl } = await scriptedUser(catalogueOf([]));
    const expected = { stdout: '', stderr: '', exitCode: 0 };
    expect(await imgctl('images list -q -- --json id')).toEqual(expected);
  });

  it.each<readonly [string, string]>([
    ['list', 'use: imgctl images list\n'],
    ['lst', 'use: imgctl images list\n'],
    ['ls', 'use: imgctl images list\n'],
    ['get 1003', 'use: imgctl images get\n'],
    ['lock', 'use: imgctl images lock\n'],
    ['diff', 'use: imgctl images changes\n'],
    ['sync status', 'use: imgctl sync-status\n'],
    ['search ubuntu', 'use: imgctl images list TEXT\n'],
    ['status', 'use: imgctl sync-status\n'],
    ['upload x.ova', 'use: imgctl push FILE\n'],
    ['pin', 'use: imgctl images lock add NAME TEXT\n'],
    ['auth login', 'use: imgctl login\n'],
    ['auth status', 'use: imgctl whoami\n'],
    ['images search ubuntu', 'use: imgctl images list TEXT\n'],
    ['images show 1003', 'use: imgctl images get\n'],
    ['images diff', 'use: imgctl images changes\n'],
    ...['describe', 'view', 'show', 'info'].flatMap((verb) => [
      [`${verb} 3`, 'use: imgctl images get\n'] as const,
      [`images ${verb} 3`, 'use: imgctl images get\n'] as const,
    ]),
    ['find ubuntu', 'use: imgctl images list TEXT\n'],
    ['images newest ubuntu', 'use: imgctl images latest TEXT\n'],
    ['images count', 'use: imgctl images list -q | wc -l\n'],
    ...['download 3', 'pull', 'images download 3', 'images pull 3'].map(
      (line) => [line, 'there is no download: the service deploys images itself\n'] as const,
    ),
    ['upgrade', 'upgrade imgctl the way you installed it: see the README\n'],
    ['context', 'use: imgctl profile\n'],
    ['profile add x', 'use: imgctl login --profile NAME\n'],
    ['profile create x', 'use: imgctl login --profile NAME\n'],
    ['config edit', 'use: imgctl config set KEY VALUE, or edit the file: imgctl config path\n'],
    ['login localhost:8080', 'use: imgctl login --base-url localhost:8080\n'],
    ['login https://images.example', 'use: imgctl login --base-url https://images.example\n'],
    ['login hunter2', 'see: imgctl login --help\n'],
    ['login -p hunter2', 'no option takes a secret; use --password-stdin or IMGCTL_PASSWORD\n'],
    ['login --with-token', 'no option takes a secret; set IMGCTL_TOKEN\n'],
    ['image list', 'use: imgctl images list\n'],
    ['images changes --since 7d', 'use: imgctl images list --since 7d\n'],
    ['images get 1482 --url', 'list URLs with: imgctl images list --urls\n'],
    ['images list -o jsonl', 'did you mean ndjson? valid: '],
    ['images lock ubuntu 22.04 server', 'use: imgctl images lock add NAME ubuntu 22.04 server\n'],
    ['images snapshot --file a.json', 'use: imgctl images snapshot FILE\n'],
    ['images lock --check', 'use: imgctl images lock check\n'],
    ['images lock rm web', 'use: imgctl images lock remove\n'],
    ...['json', 'cron', 'password', 'upload', 'dates'].map(
      (topic) => [`help ${topic}`, 'see: imgctl '] as const,
    ),
    ...['images delete 1003', 'images rm 3', 'delete 3', 'rm 3', 'help delete'].map(
      (line) => [line, `${DELETE}\n`] as const,
    ),
    ...['delete web.ova', 'rm web.ova', 'remove 3'].map(
      (words) => [`my-images ${words}`, `${DELETE}; to search for the word: -f 'name~`] as const,
    ),
    ['my-images list', "use: imgctl my-images; to search for the word: -f 'name~list'\n"],
    ['my-images get 3', 'use: imgctl images get; '],
    ['my-images add web.ova', 'use: imgctl push FILE; '],
    ['my-images update web.ova', 'use: imgctl push FILE; '],
    ['my-images sync', 'use: imgctl sync; '],
    ["images list -f 'id<>3'", "did you mean 'id!=3'?\n"],
    ["images list -f 'name =~ a'", "did you mean 'name~a'?\n"],
    ["images list -f 'id=>3'", "did you mean 'id>=3'?\n"],
    ["images list -f 'id=<3'", "did you mean 'id<=3'?\n"],
    ['images list --all', 'omit it: every image is listed'],
    ['my-images --format json', 'use -o FORMAT'],
    ['images list --jq .[]', 'pipe JSON to jq'],
    [
      'whoami --insecure',
      'certificates are always verified; to trust a private one: imgctl config set',
    ],
    ['images list --name ubuntu', 'search for names with: imgctl images list TEXT'],
    ['images list --exclude minimal', "use -f 'name!~TEXT'\n"],
    ['images list --not minimal', "use -f 'name!~TEXT'\n"],
    ['images list --folder ubuntu', 'use -f folder,eq,NAME'],
    ['images list --mine', 'use: imgctl my-images'],
    ['sync --no-color', 'use --color never'],
    ['images get 1003 --verbose', 'use --debug\n'],
    ['images list --url https://x', 'use --base-url URL\n'],
    ['images list --token hunter2', 'no option takes a secret; set IMGCTL_TOKEN\n'],
    ['whoami -v', 'use -V for the version, or --debug'],
    ['login --password hunter2', 'no option takes a secret; use --password-stdin or IMGCTL_PASS'],
    ['images list -s updated_on:desc', 'did you mean updated_on,desc?\n'],
    ['images list -s -updated_on', 'did you mean updated_on,desc?\n'],
  ])('%s gets what to use instead', async (line, hint) => {
    await rejected(line, `hint: ${hint}`);
  });

  it.each([
    ...['deploy', 'auth', 'use', 'set', 'images ubuntu', 'constructor'],
    ...['push x.ova --all', 'validate x.ova --folder x', 'login --mine', 'images list --wide'],
  ])('%s gets no guess, but the help', async (line) => {
    await rejected(line, /\nhint: see: imgctl .*--help\n$/);
  });
});
