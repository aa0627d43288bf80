// Completion in real shells on a pseudo terminal: what is offered, and that names are never more than text.

import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cataloguePage, testImage } from '../support/catalogue-page.ts';
import { runCli } from '../support/io.ts';
import { COMMAND, writePrograms } from '../support/program.ts';
import { NO_TERMINAL } from '../support/pseudo-terminal.ts';
import { missing, skipped } from '../support/requirements.ts';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.ts';
import type { Environment } from '../support/users.ts';

type Shell = 'bash' | 'zsh' | 'fish';

/** What the tests of a shell lack on this machine, for their titles. */
function missingFor(shell: Shell): string {
  return skipped(missing(shell) || NO_TERMINAL);
}

/** Keys bound in START_UP. */
const INSERT_ALL = '\u0014';
const LIST = '\u0019';
const TAKE = '\u0007';
const READY = 'ready for keys';
const NEXT_LINE = '\u001e';

/** Three keys: the line goes to the shell's own parser and its words to a file; all matches at once; a list of them. */
const START_UP: Readonly<Record<Shell, string>> = {
  bash: `
    IFS=:
    bind 'set bell-style none'
    bind 'set completion-query-items 0'
    bind 'set page-completions off'
    take() {
      local words
      eval "words=($READLINE_LINE)"
      printf '%s\\0' "\${words[@]}" '${NEXT_LINE}' >> "$TAKEN"
      READLINE_LINE='' READLINE_POINT=0
    }
    bind -x '"${TAKE}": take'
    bind '"${INSERT_ALL}": insert-completions'
    bind '"${LIST}": possible-completions'
    PS1='${READY} '`,
  zsh: `
    unsetopt beep
    autoload -Uz compinit
    compinit -u -D
    take() {
      local words
      eval "words=($BUFFER)"
      printf '%s\\0' "\${words[@]}" '${NEXT_LINE}' >> "$TAKEN"
      BUFFER=
    }
    zle -N take
    insert-all() { _main_complete; compstate[insert]=all compstate[list]= }
    zle -C insert-all complete-word insert-all
    bindkey -e
    bindkey '${TAKE}' take
    bindkey '${INSERT_ALL}' insert-all
    bindkey '${LIST}' list-choices
    PS1='${READY} '`,
  fish: `
    function take
      eval "set words $(commandline)"
      printf '%s\\0' $words '${NEXT_LINE}' >> $TAKEN
      commandline -r ''
    end
    bind ${TAKE} take
    bind ${LIST} complete
    function fish_prompt; printf '${READY} '; end
    function fish_greeting; end`,
};

/** What is typed after `imgctl `, and what the shell offers: the lines that a shell splits or ends in its own way. */
const OFFERS: readonly (readonly [string, readonly string[]])[] = [
  ['images l', ['list', 'ls', 'latest', 'lock']],
  ['--profile=st', ['--profile=staging']],
  ['--base-url=http://x --json images li', ['list']],
  ['images list --output=t', ['--output=table', '--output=tsv']],
  ['images list --columns id,name,p', ['id,name,path', 'id,name,public']],
  ['images list -f name,l', ['name,lt,', 'name,le,', 'name,like,']],
  ['my-images --filter=folder,ne,l', ['--filter=folder,ne,linux']],
  ['push ', ['disk one.ova', 'uploads', 'web.OVF']],
  ['sync-status ', ['1000', '999', '998']],
  ['images get -- -', ['-dash']],
  ['images list ', []],
  ['nope l', []],
];

/** Names that a shell would interpret; none is offered. */
const HOSTILE = [
  'a $(touch x)`touch x`',
  'b;touch x|touch x&<>',
  'c it\'s "quoted"',
  'd\nline\u001b[31mred\u009b31m',
  'e@*?[a]{b,c}#~^\\!',
  '$(touch x)',
  'right\u202eleft',
];

/** Names that can stand as they are. */
const PLAIN = ['f:colon=ü', 'path/to+it%20,x', 'zplain_1.2-3.ova'];

const NAMES = [...HOSTILE, ...PLAIN, '-dash'];

