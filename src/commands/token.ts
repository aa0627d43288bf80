// imgctl token: a valid access token on stdout, for other programs.

import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { isLive, noValidToken } from './whoami.ts';

export function define(command: Command, context: Context): void {
  command.addHelpText('after', EXAMPLES).action(async () => {
    const { tokens, cache } = await context.session();
    const { env, now } = context.io;
    const token = tokens === undefined ? env.IMGCTL_TOKEN : await tokens.current();
    const cached = cache.read();
    // A request would leave it to the service; whoever is handed a token has to be able to rely on it.
    if (cached && cached.token === token && !isLive(cached, now())) {
      throw noValidToken('expired', context.settings);
    }
    await context.console.print(`${token}\n`);
  });
}

const EXAMPLES = `
Renews the token first if it has expired and the password can be had without a person.

Examples:
  $ curl -H "Authorization: Bearer $(imgctl token)" https://images.example.com/v2
  $ IMGCTL_TOKEN=$(imgctl token) make deploy
`;
