// The completion scripts, by shell.

import type { Command } from 'commander';
import { COMPLETION_FILES } from '../../commands/completion.ts';
import { bashScript } from './bash.ts';
import { fishScript } from './fish.ts';
import { completionModel } from './model.ts';
import { powershellScript } from './powershell.ts';
import { zshScript } from './zsh.ts';

/** The text of each script by its path from the root of the project. */
export function completionFiles(root: Command): ReadonlyMap<string, string> {
  const model = completionModel(root);
  return new Map([
    [COMPLETION_FILES.bash, bashScript(model)],
    [COMPLETION_FILES.zsh, zshScript(model)],
    [COMPLETION_FILES.fish, fishScript(model)],
    [COMPLETION_FILES.powershell, powershellScript(model)],
  ]);
}
