// The command table: the style of its texts, and references that lead somewhere.

import { describe, expect, it } from 'vitest';
import type { CommandDeclaration } from '../../src/cli/declarations.ts';
import { GLOBAL_OPTIONS } from '../../src/cli/spec.ts';
import { TOPIC_NAMES } from '../../src/cli/topics.ts';
import { ROOT } from '../../src/commands/index.ts';

interface Entry {
  readonly path: string;
  readonly command: CommandDeclaration;
}

function below({ subcommands = [] }: CommandDeclaration, parent = ''): Entry[] {
  return subcommands.flatMap((command) => {
    const path = `${parent} ${command.name}`.trim();
    return [{ path, command }, ...below(command, path)];
  });
}

const ENTRIES = below(ROOT);

describe.each(ENTRIES.map(({ path, command }) => [path, command] as const))(
  'the declaration of %s',
  (_path, { summary, seeAlso = [], options = [] }) => {
    it('has a summary that is a short imperative phrase', () => {
      expect(summary).toMatch(/^[a-z].{0,58}[^.]$/);
    });

    it('refers only to commands and topics that exist', () => {
      const known = [
        ...ENTRIES.map(({ path }) => path),
        ...TOPIC_NAMES.map((name) => `help ${name}`),
      ];
      expect(seeAlso.filter((words) => !known.includes(words))).toEqual([]);
    });

    it('gives a value to exactly the options with a placeholder', () => {
      for (const { flags, value } of [...options, ...GLOBAL_OPTIONS]) {
        expect({ flags, takesValue: value !== undefined }).toEqual({
          flags,
          takesValue: flags.includes('<'),
        });
      }
    });
  },
);
