// The advice for what people type who know other tools, straight from its table.

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { ALL_GLOBAL_OPTIONS } from '../../src/cli/command.ts';
import { GUESSES, phrasesOf } from '../../src/cli/guess-table.ts';
import { hintText } from '../../src/cli/hints.ts';
import { NO_CONFIG } from '../../src/config/config-file.ts';
import { settle } from '../../src/config/settings.ts';
import type { Facts } from '../../src/facts.ts';
import { selfSigned } from '../support/certificate.ts';
import { leavesOf } from '../support/commands.ts';
import { failed, runCli } from '../support/io.ts';
import { folderUser, writeOva } from '../support/uploads.ts';
import { localUser, PASSWORD } from '../support/users.ts';

type Row = (typeof GUESSES)[number];

/** Returns the advice of a row for these words, or for a number if it needs one. */
function adviceOf({ advice: guess }: Row, words: readonly string[], path: readonly string[] = []) {
  if (typeof guess !== 'function') return guess;
  return guess(words, { path }) ?? guess(['20'], { path }) ?? '';
}

const flagsOf = (options: readonly { flags: string }[]) =>
  options.flatMap(({ flags }) => flags.split(/[ ,]+/));

/** Returns a command for which the row gives advice, with its unknown option. */
function lineOf({ advice: guess }: Row, typed: string): string {
  if (!typed.startsWith('-'))
    return typed.replace(/^setting(?= )/, 'config get').replace(/^push$/, 'images push');
  const leaves = leavesOf().toSorted(([one], [other]) => rank(one) - rank(other));
  const owner = leaves.find(([, { options = [] }]) => {
    const place = { path: [], options: flagsOf([...options, ...ALL_GLOBAL_OPTIONS]) };
    return typeof guess !== 'function' || guess(['20'], place) !== undefined;
  });
  return `${owner?.[0]} ${typed}`;
}

const rank = (name: string) => (name === 'images list' ? 0 : name.startsWith('images ') ? 1 : 2);

/** Returns the commands in advice. */
function commandsOf(advice: string | Facts): string[][] {
  if (typeof advice === 'string' || advice.kind !== 'hint') return [];
  return advice.parts.flatMap((part) =>
    typeof part === 'object' && 'imgctl' in part ? [[...part.imgctl]] : commandsOf(part),
  );
}

const textOf = (advice: string | Facts) => hintText(advice, () => settle(NO_CONFIG, {}));

it('every row has at least one word, and there are at most 62', () => {
  expect(GUESSES.length).toBeLessThanOrEqual(62);
  expect(GUESSES.filter((row) => phrasesOf(row).length === 0)).toEqual([]);
  const typed = GUESSES.flatMap(phrasesOf);
  expect(typed.filter((words, at) => typed.indexOf(words) !== at)).toEqual([]);
});

it('every word of the table gets its advice, and no secret is repeated', async () => {
  const { imgctl } = localUser();
  for (const row of GUESSES) {
    for (const typed of phrasesOf(row)) {
      const line = lineOf(row, typed);
      // The advice needs a number, or the command itself a word more.
      const needsNumber = textOf(adviceOf(row, [])) === textOf(adviceOf(row, ['20']));
      const more = /^(login|config list|api get|api GET)$/.test(line) ? ['x'] : [];
      if (needsNumber && typeof row.advice === 'function') more.push('20');
      const secret = line.includes(' --') && more.length === 0 ? '=hunter2:!' : '';
      const result = await imgctl(`${line}${secret} ${more.join(' ')}`.trim());
      const hint = textOf(adviceOf(row, more, line.replace(/ -.*/, '').split(' ')));
      expect({ line, result }).toEqual({ line, result: failed(2, `hint: ${hint}`) });
      expect(result.stderr).not.toContain('hunter2');
    }
  }
});

/** What guessed commands and options are tried with, if they need words. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  ...{ '-f': ['name'], '-s': ['name'], '-c': ['name'], '-o': ['json'], '--to': ['.'] },
  ...{ "-f 'updated_on": ['30d'] },
  ...{ '--profile': ['default'], 'login --profile': ['default'], 'profile ': ['default'] },
  ...{ 'images get --mine': ['1000001'], 'images get --lock': ['web'] },
  ...{ 'images lock add': ['new', 'ubuntu', 'server'], 'images lock remove': ['old'] },
  ...{ 'images list --since': ['30d'], 'images latest': ['ubuntu', 'server'] },
  ...{ 'images snapshot': ['all.json'], push: ['web.ova'], 'images cannot': ['web.ova'] },
  ...{ validate: ['web.ova'], 'sync-status': ['1'], 'config get': ['time'], completion: ['bash'] },
};

/** Returns the commands that a row names, and its option behind a command that has it. */
function commandsIn(row: Row): string[][] {
  const start = textOf(adviceOf(row, [])).replace(/^use:? (?:imgctl )?/, '');
  const key = Object.keys(WORDS).findLast((each) => start.startsWith(each)) ?? '';
  const advice = adviceOf(row, WORDS[key] ?? [], ['images', 'list']);
  const option = /^use (-\S+(?: [^\s;,]+(?=[;,]|$))?)/.exec(textOf(advice))?.[1];
  if (option === undefined) return commandsOf(advice);
  const owner = lineOf(row, '-')
    .replace(/^push /, 'push web.ova ')
    .slice(0, -2);
  const words = `${owner} ${option}`.split(' ').map((word) => word.replace(/^'(.*)'$/, '$1'));
  return [words, ...commandsOf(advice)];
}

