// imgctl completion: prints the completion script for a shell.

import fs from 'node:fs';
import path from 'node:path';
import { getAsset, isSea } from 'node:sea';
import type { Context } from '../context.ts';

/** The script for each shell, with the file name that the shell expects. */
export const COMPLETION_FILES = {
  bash: 'completions/imgctl.bash',
  zsh: 'completions/_imgctl',
  fish: 'completions/imgctl.fish',
  powershell: 'completions/imgctl.ps1',
} as const;

type Shell = keyof typeof COMPLETION_FILES;

export async function run(context: Context, _options: object, shell: Shell): Promise<void> {
  const name = COMPLETION_FILES[shell];
  await context.console.print(isSea() ? getAsset(name, 'utf8') : readScript(name));
}

function readScript(name: string): string {
  // Both src/commands and dist/chunks are two folders deep. A single executable has no folder.
  return fs.readFileSync(path.join(import.meta.dirname, '../..', name), 'utf8');
}
