// imgctl version: prints the version.

import type { CommandSpec } from '../cli/spec.ts';

export const version: CommandSpec = {
  name: 'version',
  summary: 'print the version',
  examples: ['imgctl version', 'imgctl --version'],
  run: (context) => context.console.print(`${context.version}\n`),
};