it('every command and option that a guess names works', async () => {
  const { env, work, emulator } = await folderUser({ tokenLimit: 100 });
  writeOva(work, 'web');
  writeFileSync(path.join(work, 'ca.pem'), selfSigned('localhost').cert);
  const io = { cwd: work, env: { ...env, ...PASSWORD }, time: Date.now() };
  const { stdout: id } = await runCli(['images', 'list', '-q', '-n', '1'], io);
  const values = {
    ID: id.trim(),
    USER: 'demo',
    KEY: 'time',
    VALUE: 'iso',
    FILE: 'ca.pem',
    URL: emulator.baseUrl,
  };
  const run = async (words: readonly string[]) => ({ words, ...(await runCli(words, io)) });
  const before = ['push web.ova', 'images lock add web ubuntu server', 'config set time iso'];
  for (const line of [...before, 'images lock add old ubuntu server']) await run(line.split(' '));
  const lines = GUESSES.flatMap(commandsIn).map((words) => {
    return words.map((word) => Object.entries(values).find(([name]) => name === word)?.[1] ?? word);
  });
  const commands = [...new Map(lines.map((words) => [words.join(' '), words])).values()];
  // It removes what others need.
  const isLast = ([first, verb]: readonly string[]) => first === 'profile' && verb === 'delete';
  const results: Awaited<ReturnType<typeof run>>[] = [];
  for (const words of commands.filter((each) => !isLast(each))) results.push(await run(words));
  for (const words of commands.filter(isLast)) results.push(await run(words));
  expect(results.filter(({ exitCode }) => exitCode !== 0)).toEqual([]);
  expect(results.length).toBeGreaterThan(40);
});

