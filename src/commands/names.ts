// The names of commander's commands.

import type { Command } from 'commander';

export function fullName(command: Command): string {
  return command.parent ? `${fullName(command.parent)} ${command.name()}` : command.name();
}

/** Returns the names below imgctl. */
export function pathOf(command: Command): string[] {
  return command.parent ? [...pathOf(command.parent), command.name()] : [];
}

export function isOperand(word: string): boolean {
  return !word.startsWith('-');
}
