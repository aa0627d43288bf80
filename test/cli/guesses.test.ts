// The advice for what people type who know other tools, straight from its table.

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { GUESSES } from '../../src/cli/guesses.ts';
import { selfSigned } from '../support/certificate.ts';
import { leavesOf } from '../support/commands.ts';
import { failed, runCli } from '../support/io.ts';
import { folderUser, writeOva } from '../support/uploads.ts';
import { localUser, PASSWORD } from '../support/users.ts';

/** Returns a command that takes the option which a row names, as its unknown option is typed behind it. */
function lineOf(instead: string, typed: string): string {
  if (!typed.startsWith('-'))
    return typed.replace(/^setting(?= )/, 'config get').replace(/^push$/, 'images push');
  const flag = /^--?\w[\w-]*/.exec(instead)?.[0] ?? '';
  const leaves = leavesOf();
  const images = leaves.filter(([name]) => name.startsWith('images '));
  const owner = [...images, ...leaves].find(([, { options = [] }]) =>
    options.some(({ flags }) => flags.split(/[ ,]+/).includes(flag)),
  );
  return `${owner?.[0] ?? 'images list'} ${typed}`;
}

/** Returns what a hint says if nothing was typed behind it. */
const bare = (instead: string, line: string) =>
  instead
    .replace(' TEXT', '')
    .replace('COMMAND', line.replace(/ -.*/, ''))
    .replace(/^imgctl/, 'use: imgctl')
    .replace(/^-/, 'use -');

it('every row has at least one word, and there are at most 60', () => {
  expect(GUESSES.length).toBeLessThanOrEqual(60);
  const typed = GUESSES.flatMap(([, known]) => known.split(', '));
  expect(typed.filter((words, at) => typed.indexOf(words) !== at)).toEqual([]);
});

it('every word of the table gets its advice, and no secret is repeated', async () => {
  const { imgctl } = localUser();
  for (const [instead, known] of GUESSES) {
    for (const typed of known.split(', ')) {
      const line = lineOf(instead, typed);
      // A number is needed, or the command itself needs a word more.
      const more = /NUMBER/.test(instead)
        ? ' 20'
        : /^(login|config list|api get|api GET)$/.test(line)
          ? ' x'
          : '';
      const secret = line.includes(' --') && !more ? '=hunter2:!' : '';
      const result = await imgctl(`${line}${secret}${more}`);
      const hint = bare(
        instead
          .replace('NUMBER', '20')
          .replace('get NAME', 'get x')
          .replace('api PATH', /^api/.test(line) ? 'api x' : 'api /v2'),
        line,
      );
      expect({ line, result }).toEqual({ line, result: failed(2, `hint: ${hint}`) });
      expect(result.stderr).not.toContain('hunter2');
    }
  }
});

const EXAMPLES: Readonly<Record<string, string>> = {
  ...{ TEXT: 'ubuntu server', NAME: 'web', KEY: 'time', VALUE: 'iso', FIELD: 'name' },
  ...{ FORMAT: 'json', FILE: 'web.ova', TIME: '30d', FOLDER: '.' },
};

/** Returns the commands and options that a hint names, as a user would run them. */
function commandsIn([instead]: (typeof GUESSES)[number]): string[] {
  const option = /^(-\S+(?: (?:'[^']+'|[^\s;,]+(?=[;,]|$)|\S+,\S+))?)/.exec(instead)?.[1];
  const owner = lineOf(instead, '-')
    .replace(/ -$/, '')
    .replace(/^push$/, 'push web.ova');
  if (option) return [`${owner} ${option}`];
  const commands = instead
    .replace('COMMAND', 'images list')
    .matchAll(/\bimgctl (?!lists)((?:[\w/#-]+ ?)+)/g);
  return [...commands].map(([, words = '']) => words.trim());
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
      .replace('sync-status NUMBER', 'sync-status 1')
      .replace('sync-status TEXT', 'sync-status 1')
      .replace('NUMBER', '20')
      .replace('api PATH', 'api /v2')
      .replace('config get NAME', 'config get time')
      .replace('completion TEXT', 'completion bash')
      .replace('--username USER', '--username demo')
      .replace('my-images TEXT', 'my-images web')
      .replace('add NAME TEXT', 'add NAME ubuntu')
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
  ['my-images get 3', "use: imgctl images get --mine 3; to search for the word: -f 'name~get'\n"],
  ['help delete', 'public images cannot be deleted; '],
  ['images lock web', 'use: imgctl images lock add web TEXT\n'],
  ['images lock web ubuntu 22.04 --file x.json', 'use: imgctl images lock add web ubuntu 22.04\n'],
  ['image rm 3', 'public images cannot be deleted; '],
  ['images lock lis', 'did you mean imgctl images lock list?\n'],
  ['auth login', 'use: imgctl login\n'],
  ['imags ls', 'did you mean imgctl images list?\n'],
  ['config --unset time', 'use: imgctl config unset\n'],
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
  ['images list --before=hunter2', 'use -f FIELD=VALUE; see: imgctl help filters\n'],
  ['images --filter name=web', 'use: imgctl images list --filter\n'],
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
