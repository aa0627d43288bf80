// The advice for what people type who know other tools, straight from its table.

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { GUESSES } from '../../src/cli/guesses.ts';
import { COMMANDS } from '../../src/commands/index.ts';
import { selfSigned } from '../support/certificate.ts';
import { failed, runCli } from '../support/io.ts';
import { folderUser, writeOva } from '../support/uploads.ts';
import { localUser, PASSWORD } from '../support/users.ts';

/** Returns what a hint says if nothing fitting was typed. */
const filled = (text: string) => text.replace('#', '20').replace('TIME', '30d');

/** Returns a command that the place of a row means. */
const commandAt = (place = '') =>
  place.startsWith('+') ? 'images list' : (COMMAND_AT[place] ?? place);

const COMMAND_AT: Readonly<Record<string, string>> = { '*': 'whoami', setting: 'config get' };

const COMMAND_NAMES = COMMANDS.flatMap(({ name, subcommands = [] }) => [
  name,
  ...subcommands.map((each) => `${name} ${each.name}`),
]);

it('every word of the table gets its advice at each place, and no secret is repeated', async () => {
  const seen = new Set(COMMAND_NAMES);
  for (const [words, places, say] of GUESSES) {
    for (const place of places.split('|')) {
      for (const word of words.split('|')) {
        const line = `${commandAt(place)} ${filled(word)}`.trim();
        // The first row of a word counts, unless it is a command there.
        if (seen.has(line)) continue;
        seen.add(line);
        const secret = word.startsWith('--') ? '=hunter2' : '';
        const result = await localUser().imgctl(`${line}${secret}`);
        expect({ line, result }).toEqual({ line, result: failed(2, filled(say)) });
        expect(result.stderr).not.toContain('hunter2');
      }
    }
  }
  expect(seen.size).toBeGreaterThan(COMMAND_NAMES.length + 100);
});

const EXAMPLES: Readonly<Record<string, string>> = {
  ...{ TEXT: 'ubuntu server', NAME: 'web', KEY: 'time', VALUE: 'iso', FIELD: 'name' },
  ...{ FORMAT: 'json', FILE: 'web.ova', TIME: '30d', FOLDER: '.' },
};

