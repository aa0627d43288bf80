// The advice for what people type who know other tools, straight from its tables.

import { expect, it } from 'vitest';
import { flagsOf } from '../../src/cli/command-types.ts';
import { ALL_GLOBAL_OPTIONS } from '../../src/cli/global-options.ts';
import { COMMAND_GUESSES, OPTION_GUESSES, RENAMED_OPTIONS } from '../../src/cli/guesses.ts';
import { LOCAL_COMMANDS } from '../../src/cli/hint-commands.ts';
import { hintText } from '../../src/cli/hints.ts';
import { NO_CONFIG } from '../../src/config/config-file.ts';
import { settle } from '../../src/config/settings.ts';
import type { Facts } from '../../src/facts.ts';
import { leavesOf } from '../support/commands.ts';
import { isLocal } from '../support/hints.ts';
import { failed } from '../support/io.ts';
import { localUser } from '../support/users.ts';

const textOf = (advice: string | Facts) => hintText(advice, () => settle(NO_CONFIG, {}));

/** Runs a line with an unknown word or option, which gets this hint and no secret in it. */
async function expectHint(line: string, hint: string) {
  const result = await localUser().imgctl(line);
  expect({ line, result }).toEqual({ line, result: failed(2, `\nhint: ${hint}`) });
  expect(result.stderr).not.toContain('hunter2');
}

it('hints name no profile for the commands that use none, and only for these', () => {
  const named = (line: string) => LOCAL_COMMANDS.some((each) => `${line} `.startsWith(`${each} `));
  for (const [line, command] of leavesOf()) {
    expect({ line, named: named(line) }).toEqual({
      line,
      named: isLocal(line.split(' '), command),
    });
  }
});

it('commands with --get and --no-trunc have -c, which the hint for a missing value names', () => {
  for (const [line, { options = [] }] of leavesOf()) {
    const flags = options.flatMap(flagsOf);
    if (!flags.includes('--get') || !flags.includes('--no-trunc')) continue;
    expect({ line, flags }).toEqual({ line, flags: expect.arrayContaining(['-c']) });
  }
});

it('guesses.txt lists what is guessed, and the other names of commands', async () => {
  const others = leavesOf()
    .map(([line, { otherNames = [] }]) => ({ typed: otherNames, advice: line }))
    .filter(({ typed }) => typed.length > 0);
  const renamed = RENAMED_OPTIONS.map(({ typed, meant, advice = meant }) => ({ typed, advice }));
  const text = [...COMMAND_GUESSES, ...OPTION_GUESSES, ...renamed, ...others]
    .map(({ typed, advice }) => `${typed.join(', ')}: ${textOf(advice)}\n`)
    .join('');
  await expect(text).toMatchFileSnapshot('guesses.txt');
});

const rowsOf = (rows: readonly { typed: readonly string[] }[]) =>
  rows.flatMap(({ typed }) => typed);

it('there are at most 40 guesses, and each phrase has one', () => {
  for (const phrases of [
    rowsOf([...COMMAND_GUESSES, ...OPTION_GUESSES]),
    rowsOf(RENAMED_OPTIONS),
  ]) {
    expect(phrases.filter((phrase, at) => phrases.indexOf(phrase) !== at)).toEqual([]);
  }
  expect(
    COMMAND_GUESSES.length + OPTION_GUESSES.length + RENAMED_OPTIONS.length,
  ).toBeLessThanOrEqual(40);
});

it.each([...COMMAND_GUESSES, ...OPTION_GUESSES])(
  '$typed.0 gets its advice',
  async ({ typed, advice }) => {
    for (const phrase of typed) {
      const line = phrase
        .replace(/^-/, 'images list -')
        .replace(/^(push|inspect)$/, 'images $1')
        .replace(/^(login|sync)$/, '$1 x');
      const end = /^-|--| -s/.test(phrase) ? '=hunter2:!' : ' hunter2';
      await expectHint(line + end, `${textOf(advice)}\n`);
    }
  },
);

