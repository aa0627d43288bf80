// Declares the commands for shells and people: completion, help and version.

import type { CommandSpec } from './spec.ts';
import { TOPIC_NAMES } from './topics.ts';

export const completion: CommandSpec = {
  name: 'completion',
  summary: 'print the completion script for a shell',
  description: [
    'Completes commands, options and their values, profiles, sync requests, and the names, folders and data stores of images that you listed on this machine. Completion never contacts the service.',
    'To install it for bash with the bash-completion package:',
    {
      shell: [
        'mkdir -p ~/.local/share/bash-completion/completions',
        'imgctl completion bash > ~/.local/share/bash-completion/completions/imgctl',
      ],
    },
    'To install it for bash without that package:',
    { shell: [`echo '. <(imgctl completion bash)' >> ~/.bashrc`] },
    'To install it for zsh:',
    {
      shell: [
        'mkdir -p ~/.zfunc',
        'imgctl completion zsh > ~/.zfunc/_imgctl',
        `echo 'fpath=(~/.zfunc $fpath); autoload -Uz compinit; compinit' >> ~/.zshrc`,
      ],
    },
    'To install it for fish:',
    {
      shell: [
        'mkdir -p ~/.config/fish/completions',
        'imgctl completion fish > ~/.config/fish/completions/imgctl.fish',
      ],
    },
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
    {
      name: 'shell',
      description: 'shell to generate completions for: bash, zsh, fish or powershell',
      required: true,
      value: { kind: 'choice', noun: 'shell', words: ['bash', 'zsh', 'fish', 'powershell'] },
    },
  ],
  load: async () => (await import('../completion.ts')).run,
};

/** The completion scripts run this. */
export const complete: CommandSpec = {
  name: '__complete',
  summary: 'print completions of a command line',
  examples: [],
  hidden: true,
  arguments: [{ name: 'word', description: 'words up to the cursor', variadic: true }],
  load: async () => (await import('../complete.ts')).run,
};

export const help: CommandSpec = {
  name: 'help',
  summary: 'show help for a command or topic',
  examples: ['imgctl help images list', 'imgctl help filters'],
  seeAlso: TOPIC_NAMES.map((name) => `help ${name}`),
  arguments: [
    {
      name: 'command or topic',
      description: `a command, or ${TOPIC_NAMES.join(', ')}`,
      variadic: true,
      value: { kind: 'text', from: 'commands' },
    },
  ],
  load: async () => (await import('../help.ts')).run,
};

export const printVersion: CommandSpec = {
  name: 'version',
  summary: 'print the version',
  examples: ['imgctl version', 'imgctl --version'],
  load: async () => (context) => context.console.print(`${context.version}\n`),
};
