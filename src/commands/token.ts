// imgctl token: a valid access token on stdout, for other programs.

import type { Context } from '../context.ts';
import { isLive, noValidToken } from './whoami.ts';

export async function run(context: Context): Promise<void> {
  const { tokens, cache } = await context.session();
  const { env, now } = context.io;
  const token = tokens === undefined ? env.IMGCTL_TOKEN : await tokens.current();
  const cached = cache.read();
  // A request would leave it to the service; whoever is handed a token has to be able to rely on it.
  if (cached && cached.token === token && !isLive(cached, now())) {
    throw noValidToken('expired', context.settings);
  }
  await context.console.print(`${token}\n`);
}
