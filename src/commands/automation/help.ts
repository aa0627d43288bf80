// imgctl help and imgctl version: print a help page and the version.

import { version as programVersion } from '../../../package.json';
import type { CommandDeclaration } from '../../cli/command-types.ts';
import { argument, command } from '../../cli/declare.ts';
import { oneValue } from '../../cli/result.ts';
import { column } from '../../output/columns.ts';

/** Commander's tree shows the pages: see `cli/command-line.ts`. */
export const help: CommandDeclaration = {
  name: 'help',
  summary: 'show help for a command or topic',
  examples: ['imgctl help images list', 'imgctl help filters'],
  arguments: [
    argument('command or topic', 'a command or a topic', {
      variadic: true,
    }),
  ],
};

const VERSION_COLUMNS = [column('version', 'string', 'version of imgctl')];

export const version = command({
  name: 'version',
  summary: 'print the version',
  examples: ['imgctl version', 'imgctl --version'],
  fields: VERSION_COLUMNS,
  needsNoSettings: true,
  run: async (context) =>
    oneValue(context, VERSION_COLUMNS, { version: programVersion }, 'version'),
});