/** Returns the commands and options that a hint names, as a user would run them. */
function commandsIn([, places, say]: (typeof GUESSES)[number]): string[] {
  const option = /^use (-\S+(?: (?:'[^']+'|[^\s;,]+(?=[;,]|$)|\S+,\S+))?)/.exec(say)?.[1];
  const [place] = places.split('|');
  if (option) return [`${place === 'push' ? 'push web.ova' : commandAt(place)} ${option}`];
  return [...say.matchAll(/[:,] imgctl ((?:[\w/#-]+ ?)+)/g)].map(([, words = '']) => words.trim());
}

it('every command and option that a guess names works', async () => {
  const { env, work, emulator } = await folderUser({ tokenLimit: 100 });
  writeOva(work, 'web');
  writeFileSync(path.join(work, 'ca.pem'), selfSigned('localhost').cert);
  const io = { cwd: work, env: { ...env, ...PASSWORD }, time: Date.now() };
  const run = async (line: string) => {
    const words = line.split(' ').map((word) => word.replaceAll("'", ''));
    return { line, ...(await runCli(words, io)) };
  };
  const lock = (name: string) => `images lock add ${name} ubuntu server`;
  const before = ['push web.ova', lock('web'), lock('old'), 'config set time iso'];
  for (const line of before) await run(line);
  const { stdout: id } = await run('images list -q -n 1');
  const results: { line: string; stderr: string; exitCode: number }[] = [];
  const commands = [...new Set(GUESSES.flatMap(commandsIn))];
  // Some remove what others need.
  const isLast = (command: string) => /^(?:logout|profile delete|config unset)/.test(command);
  const sorted = commands.sort((left, right) => Number(isLast(left)) - Number(isLast(right)));
  for (const command of sorted) {
    const line = command
      .replace('remove NAME', 'remove old')
      .replace('add NAME', `add new-${results.length}`)
      .replace('--mine ID', '--mine 1000001')
      .replace('ID', id.trim())
      .replace('--mine TEXT', '--mine web')
      .replace('ca-file FILE', 'ca-file ca.pem')
      .replace('snapshot FILE', 'snapshot all.json')
      .replace('sync-status #', 'sync-status 1')
      .replace('#', '20')
      .replace('profile use NAME', 'profile use default')
      .replace('--profile NAME', '--profile default')
      .replace('profile delete NAME', 'profile delete default')
      .replace('URL', emulator.baseUrl)
      .replace(/\b[A-Z]{2,}\b/g, (word) => EXAMPLES[word] ?? word);
    results.push(await run(line));
  }
  expect(results.filter(({ exitCode }) => exitCode !== 0)).toEqual([]);
  expect(results.length).toBeGreaterThan(40);
});

it.each([
  ['my-images list', "use: imgctl my-images; to search for the word: -f 'name~list'\n"],
  ['help delete', 'public images cannot be deleted; '],
  ['images lock web', 'use: imgctl images lock add web TEXT\n'],
  ['images lock ubuntu 22.04 server', 'use: imgctl images lock add NAME ubuntu 22.04 server\n'],
  ['image rm 3', 'public images cannot be deleted; '],
  ['images lock ls', 'did you mean imgctl images lock list?\n'],
  ['config set upload-password-file pw', 'did you mean upload-password-command?\n'],
  ['config set time=iso', 'use: imgctl config set time VALUE\n'],
  ['profile rename bob robert', 'change its name in the settings file: imgctl config path; '],
  ['login localhost:8080', 'use: imgctl login --base-url localhost:8080\n'],
  ['login https://images.example', 'use: imgctl login --base-url https://images.example\n'],
  ['login hunter2', 'see: imgctl login --help\n'],
  ['images list -o jsonl', 'did you mean ndjson? valid: '],
  ['images list -o name', 'use --get name\n'],
  ['images list -o columns=id,name', 'use -c id,name\n'],
  ['images list -o custom-columns=.x', 'use -c a,b\n'],
  ['images describe 1467', 'use: imgctl images get 1467\n'],
  ['get image web.ova', 'use: imgctl images get web.ova\n'],
  ['search images ubuntu 24.04', 'use: imgctl images list ubuntu 24.04\n'],
  ["get '$(rm)'", 'use: imgctl images get ID\n'],
  ['images lock create web ubuntu server', 'use: imgctl images lock add web ubuntu server\n'],
  ['images unlock web', 'use: imgctl images lock remove web\n'],
  ['cp a.ova s3://bucket', 'use: imgctl push a.ova\n'],
  ['sync 3', 'use: imgctl sync-status 3\n'],
  ['sync wait 3', 'use: imgctl sync-status 3 --wait\n'],
  ['sync --no-wait', 'omit it: it waits only with --wait\n'],
  ['images list --headers', 'omit it: headers are shown unless you use --no-header\n'],
  ['images list --max-items 5', 'use -n 5\n'],
  ['images list --page-size=5', 'use --per-page 5\n'],
  ['images list --before 1y', "use -f 'updated_on<1y'\n"],
  ['images list --before=hunter2', "use -f 'updated_on<30d'\n"],
  ['images --filter name=web', 'use: imgctl images list --filter\n'],
  ['config base-url https://x', 'use: imgctl config set base-url VALUE\n'],
  ["images list -f 'name=~^ubuntu'", "did you mean 'name,like,ubuntu%'?\n"],
  ["images list -f 'name=~ubuntu$'", "did you mean 'name,like,%ubuntu'?\n"],
  ['images list --from -', 'to read standard input, use /dev/stdin\n'],
  ['image ls', 'did you mean imgctl images list?\n'],
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
  ...['--as images list', '-k images list', '-u x images list'],
  ...['push x.ova --all', 'validate x.ova --folder x', 'login --mine', 'images list --long'],
])('imgctl %s gets no guess, but the help', async (line) => {
  expect(await localUser().imgctl(line)).toEqual(failed(2, /\nhint: see: imgctl .*--help\n$/));
});
