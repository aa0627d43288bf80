// imgctl completion: prints the script that makes a shell complete imgctl's command line.

import type { Context } from '../context.ts';
import { readPackageFile } from './package-file.ts';

/** The script for each shell, under the name that the shell's own folders want. */
export const COMPLETION_FILES = {
  bash: 'completions/imgctl.bash',
  zsh: 'completions/_imgctl',
  fish: 'completions/imgctl.fish',
  powershell: 'completions/imgctl.ps1',
} as const;

type Shell = keyof typeof COMPLETION_FILES;

export async function run(context: Context, _options: object, shell: Shell): Promise<void> {
  await context.console.print(readPackageFile(COMPLETION_FILES[shell]));
}
