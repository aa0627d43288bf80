// The declarations of all commands, as tests compare them with what the program does.

import type { CommandDeclaration } from '../../src/cli/command-types.ts';
import { COMMANDS } from '../../src/commands/index.ts';

/** Returns each command that is no group, with its words: `images list`. */
export function leavesOf(
  commands = COMMANDS,
  parents: readonly string[] = [],
): [path: string, command: CommandDeclaration][] {
  return commands
    .filter(({ hidden }) => !hidden)
    .flatMap((command) => {
      const path = [...parents, command.name];
      const { subcommands = [] } = command;
      return subcommands.length > 0 ? leavesOf(subcommands, path) : [[path.join(' '), command]];
    });
}