it.each(RENAMED_OPTIONS)('$typed.0 gets advice about $meant', async ({ typed, meant, advice }) => {
  for (const unknown of typed) {
    const owners = leavesOf().filter(([, { options = [] }]) => {
      const flags = [...options, ...ALL_GLOBAL_OPTIONS].flatMap(flagsOf);
      return flags.includes(meant) && !flags.includes(unknown);
    });
    const owner = owners.find(([name]) => name === 'images list') ?? owners[0];
    await expectHint(
      `${owner?.[0]} ${unknown}=hunter2:!`,
      advice ? `${textOf(advice)}\n` : `use ${meant}`,
    );
  }
});

it.each([
  ['images list a --from b.json --jq .x', 'use --json, and pipe it to jq\n'],
  ['images list -phunter2', "to leave out names that contain a word: -f 'name!~WORD'\n"],
  ['images -n 5 list', 'use: imgctl images list -n N\n'],
  ['images --file a.json lock list', 'use: imgctl images lock list --file FILE\n'],
  ['config --get time', 'use: imgctl config get KEY\n'],
  ['config --set password=hunter2', 'see: imgctl config --help\n'],
  ['--wait sync', 'use: imgctl sync --wait\n'],
  ['--user demo:hunter2 emulator', 'use: imgctl emulator --user NAME:PASSWORD\n'],
  ['images list --sort-by -name', 'use --sort FIELD,DIRECTION\n'],
  ['images list -json', 'did you mean --json?\n'],
  ['images list -columns id', 'did you mean --columns?\n'],
  ['images list -', 'omit it\n'],
  ['images list -p -9', 'see: imgctl images list --help\n'],
  ['images lock view password hunter2', 'see: imgctl images lock --help\n'],
  ['image rm 3', 'public images cannot be deleted; '],
  ['images lock lis', 'did you mean imgctl images lock list?\n'],
  ['auth login', 'use: imgctl login, or logout, token or whoami\n'],
  ['imags ls', 'did you mean imgctl images list?\n'],
  ['config show password hunter2', 'see: imgctl config list --help\n'],
  ['config set upload-password-file pw', 'did you mean upload-password-command?\n'],
  ['config time', 'use: imgctl config get time\n'],
  ['config time=iso', 'use: imgctl config set time VALUE\n'],
  ['images changes --since 1w', 'use: imgctl images list --since TIME\n'],
  ['config set time', 'use: imgctl config set time VALUE\n'],
  ['config set time=iso', 'use: imgctl config set time VALUE\n'],
  ['login hunter2', 'use: imgctl login --username USER, or with --base-url URL\n'],
  ['images list -o jsonl', 'did you mean ndjson? valid: '],
  ['images list -o wide', 'valid: table, json, '],
  ['images snapshot -o c.json', 'to write to a file: > c.json\n'],
  ['images list -o noheader', 'use --no-header\n'],
  ['images list -o columns=ID,name', 'use -c ID,name\n'],
  ['images list -o id,name', 'use -c id,name\n'],
  ['images list -o id,nosuch', 'valid: table, json, '],
  ['images get 1003 -o path', 'use --get path\n'],
  ['sync -o noheader', 'valid: table, json, '],
  ['images list -f json', 'for the format: -o json\n'],
  ['login -u=hunter2', 'use -u NAME\n'],
  ['images list -qn=5', 'use -n N\n'],
  [
    'profile create prod',
    'see: imgctl profile --help, or create one: imgctl login --profile NAME\n',
  ],
  ['images diff 1003 1004', 'use: imgctl images get ID ID, or imgctl images changes\n'],
  ['get image web.ova', 'use: imgctl images get [id|name|path|label|url...]\n'],
  ['search ubuntu 24.04', 'use: imgctl images list WORD\n'],
  ['images latest --os ubuntu', 'type the words without an option: they match names\n'],
  ['images get --path 1003', 'use --get path\n'],
  ['images list --private', 'use: imgctl my-images\n'],
  ['my images', 'use: imgctl my-images\n'],
  ['api get /v2/image', 'use: imgctl api /v2/image\n'],
  ['completion -s bash', 'use: imgctl completion <shell>\n'],
  ['push --file a.ova', 'use: imgctl push <file...>\n'],
  ['sync-status --id 5', 'use: imgctl sync-status [id]\n'],
  ['config set password hunter2', 'set a variable such as IMGCTL_PASSWORD, '],
  [
    'env',
    'set a variable such as IMGCTL_PASSWORD, IMGCTL_TOKEN or HTTPS_PROXY; see: imgctl help environment\n',
  ],
  ['images list --format csv', 'use --output FORMAT\n'],
  ['images list --sort-by=hunter2', 'use --sort FIELD,DIRECTION\n'],
  ['ls ubuntu', 'use: imgctl images list [text...]\n'],
  ['delete profile x', 'use: imgctl profile delete <profile>\n'],
  ['lock add web', 'see: imgctl images lock --help\n'],
  ["images list '--limit 5'", 'type them as two words\n'],
  ['images unlock web', 'use: imgctl images lock remove <name>\n'],
  ['cp a.ova s3://bucket', 'use: imgctl push FILE\n'],
  ['sync web.ova', 'to upload a file: imgctl push FILE\n'],
  ['sync 41', 'use: imgctl sync-status ID\n'],
  ['sync --no-wait', 'omit it: it is the default\n'],
  ['images list --max-items 5', 'use --limit N\n'],
  ['images list --before 2026-01-01', "use -f 'updated_on<TIME'\n"],
  ['images --filter name=web', 'use: imgctl images list --filter FILTER\n'],
  ['config base-url https://x', 'use: imgctl config set base-url VALUE\n'],
  ["images list -f 'name=~^ubuntu'", 'valid: = == != < <= > >= ~ !~\n'],
  ['images list --from -', 'to read standard input, use /dev/stdin\n'],
  ['images list -s Updated_on.asc', 'did you mean updated_on,asc?\n'],
  ['images list -s -name:version', 'did you mean name:version,desc?\n'],
  ['images list -s -newest', 'use FIELD,DIRECTION, such as name,desc\n'],
  ['images list -s updated_on,dsc', 'did you mean desc? valid: asc, desc\n'],
  ['images list --since 1month', 'did you mean 30d?\n'],
  ['images list --since 2M', 'did you mean 60d?\n'],
  [
    'images list --since may',
    'use 2024-01-31, 2024-01-31T12:00:00Z, 30d (units: s, m, h, d, w or y) or ',
  ],
  ...Object.entries({
    'http://host/x': 'dav+http://host/x',
    's3://bucket/x': 's3+https://s3.amazonaws.com/bucket/x',
    'https://bucket.s3.eu-west-1.amazonaws.com': 's3+https://s3.eu-west-1.amazonaws.com/bucket',
    'https://s3.amazonaws.com/bucket/x': 's3+https://s3.amazonaws.com/bucket/x',
    'webdavs://host/x': 'dav+https://host/x',
  }).map(([typed, meant]) => [
    `push web.ova --to ${typed}`,
    `did you mean ${meant}? Otherwise, use a URL such as `,
  ]),
])('imgctl %s gets the hint %s', async (line, hint) => {
  expect(await localUser().imgctl(line)).toEqual(failed(2, `\nhint: ${hint}`));
});

it.each([
  ...['stash', 'images ubuntu', 'constructor', '-p images list'],
  ...['--as images list', '-u x images list', 'my --bogus images', '--limit'],
  ...['push x.ova --all', 'login --mine', 'images list --long'],
])('imgctl %s gets no guess, but the help', async (line) => {
  expect(await localUser().imgctl(line)).toEqual(failed(2, /\nhint: see: imgctl .*--help\n$/));
});

it.each([
  ['image list', 'images list'],
  ['image show 1', 'images get 1'],
  ['my-image list web', 'my-images web'],
  ['my-images ls', 'my-images'],
  ['profile ls', 'profile list'],
  ['profile rm none', 'profile delete none'],
  ['images lock ls', 'images lock list'],
  ['config ls', 'config list'],
  ['config rm time', 'config unset time'],
  ['image lock rm web --help', 'images lock remove web --help'],
  ['help image show', 'help images get'],
])('imgctl %s does what imgctl %s does', async (line, same) => {
  const [one, other] = [localUser(), localUser()];
  expect(await one.imgctl(line)).toEqual(await other.imgctl(same));
});