const root = mkdtempSync(path.join(tmpdir(), 'imgctl-completion-'));
/** Where the command lines are typed. */
const work = path.join(root, 'work');

let server: ScriptedServer;
let env: Environment;

beforeAll(async () => {
  const ids = [998, 999, 1000];
  const images = NAMES.map((name, index) => ({ ...testImage(index + 1), name }));
  server = await startScriptedServer(({ url, method }) =>
    method === 'PATCH'
      ? { status: 202, json: { request: { id: ids.shift(), status: 'PENDING' } } }
      : { json: cataloguePage(url, images) },
  );
  for (const name of ['home', 'work/uploads']) {
    mkdirSync(path.join(root, name), { recursive: true });
  }
  writePrograms(path.join(root, 'bin'));
  for (const name of ['disk one.ova', 'web.OVF', 'notes.txt']) {
    writeFileSync(path.join(work, name), '');
  }
  env = {
    HOME: path.join(root, 'home'),
    PATH: `${path.join(root, 'bin')}:${process.env.PATH}`,
    LANG: 'C.UTF-8',
    TERM: 'xterm',
    IMGCTL_BASE_URL: server.baseUrl,
    IMGCTL_TOKEN: 'T',
  };
  const lines = ['config set time iso --profile default', 'config set time iso --profile staging'];
  for (const line of [...lines, 'images list', 'sync', 'sync', 'sync']) {
    expect(await runCli(line.split(' '), { env })).toMatchObject({ exitCode: 0 });
  }
});

afterAll(async () => {
  await server.close();
  rmSync(root, { recursive: true });
});

/** A new folder with the script of a shell in the file `script`. */
function folderFor(shell: Shell): string {
  const folder = mkdtempSync(path.join(root, `${shell}-`));
  const [program, ...words] = [...COMMAND, 'completion', shell];
  writeFileSync(path.join(folder, 'script'), execFileSync(program, words));
  return folder;
}

/** Returns the records of a text, each ending with a mark and of fields with an end. */
const recordsOf = (text: string, fieldEnd: string) =>
  text
    .split(`${NEXT_LINE}${fieldEnd}`)
    .slice(0, -1)
    .map((record) => record.split(fieldEnd).slice(0, -1));

/** What fish offers for each line, without descriptions. */
async function offersOfFish(lines: readonly string[]): Promise<readonly string[][]> {
  const commands = `
    source '${folderFor('fish')}/script'
    for line in $argv
      complete -C $line
      printf '${NEXT_LINE}\\n'
    end`;
  const args = ['--no-config', '-c', commands, ...lines];
  const { stdout } = await promisify(execFile)('fish', args, { env, cwd: work });
  return recordsOf(stdout, '\n').map((offers) => offers.map((offer) => offer.split('\t')[0] ?? ''));
}

/**
 * Types each line into the shell, without Enter, once it is ready.
 * @returns the words of each, as the shell itself reads them, and all that came to the terminal
 */
async function type(shell: Shell, ...lines: string[]) {
  const folder = folderFor(shell);
  const startUp = path.join(folder, '.zshrc');
  const taken = path.join(folder, 'taken');
  writeFileSync(startUp, `${START_UP[shell]}\nsource '${folder}/script'\n`);
  const command = {
    bash: `bash --rcfile '${startUp}' -i`,
    zsh: 'zsh -i',
    fish: `fish --no-config -i -C 'source ${startUp}'`,
  }[shell];
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    env: { ...env, ZDOTDIR: folder, TAKEN: taken, SHELL: '/bin/sh' },
    cwd: work,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  let terminal = '';
  let keys = `${lines.map((line) => `${line}${TAKE}`).join('')}exit\r`;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    terminal += text;
    if (keys === '' || !terminal.includes(READY)) return;
    child.stdin.write(keys);
    keys = '';
  });
  await once(child, 'close');
  const words = recordsOf(existsSync(taken) ? readFileSync(taken, 'utf8') : '', '\0');
  return { words, terminal };
}

