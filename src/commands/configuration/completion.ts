// imgctl completion: prints the completion script for a shell.

import fs from 'node:fs';
import path from 'node:path';
import { shell } from '../../cli/command-types.ts';
import { argument, command } from '../../cli/declare.ts';
import type { Result } from '../../cli/result.ts';
import { choice } from '../../config/values.ts';
import type { Context } from '../../context.ts';
import { builtin } from '../../io.ts';

const SHELL = choice('shell', ['bash', 'zsh', 'fish', 'powershell']);

export const completion = command({
  name: 'completion',
  summary: 'print the completion script for a shell',
  description: [
    'Completes commands, options and their values, profiles, sync requests, and the names and folders of images that you listed on this machine. Completion never contacts the service.',
    'To install it for bash with the bash-completion package:',
    shell(
      'mkdir -p ~/.local/share/bash-completion/completions',
      'imgctl completion bash > ~/.local/share/bash-completion/completions/imgctl',
    ),
    'To install it for bash without that package:',
    shell(`echo '. <(imgctl completion bash)' >> ~/.bashrc`),
    'To install it for zsh:',
    shell(
      'mkdir -p ~/.zfunc',
      'imgctl completion zsh > ~/.zfunc/_imgctl',
      `echo 'fpath=(~/.zfunc $fpath); autoload -Uz compinit; compinit' >> ~/.zshrc`,
    ),
    'To install it for fish:',
    shell(
      'mkdir -p ~/.config/fish/completions',
      'imgctl completion fish > ~/.config/fish/completions/imgctl.fish',
    ),
    'To install it for PowerShell:',
    {
      shell: [`'imgctl completion powershell | Out-String | Invoke-Expression' >> $PROFILE`],
      language: 'powershell',
    },
  ],
  examples: [
    '. <(imgctl completion bash)',
    'source <(imgctl completion zsh)',
    'imgctl completion fish | source',
  ],
  arguments: [
    argument('shell', 'shell to generate completions for: bash, zsh, fish or powershell', {
      required: true,
      value: SHELL,
    }),
  ],
  run,
});

async function run(_context: Context, _options: object, shell: string): Promise<Result> {
  const name = `completions/imgctl.${SHELL.parse(shell, 'imgctl completion')}`;
  const { getAsset, isSea } = builtin('node:sea');
  // dist/chunks is two folders deep, this folder three. A single executable has none.
  const files = ['../..', '../../..'].map((up) => path.join(import.meta.dirname, up, name));
  const read = () => fs.readFileSync(files.find(fs.existsSync) ?? name, 'utf8');
  return { text: isSea() ? getAsset(name, 'utf8') : read() };
}
