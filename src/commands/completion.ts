// imgctl completion: the script that makes a shell complete imgctl's command line.

import { Argument, type Command } from 'commander';
import type { Context } from '../context.ts';
import { parseChoice } from '../query/suggest.ts';
import { readPackageFile } from './package-file.ts';

/** The script for each shell, under the name that the shell's own folders want. */
export const COMPLETION_FILES = {
  bash: 'completions/imgctl.bash',
  zsh: 'completions/_imgctl',
  fish: 'completions/imgctl.fish',
  powershell: 'completions/imgctl.ps1',
} as const;

type Shell = keyof typeof COMPLETION_FILES;

const SHELLS = Object.keys(COMPLETION_FILES) as Shell[];

const OTHER_NAMES = new Map<string, Shell>([
  ['sh', 'bash'],
  ['pwsh', 'powershell'],
  ['ps1', 'powershell'],
]);

export function define(command: Command, context: Context): void {
  command
    .addArgument(
      new Argument('<shell>', 'the shell that is to complete')
        .choices(SHELLS)
        .argParser(chooseShell),
    )
    .addHelpText('after', EXAMPLES)
    .action((shell: Shell) => context.print(readPackageFile(COMPLETION_FILES[shell])));
}

const EXAMPLES = `
Completes commands, options, formats, fields and settings, also profiles, sync requests and names of images
that were listed on this machine; the service is never asked. To install it for good:

  bash        mkdir -p ~/.local/share/bash-completion/completions
              imgctl completion bash > ~/.local/share/bash-completion/completions/imgctl
              (needs the package bash-completion; without it, in ~/.bashrc: . <(imgctl completion bash))
  zsh         mkdir -p ~/.zfunc && imgctl completion zsh > ~/.zfunc/_imgctl
              and in ~/.zshrc, before compinit: fpath=(~/.zfunc $fpath)
  fish        mkdir -p ~/.config/fish/completions
              imgctl completion fish > ~/.config/fish/completions/imgctl.fish
  powershell  imgctl completion powershell | Out-String | Invoke-Expression
              (the same line in the file that $PROFILE names)

Examples:
  $ . <(imgctl completion bash)
  $ source <(imgctl completion zsh)
  $ imgctl completion fish | source
`;

/** @throws ImgctlError usage */
function chooseShell(text: string): Shell {
  return parseChoice(text, {
    noun: 'shell',
    valid: SHELLS,
    where: 'imgctl completion',
    synonyms: OTHER_NAMES,
  });
}