/** All words that a shell would put in the place of the last one, for each line. */
async function offersOf(shell: Shell, lines: readonly string[]): Promise<readonly string[][]> {
  if (shell === 'fish') return offersOfFish(lines);
  const { words } = await type(shell, ...lines.map((line) => `${line}${INSERT_ALL}`));
  return lines.map((line, index) => {
    const typed = line.split(' ');
    const last = typed.at(-1) ?? '';
    const found = (words[index] ?? []).slice(typed.length - 1);
    if (found.length === 1 && found[0] === last) return [];
    // Bash completes only the part after a = or :.
    const lead = shell === 'bash' ? (/^.*[=:]/.exec(last)?.[0] ?? '') : '';
    return found.map((word, place) => (place === 0 ? word : `${lead}${word}`));
  });
}

describe.concurrent.each(['bash', 'zsh', 'fish'] as const)('%s', (shell) => {
  const absent = missingFor(shell);

  it.skipIf(absent)(`offers what fits in order, without the service${absent}`, async () => {
    const before = server.requests.length;
    const offers = await offersOf(
      shell,
      OFFERS.map(([line]) => `imgctl ${line}`),
    );
    // Some shells show folders with a slash.
    const found = offers.map((words) => words.map((word) => word.replace(/\/$/, '')));
    expect(OFFERS.map(([line], index) => [line, found[index]])).toEqual(OFFERS);
    expect(server.requests.length).toBe(before);
  });

  it.skipIf(absent)(`completes plain names only${absent}`, async () => {
    const keys = [...PLAIN.map((name) => name.charAt(0)), 'f:co', 'f:colon=', 'a', 'e'];
    const { words } = await type(shell, ...keys.map((key) => `imgctl images get ${key}\t`));
    const [first = ''] = PLAIN;
    const found = [...PLAIN, first, first, 'a', 'e'];
    expect(words).toEqual(found.map((name) => ['imgctl', 'images', 'get', name]));
    expect(existsSync(path.join(work, 'x'))).toBe(false);
  });

  it.skipIf(absent)(`lists options once on a line, and names escaped${absent}`, async () => {
    const lines = ['sync -', 'images get '];
    const { terminal } = await type(shell, ...lines.map((line) => `imgctl ${line}${LIST}`));
    expect(terminal.match(/--dry-run\b/g)).toHaveLength(1);
    const shown = terminal.replaceAll(/\u001b\[[\d;?]*[A-Za-z]/g, '').split(/[\r\n]+/);
    expect(shown.filter((text) => text.startsWith('--') && text.length > 80)).toEqual([]);
    expect(terminal).not.toMatch(/\s-h\b/);
    expect(terminal).toContain('zplain');
    expect(terminal).not.toMatch(/line\u001b\[31|\u009b|\u202e/);
  });
});

const absent = missingFor('bash');

it.skipIf(absent)(
  `bash completes between quotes and after a backslash, also with another IFS${absent}`,
  async () => {
    const names = ['"z', "'z", '"f', "'f:c", '"f:colon='].map((name) => `images get ${name}`);
    const options = [`images list --columns='id,na`, 'images list --from="uploads/../no'];
    const files = ['push disk\\ o', 'push "disk o', `--profile 'a b' push 'disk o`];
    const lines = [...names, ...options, ...files].map((line) => `imgctl ${line}\t`);
    const { words } = await type('bash', ...lines);
    const [colon, , plain] = PLAIN;
    const disks = files.map(() => 'disk one.ova');
    expect(words.map((line) => line.at(-1))).toEqual([
      ...[plain, plain, colon, colon, colon],
      ...['--columns=id,name', '--from=uploads/../notes.txt'],
      ...disks,
    ]);
  },
);

const noFish = missingFor('fish');

it.skipIf(noFish)(`fish completes between quotes, and after a backslash${noFish}`, async () => {
  const lines = [`images list -c 'id,na`, 'my-images --filter="folder,ne,l', 'push disk\\ o'];
  const offers = await offersOfFish(lines.map((line) => `imgctl ${line}`));
  expect(offers).toEqual([['id,name'], ['--filter=folder,ne,linux'], ['disk one.ova']]);
});
