// imgctl token: a valid access token on stdout, for other programs.

import type { Command } from 'commander';
import type { Context } from '../context.ts';

export function define(command: Command, context: Context): void {
  command.addHelpText('after', EXAMPLES).action(async () => {
    const { tokens } = await context.session();
    const token = tokens === undefined ? context.io.env.IMGCTL_TOKEN : await tokens.current();
    await context.print(`${token}\n`);
  });
}

const EXAMPLES = `
Renews the token first if it has expired and the password can be had without a person.

Examples:
  $ curl -H "Authorization: Bearer $(imgctl token)" https://images.example.com/v2
  $ IMGCTL_TOKEN=$(imgctl token) make deploy
`;
