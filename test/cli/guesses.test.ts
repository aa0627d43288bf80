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

/** Returns a command that the place of a row means. */
const commandAt = (place = '') =>
  place.startsWith('+') ? 'images list' : place === '*' ? 'whoami' : place;

const COMMAND_NAMES = COMMANDS.flatMap(({ name, subcommands = [] }) => [
  name,
  ...subcommands.map((each) => `${name} ${each.name}`),
]);

it('every word of the table gets its advice at each place, and no secret is repeated', async () => {
  const seen = new Set(COMMAND_NAMES);
  for (const [words, places, say] of GUESSES) {
    for (const place of places.split('|')) {
      for (const word of words.split('|')) {
        const line = `${commandAt(place)} ${word}`.trim();
        // The first row of a word counts, unless it is a command there.
        if (seen.has(line)) continue;
        seen.add(line);
        const secret = word.startsWith('--') ? '=hunter2' : '';
        const result = await localUser().imgctl(`${line}${secret}`);
        expect([line, result]).toEqual([line, failed(2, say)]);
        expect(result.stderr).not.toContain('hunter2');
      }
    }
  }
  expect(seen.size).toBeGreaterThan(COMMAND_NAMES.length + 100);
});

const EXAMPLES: Readonly<Record<string, string>> = {
  ...{ TEXT: 'ubuntu server', NAME: 'web', KEY: 'time', VALUE: 'iso', FIELD: 'name' },
  ...{ FORMAT: 'json', FILE: 'web.ova' },
};

/** Returns the commands and options that a hint names, as a user would run them. */
function commandsIn([, places, say]: (typeof GUESSES)[number]): string[] {
  const option = /^use (-\S+(?: (?:'[^']+'|[^\s;,]+(?=[;,]|$)|\S+,\S+))?)/.exec(say)?.[1];
  const [place] = places.split('|');
  if (option) return [`${place === 'push' ? 'push web.ova' : commandAt(place)} ${option}`];
  return [...say.matchAll(/[:,] imgctl ((?:-*[\w-]+ ?)+)/g)].map(([, words = '']) => words.trim());
}

it('every command and option that a guess names works', async () => {
  const { env, work, emulator } = await folderUser();
  writeOva(work, 'web');
  writeFileSync(path.join(work, 'ca.pem'), selfSigned('localhost').cert);
  const io = { cwd: work, env: { ...env, ...PASSWORD }, time: Date.now() };
  const run = async (line: string) => {
    const words = line.split(' ').map((word) => word.replaceAll("'", ''));
    return { line, ...(await runCli(words, io)) };
  };
  const lock = (name: string) => `images lock add ${name} ubuntu server`;
  for (const line of ['push web.ova', lock('web'), lock('old')]) await run(line);
  const { stdout: id } = await run('images list -q -n 1');
  const results: { line: string; stderr: string; exitCode: number }[] = [];
  for (const row of GUESSES) {
    for (const command of commandsIn(row)) {
      const line = command
        .replace('remove NAME', 'remove old')
        .replace('add NAME', `add new-${results.length}`)
        .replace('--mine ID', '--mine 1000001')
        .replace('ID', id.trim())
        .replace('--mine TEXT', '--mine web')
        .replace('ca-file FILE', 'ca-file ca.pem')
        .replace('snapshot FILE', 'snapshot all.json')
        .replace('URL', emulator.baseUrl)
        .replace(/\b[A-Z]{2,}\b/g, (word) => EXAMPLES[word] ?? word);
      results.push(await run(line));
    }
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
  ['imgaes list', 'did you mean imgctl images list?\n'],
  ['images lock ls', 'did you mean imgctl images lock list?\n'],
  ['config set upload-password-file pw', 'did you mean upload-password-command?\n'],
  ['config set time=iso', 'use: imgctl config set time VALUE\n'],
  ['login localhost:8080', 'use: imgctl login --base-url localhost:8080\n'],
  ['login https://images.example', 'use: imgctl login --base-url https://images.example\n'],
  ['login hunter2', 'see: imgctl login --help\n'],
  ['images list -o jsonl', 'did you mean ndjson? valid: '],
  ['images list -o wide', 'use -c all\n'],
  ['images list -o name', 'use --get name\n'],
  ['images list -o columns=id,name', 'use -c a,b\n'],
  ['image ls', 'did you mean imgctl images list?\n'],
  ["images list -f 'id<>3'", "did you mean 'id!=3'?\n"],
  ["images list -f 'name =~ a'", "did you mean 'name~a'?\n"],
  ["images list -f 'id=>3'", "did you mean 'id>=3'?\n"],
  ["images list -f 'id=<3'", "did you mean 'id<=3'?\n"],
  ['images list -s updated_on:desc', 'did you mean updated_on,desc?\n'],
  ['images list -s -updated_on', 'did you mean updated_on,desc?\n'],
  ['images list -s updated_on,dsc', 'did you mean desc? valid: asc, desc\n'],
  ['images list --since yesterday', 'use a duration such as 7d (units: m, h, d, w or y), or '],
  ['push web.ova --to http://host/x', 'did you mean dav+http://host/x? else use a URL such as '],
])('imgctl %s gets the hint %s', async (line, hint) => {
  expect(await localUser().imgctl(line)).toEqual(failed(2, `\nhint: ${hint}`));
});

it.each([
  ...['deploy', 'use', 'set', 'log', 'images ubuntu', 'constructor', '-p images list'],
  ...['--as images list', '-k images list', '-u x images list'],
  ...['push x.ova --all', 'validate x.ova --folder x', 'login --mine', 'images list --wide'],
])('imgctl %s gets no guess, but the help', async (line) => {
  expect(await localUser().imgctl(line)).toEqual(failed(2, /\nhint: see: imgctl .*--help\n$/));
});