it.each([
  ['images list ubuntu --count', 'use: imgctl images list -q ubuntu | wc -l\n'],
  ['images list -f id=3 --count=2', "use: imgctl images list -q 2 -f 'id=3' | wc -l\n"],
  ['images list a --latest --mine', 'use: imgctl images latest a --mine\n'],
  [
    'images list a --from b.json --jq .x',
    'pipe JSON to jq: imgctl images list a --from b.json --json | jq',
  ],
  ['images list --count --pass hunter2', 'use: imgctl images list -q | wc -l\n'],
  ['images -n 5 list', 'use: imgctl images list -n 5\n'],
  ['config --get time', 'use: imgctl config get time\n'],
  ['config --set password hunter2', 'use: imgctl config set\n'],
  ['--wait sync', 'put it after the command; '],
  ['images list --sort-by -name', 'use -s FIELD, or -s FIELD,desc\n'],
  ['images list -json', 'did you mean --json?\n'],
  ['images list -columns id', 'did you mean --columns?\n'],
  ['images list -', 'omit it\n'],
  ['images lock we:b ubuntu', 'use: imgctl images lock add NAME ubuntu\n'],
  ['my-images get 3', "use: imgctl images get --mine 3; to search for the word: -f 'name~get'\n"],
  ['help delete', 'public images cannot be deleted; '],
  ['images lock web', 'use: imgctl images lock add web TEXT\n'],
  ['images lock web ubuntu 22.04 --file x.json', 'use: imgctl images lock add web ubuntu 22.04\n'],
  ['image rm 3', 'public images cannot be deleted; '],
  ['images lock lis', 'did you mean imgctl images lock list?\n'],
  ['auth login', 'use: imgctl login\n'],
  ['imags ls', 'did you mean imgctl images list?\n'],
  ['config --unset time', 'use: imgctl config unset time\n'],
  ['config show time', 'use: imgctl config get time\n'],
  ['config set upload-password-file pw', 'did you mean upload-password-command?\n'],
  ['config time=iso', 'use: imgctl config set time VALUE\n'],
  ['images list -s id -desc', 'to sort in this direction: -s FIELD,desc\n'],
  ['images changes --since 1w', 'use: imgctl images list --since 1w\n'],
  ['config set time', 'use: imgctl config set time VALUE\n'],
  ['config set time=iso', 'use: imgctl config set time VALUE\n'],
  ['profile rename bob robert', 'edit the file that this command prints: imgctl config path\n'],
  ['login localhost:8080', 'use: imgctl login --base-url localhost:8080\n'],
  ['login https://images.example', 'use: imgctl login --base-url https://images.example\n'],
  ['login hunter2', 'use: imgctl login --username USER\n'],
  ['images list -o jsonl', 'did you mean ndjson? valid: '],
  ['images list -o name', 'use --get name\n'],
  ['images list -o columns=id,name', 'use -c id,name\n'],
  ['images list -o custom-columns=.x', 'use -c a,b\n'],
  ['images inspect 1467', 'use: imgctl images get 1467\n'],
  ['images diff 1003 1004', 'use: imgctl images get 1003 1004\n'],
  ['get image web.ova', 'use: imgctl images get web.ova\n'],
  ['search images ubuntu 24.04', 'use: imgctl images list ubuntu 24.04\n'],
  ["get '$(rm)'", 'use: imgctl images get ID\n'],
  ['pin web ubuntu server', 'use: imgctl images lock add web ubuntu server\n'],
  ['images latest --os ubuntu', 'use: imgctl images latest ubuntu\n'],
  ['images get --path 1003', 'use --get path, or '],
  ['images get 1003 -o path', 'use --get path\n'],
  ['images list --private', 'use: imgctl my-images\n'],
  ['my images', 'use: imgctl my-images\n'],
  ['curl', 'use: imgctl api /v2\n'],
  ['images list --no-color', 'use --color never\n'],
  ['logout --all-profiles', 'use --all\n'],
  ['api get /v2/image', 'use: imgctl api /v2/image\n'],
  ['completion -s bash', 'use: imgctl completion bash\n'],
  [
    'env',
    'set a variable such as IMGCTL_PASSWORD, IMGCTL_TOKEN or HTTPS_PROXY; see: imgctl help environment\n',
  ],
  ['images list --sort-by name -n 5', 'use -s name, or -s name,desc\n'],
  ['images list --sort-by=hunter2', 'use -s FIELD, or -s FIELD,desc\n'],
  ['images list --format csv', 'use -o csv; see: imgctl help output\n'],
  ['images unlock web', 'use: imgctl images lock remove web\n'],
  ['cp a.ova s3://bucket', 'use: imgctl push a.ova\n'],
  ['sync 3', 'use: imgctl sync-status 3\n'],
  ['sync wait 3', 'use: imgctl sync-status 3 --wait\n'],
  ['sync --no-wait', 'omit it: it is the default\n'],
  ['images list --max-items 5', 'use -n 5\n'],
  ['images list --where=hunter2', 'use -f FIELD=VALUE; see: imgctl help filters\n'],
  [
    'images list --before=hunter2',
    "use -f 'updated_on<TIME', or -f 'updated_on>=TIME' for newer ones\n",
  ],
  ['images list --older-than 30d', "use -f 'updated_on<30d', or -f 'updated_on>=30d' "],
  ['images list ubuntu --exclude rc', "use -f 'name!~rc'\n"],
  ['images --filter name=web', "use: imgctl images list --filter 'name=web'\n"],
  ['config base-url https://x', 'use: imgctl config set base-url VALUE\n'],
  ["images list -f 'name=~^ubuntu'", "did you mean 'name,like,ubuntu%'?\n"],
  ["images list -f 'name=~ubuntu$'", "did you mean 'name,like,%ubuntu'?\n"],
  ['images list --from -', 'to read standard input, use /dev/stdin\n'],
  ["images list -f 'name =~ a'", "did you mean 'name~a'?\n"],
  ['images list -s updated_on:desc', 'did you mean updated_on,desc?\n'],
  ['images list -s -updated_on', 'did you mean updated_on,desc?\n'],
  ['images list -s updated_on,dsc', 'did you mean desc? valid: asc, desc\n'],
  ['images list --since yesterday', 'did you mean 1d?\n'],
  ['images list --since 1month', 'did you mean 30d?\n'],
  [
    'images list --since may',
    'use 2024-01-31, 2024-01-31T12:00:00Z, 30d (units: s, m, h, d, w or y) or ',
  ],
  [
    'push web.ova --to http://host/x',
    'did you mean dav+http://host/x? Otherwise, use a URL such as ',
  ],
])('imgctl %s gets the hint %s', async (line, hint) => {
  expect(await localUser().imgctl(line)).toEqual(failed(2, `\nhint: ${hint}`));
});

it.each([
  ...['stash', 'set', 'images ubuntu', 'constructor', '-p images list'],
  ...['--as images list', '-u x images list'],
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
