// Types command lines into a real shell on a pseudo terminal.

import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { COMMAND, type Environment, SHELL_COMMAND } from '../support/cli.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;

export type Shell = (typeof SHELLS)[number];

/** Returns what the tests of that shell lack on this machine. */
export function missingFor(shell: Shell): string | undefined {
  // `script` is what makes a pseudo terminal for it.
  const missing = [shell, 'script'].filter((name) => spawnSync(name, ['--version']).error);
  return missing.length === 0 ? undefined : `${missing.join(' and ')} not installed`;
}

/** Keys bound in START_UP. */
export const INSERT_ALL = '\u0014';
export const LIST = '\u0019';
const TAKE = '\u0007';
const READY = 'ready for keys';
const NEXT_LINE = '\u001e';

/** Three keys: the line goes to the shell's own parser and its words to a file; all matches at once; a list of them. */
const START_UP: Readonly<Record<Shell, string>> = {
  bash: `
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

/** A user's machine: a home, a folder to work in, imgctl on the path, and the script of each shell. */
export class Machine {
  readonly #root = mkdtempSync(path.join(tmpdir(), 'imgctl-completion-'));
  /** Where the command lines are typed. */
  readonly folder = path.join(this.#root, 'work');
  readonly env: Environment;

  constructor(env: Environment) {
    const programs = path.join(this.#root, 'bin');
    const home = path.join(this.#root, 'home');
    for (const directory of [home, this.folder, programs]) mkdirSync(directory);
    const program = path.join(programs, 'imgctl');
    writeFileSync(program, `#!/bin/sh\nexec ${SHELL_COMMAND} "$@"\n`);
    chmodSync(program, 0o755);
    this.env = {
      HOME: home,
      PATH: `${programs}:${process.env.PATH}`,
      LANG: 'C.UTF-8',
      TERM: 'xterm',
      ...env,
    };
  }

  /** Runs the program, which must succeed, and returns its output. */
  async run(...argv: string[]): Promise<string> {
    const [program, ...words] = COMMAND;
    return (await promisify(execFile)(program, [...words, ...argv], { env: this.env })).stdout;
  }

  /** A new folder with the script of a shell in the file `script`. */
  async #folderFor(shell: Shell): Promise<string> {
    const folder = mkdtempSync(path.join(this.#root, `${shell}-`));
    writeFileSync(path.join(folder, 'script'), await this.run('completion', shell));
    return folder;
  }

  /** What fish offers for each line, without descriptions. */
  async offersOfFish(lines: readonly string[]): Promise<readonly string[][]> {
    const commands = `
      source '${await this.#folderFor('fish')}/script'
      for line in $argv
        complete -C $line
        printf '${NEXT_LINE}\\n'
      end`;
    const { stdout } = await promisify(execFile)(
      'fish',
      ['--no-config', '-c', commands, ...lines],
      { env: this.env, cwd: this.folder },
    );
    return stdout
      .split(`${NEXT_LINE}\n`)
      .slice(0, -1)
      .map((record) => record.split('\n').slice(0, -1))
      .map((offers) => offers.map((offer) => offer.split('\t')[0] ?? ''));
  }

  /**
   * Types each line, without Enter, into the shell.
   * @returns the words of each, as the shell itself reads them, and all that came to the terminal
   */
  async type(
    shell: Shell,
    lines: readonly string[],
  ): Promise<{ words: readonly string[][]; terminal: string }> {
    const folder = await this.#folderFor(shell);
    const startUp = path.join(folder, '.zshrc');
    const taken = path.join(folder, 'taken');
    writeFileSync(startUp, `${START_UP[shell]}\nsource '${folder}/script'\n`);
    const command = {
      bash: `bash --rcfile '${startUp}' -i`,
      zsh: 'zsh -i',
      fish: `fish --no-config -i -C 'source ${startUp}'`,
    }[shell];
    const child = spawn('script', ['-qec', command, '/dev/null'], {
      env: { ...this.env, ZDOTDIR: folder, TAKEN: taken, SHELL: '/bin/sh' },
      cwd: this.folder,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const terminal = await converse(child, lines.map((line) => `${line}${TAKE}`).join(''));
    const text = existsSync(taken) ? readFileSync(taken, 'utf8') : '';
    const words = text
      .split(`${NEXT_LINE}\0`)
      .slice(0, -1)
      .map((record) => record.split('\0').slice(0, -1));
    return { words, terminal };
  }

  remove(): void {
    rmSync(this.#root, { recursive: true });
  }
}

/** Types once the shell is ready, then ends it. */
async function converse(child: ChildProcess, keys: string): Promise<string> {
  let terminal = '';
  let isTyped = false;
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    terminal += text;
    if (isTyped || !terminal.includes(READY)) return;
    isTyped = true;
    child.stdin?.write(`${keys}exit\r`);
  });
  await once(child, 'close');
  return terminal;
}
